package lsf

import (
	"strconv"
	"testing"

	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
)

func TestParseIndexList(t *testing.T) {
	for text, want := range map[string]string{
		"1-3": "1-3", "5": "5", "7,1-3,10-20:2": "1-3,7,10-20:2", "3,1,2": "1-3", "1, 3": "1,3", "9,5,7": "5-9:2", "1-10:3,2-5": "1-5,7,10", "2,2": "2",
		"": "", "0": "", "0-3": "", "3-1": "", "1,,2": "", "a": "", "1-3:0": "", "4,0": "", "1-4294967296": "", "5,1-2147483646": "",
	} {
		set, ok := parseIndexList(text)
		if got := set.String(); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, %t, want %s", text, got, ok, want)
		}
	}
}

func FuzzParseIndexList(f *testing.F) {
	f.Add("7,1-3,10-20:2")
	f.Fuzz(func(t *testing.T, text string) {
		set, ok := parseIndexList(text)
		if !ok || len(set) == 0 {
			return
		}
		again, ok := parseIndexList(set.String())
		if !ok || again.String() != set.String() {
			t.Errorf("%q is %s, and that is %s", text, set, again)
		}
	})
}

// A limit has one row, or one for each whom it counts for himself.
func TestRowsOf(t *testing.T) {
	mem := func(mb int64) map[string]resreq.Amount {
		return map[string]resreq.Amount{"mem": resreq.Amount(mb) * resreq.Megabyte}
	}
	uses := []use{
		{user: "ann", queue: "q", host: "hosta", project: "p", slots: 2},
		{user: "ann", queue: "q", host: "hosta", project: "p", amounts: mem(100)},
		{user: "ann", queue: "q", host: "hostb", project: "p", slots: 1},
		{user: "bob", queue: "r", host: "hosta", project: "default", slots: 4},
		{user: "bob", queue: "r", project: "default", amounts: map[string]resreq.Amount{"lic": 3 * resreq.One}},
	}
	eight := int64(8)
	for _, c := range []struct {
		name  string
		limit lsf.Limit
		want  string
	}{
		{"all together", lsf.Limit{Slots: &eight}, "- - - - 7;"},
		{"each user", lsf.Limit{Slots: &eight, Users: lsf.Consumers{Names: []string{"all"}, Each: true}}, "ann - - - 3;bob - - - 4;"},
		{"each host of a queue", lsf.Limit{Slots: &eight, Queues: lsf.Consumers{Names: []string{"q"}}, Hosts: lsf.Consumers{Names: []string{"all"}, Each: true}}, "- q hosta - 2;- q hostb - 1;"},
		{"who is not counted", lsf.Limit{Slots: &eight, Users: lsf.Consumers{Names: []string{"all", "~ann"}}}, "all ~ann - - - 4;"},
		{"nobody", lsf.Limit{Slots: &eight, Projects: lsf.Consumers{Names: []string{"x"}}}, "- - - x 0;"},
	} {
		got := ""
		for _, r := range rowsOf(c.limit, uses) {
			got += r.users + " " + r.queues + " " + r.hosts + " " + r.projects + " " + strconv.FormatInt(r.slots, 10) + ";"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	row := rowsOf(lsf.Limit{Quantities: []lsf.Quantity{{Resource: "mem", Amount: resreq.Megabyte}}}, uses)[0]
	if got := row.amounts["mem"].Print("mem"); got != "100" || !row.used {
		t.Errorf("mem: %s", got)
	}
}
