package lsf

import (
	"slices"
	"testing"

	"rampart/fsm/resreq"
)

func TestThreshold_Stops(t *testing.T) {
	all, err := ParseThresholds("r1m=3.5/4.5 mem=100/20 ut=90", resreq.Site{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		index       string
		value       resreq.Amount
		shuts, stop bool
	}{
		{"r1m", 3500, false, false},
		{"r1m", 3501, true, false},
		{"r1m", 4500, true, false},
		{"r1m", 4501, true, true},
		{"mem", 100 * resreq.Megabyte, false, false},
		{"mem", 99 * resreq.Megabyte, true, false},
		{"mem", 19 * resreq.Megabyte, true, true},
		{"ut", 100 * resreq.One, true, false},
	} {
		x := all[slices.IndexFunc(all, func(x Threshold) bool { return x.Index == c.index })]
		if rises := c.index != "mem"; x.Shuts(c.value, rises) != c.shuts || x.Stops(c.value, rises) != c.stop {
			t.Errorf("%s of %d: shuts %v, stops %v", x, c.value, x.Shuts(c.value, rises), x.Stops(c.value, rises))
		}
	}
}

// Where thresholds of a queue and of hosts hold, each bound is the tighter one.
func TestTightest(t *testing.T) {
	read := func(text string) []Threshold {
		all, err := ParseThresholds(text, resreq.Site{})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, c := range []struct{ queue, host, want string }{
		{"", "", ""},
		{"r1m=3.5/4.5", "", "r1m=3.5/4.5"},
		{"", "r1m=3.5/4.5 ut=90", "r1m=3.5/4.5 ut=90"},
		{"r1m=3.5/4.5 mem=100/20", "mem=50/30 r1m=4/", "r1m=3.5/4.5 mem=100/30"},
		{"r1m=/8 mem=100/20", "r1m=2/6 mem=100/20", "r1m=2/6 mem=100/20"},
	} {
		if got := ThresholdsText(Tightest(resreq.Site{}, read(c.queue), read(c.host))); got != c.want {
			t.Errorf("%q and %q: %q, want %q", c.queue, c.host, got, c.want)
		}
	}
}

// What a comment says is read again, and of no other comment anything.
func TestLoadComment(t *testing.T) {
	indices := []string{"r1m", "pg", "licenses"}
	comment := LoadComment("hosta", indices)
	if host, got, ok := ReadLoadComment(comment); !ok || host != "hosta" || !slices.Equal(got, indices) {
		t.Errorf("%q is read as %q %q", comment, host, got)
	}
	if got, want := ReasonStopped(indices), "The host load exceeded the following threshold(s): 1-minute CPU queue length: r1m; Paging rate: pg; External load index: licenses;"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{"", "Job run at Fri Apr 22 at 15:00 on (hosta:ncpus=1)", loadCommentBegin, loadCommentBegin + "hosta", loadCommentBegin + "hosta" + loadCommentThen, loadCommentBegin + loadCommentThen + "r1m"} {
		if host, got, ok := ReadLoadComment(text); ok {
			t.Errorf("%q is read as %q %q", text, host, got)
		}
	}
}

func TestLoadComment_Condition(t *testing.T) {
	comment := LoadComment("hosta", []string{StopCondition})
	if want := "Suspended by the load of hosta, where STOP_COND of its queue holds"; comment != want {
		t.Errorf("%q, want %q", comment, want)
	}
	if host, got, ok := ReadLoadComment(comment); !ok || host != "hosta" || !ByCondition(got) {
		t.Errorf("%s %v %v", host, got, ok)
	}
	if got, want := ReasonStopped([]string{StopCondition}), "STOP_COND is true with current host load;"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, _, ok := ReadLoadComment("Suspended by the load of , where STOP_COND of its queue holds"); ok {
		t.Error("of no host")
	}
}
