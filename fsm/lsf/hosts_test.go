package lsf

import (
	"fmt"
	"strings"
	"testing"
)

// What bsub -m and HOSTS say of hosts, groups of hosts and compute units.
func TestHostChoice(t *testing.T) {
	c := &Config{
		HostGroups: []HostGroup{
			{Name: "fast", Members: []string{"hosta", "hostb"}},
			{Name: "most", Members: []string{"all", "~hostc"}},
			{Name: "both", Members: []string{"fast", "hostd", "both", "~hostb"}},
			{Name: "nested", Members: []string{"both", "hostb"}},
			{Name: "round", Members: []string{"hosta", "~turn"}},
			{Name: "turn", Members: []string{"round"}},
		},
		Units: []Unit{{Name: "rack1", Type: "rack", Members: []string{"hostc", "hostd"}}},
	}
	for _, x := range []struct{ words, has, levels, text string }{
		{"hosta hostb", "a b", "", "hosta hostb"},
		{"fast", "a b", "", "hosta hostb"},
		{"both", "a d", "", "hosta hostd"},
		{"rack1 ~hostc", "d", "", "hostd"},
		{"most", "a b d e", "", "all ~hostc"},
		{"all ~fast", "c d e", "", "all ~hosta ~hostb"},
		{"~rack1", "a b e", "", "all ~hostc ~hostd"},
		{"hosta+2 hostb others+1", "a b c d e", "2 0 1 1 1", "all"},
		{"fast+ hosta+3", "a b", "3 1 0 0 0", "hosta hostb"},
		{"hostc+5 others", "a b c d e", "0 0 5 0 0", "all"},
		{"most+2 hosta", "a b d e", "0 2 2 2 2", "all ~hostc"},
		{"most hostc", "a b c d e", "", "all"},
		{"nested", "a b d", "", "hosta hostd hostb"},
		{"round", "a", "", "hosta"},
		{"all ~both", "b c e", "", "all ~hosta ~hostd"},
		{"all ~most", "c", "", "hostc"},
		{"~most", "c", "", "hostc"},
		{"rack1 ~most", "c", "", "hostc"},
		{"fast ~hosta ~hostb", "", "", ""},
		{"rack1 ~rack1", "", "", ""},
		{"all ~all", "", "", ""},
		{"gone", "", "", "gone"},
		{"hosta!", "", "", ""},
	} {
		h := c.HostChoice(strings.Fields(x.words))
		var has, levels []string
		for _, n := range []string{"a", "b", "c", "d", "e"} {
			if h.Has("host" + n) {
				has = append(has, n)
			}
			levels = append(levels, fmt.Sprint(h.Level("host"+n)))
		}
		told := ""
		if h.Prefers() {
			told = strings.Join(levels, " ")
		}
		if got := strings.Join(has, " "); got != x.has || told != x.levels || strings.Join(h.Words(), " ") != x.text {
			t.Errorf("%s: %s, %q, %q; want %s, %q, %q", x.words, got, told, h.Words(), x.has, x.levels, x.text)
		}
	}
	if c.HostChoice([]string{"fast", "~hosta.site"}).Has("hosta", "hosta.site") {
		t.Error("a host that another of its names takes out is in")
	}
	known := func(name string) bool { return strings.HasPrefix(name, "host") }
	for words, want := range map[string]string{
		"hosta+2 fast rack1 all others+1 ~hostb hostc+": "",
		"hosta nosuch":     "nosuch: Bad host name, host group name or cluster name",
		"hosta!":           "hosta!: expected a host",
		"hosta+x":          "hosta+x: expected a host",
		"hosta@there":      "hosta@there: expected a host",
		"~hosta+1":         "~hosta+1: expected a host",
		"+":                "+: expected a host",
		"hosta+9999999999": "hosta+9999999999: expected a host",
	} {
		err := c.CheckHosts(strings.Fields(words), known)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
	if !c.Grouped([]string{"hosta", "fast"}) || c.Grouped([]string{"hosta", "hostb"}) || !c.Grouped([]string{"hosta+1"}) {
		t.Error("Grouped")
	}
}

// What a host costs to look up, of a group of ten thousand.
func BenchmarkHostChoice(b *testing.B) {
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprint("host", i)
	}
	h := (&Config{HostGroups: []HostGroup{{Name: "many", Members: many}}}).HostChoice([]string{"many", "~host7"})
	for i := 0; b.Loop(); i++ {
		h.Has(many[i%len(many)])
	}
}
