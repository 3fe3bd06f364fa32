package check

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A run about fences, lies or ambushes in which there was none says nothing.
func TestAmounts_WithoutThemARunSaysNothing(t *testing.T) {
	for name, law := range map[string]Law{
		"fence": FenceFell, "deadline": DeadlinePassed, "gossip": GossipLied, "ambush": KilledAt("SubmitJob"), "disaster": Recovered(2),
	} {
		e := good()
		if v := Judge(e, []Law{law}); v.Good() || len(v.Inconclusive) != 1 || len(v.Broken) != 0 {
			t.Errorf("%s: %+v", name, v)
		}
		e.Fences = []Fence{{Index: 9, Host: "hosta", Requeued: 1}}
		e.Epochs = 2
		e.Runs[0].Fenced, e.Lies, e.Killed = true, 1, []string{"TimeTick", "SubmitJob"}
		if v := Judge(e, []Law{law}); !v.Good() {
			t.Errorf("%s: %+v", name, v)
		}
	}
	e := good()
	e.Fences = []Fence{{Index: 9, Host: "hosta"}}
	if Judge(e, []Law{FenceFell}).Good() {
		t.Error("a fence without jobs behind it counts")
	}
}

// The host that is lost must be the one that the scenario is about.
func TestLostAt(t *testing.T) {
	mother, sister := LostAt("PruneJob", false), LostAt("PruneJob", true)
	e := good()
	for _, law := range []Law{mother, sister} {
		if v := Judge(e, []Law{law}); v.Good() {
			t.Errorf("%s: nothing was lost, and it counts", law.Name)
		}
	}
	e.Hits = []Hit{{At: "PruneJob", Job: "9.srv", Count: 1, Host: "hosta", Mother: "hosta"}}
	if !Judge(e, []Law{mother}).Good() || Judge(e, []Law{sister}).Good() {
		t.Error("a mother superior was lost")
	}
	e.Hits[0].Mother = "hostb"
	if Judge(e, []Law{mother}).Good() || !Judge(e, []Law{sister}).Good() {
		t.Error("a sister was lost")
	}
	e.Runs = append(e.Runs, Run{Job: "9.srv", Count: 1, Host: "hosta", End: Never})
	if Judge(e, []Law{sister}).Good() {
		t.Error("the lost one was the mother superior after all")
	}
	e.Hits[0].At = "SubmitJob"
	if Judge(e, []Law{sister}).Good() {
		t.Error("it was lost at something else")
	}
}

// A start must have gone on without the very sister that was lost, in the run that it was lost to.
func TestMissedAt(t *testing.T) {
	missed, late, twice := MissedAt("StartJob"), JoinedLate("StartJob"), HitsAt("StartJob", 2)
	e := good()
	holds := func(law Law, want bool, why string) {
		t.Helper()
		if Judge(e, []Law{law}).Good() != want {
			t.Errorf("%s: %s is judged %v", why, law.Name, !want)
		}
	}
	e.Hits = []Hit{{At: "StartJob", Job: "9.srv", Count: 1, Host: "hostb", Mother: "hosta"}}
	holds(missed, false, "it was not missed")
	e.Missed = []Missed{{Job: "9.srv", Host: "hostc"}}
	holds(missed, false, "another one was")
	e.Missed[0].Host = "hostb"
	holds(missed, true, "it was")
	holds(late, false, "it did not join")
	e.Missed[0].Late = true
	holds(late, true, "it joined late")
	holds(twice, false, "lost once")
	e.Hits = append(e.Hits, e.Hits[0])
	holds(twice, true, "lost twice")
	e.Runs = append(e.Runs, Run{Job: "9.srv", Count: 2, Host: "hosta", End: Never})
	holds(missed, false, "it may have been in another run")
	e.Runs[len(e.Runs)-1].Count = 1
	e.Hits = []Hit{{At: "StartJob", Job: "9.srv", Count: 1, Host: "hosta", Mother: "hosta"}}
	holds(missed, false, "the mother superior was lost")
}

func TestNothingRequeued(t *testing.T) {
	e := good() // job 1 ran twice
	if v := Judge(e, []Law{NothingRequeued}); !strings.Contains(strings.Join(v.Broken, " "), "1.srv ran 2 times") {
		t.Error(v)
	}
	e.History = append(e.History, Op{Kind: Rerun, Name: "a", Job: "1.srv", Result: Unknown})
	if v := Judge(e, []Law{NothingRequeued}); !v.Good() {
		t.Error(v)
	}
	e.Fences = []Fence{{Index: 9, Host: "hosta"}}
	if Judge(e, []Law{NothingRequeued}).Good() {
		t.Error("a host may be given up")
	}
}

func TestLiveMomsAreUp(t *testing.T) {
	e := good()
	if v := Judge(e, []Law{LiveMomsAreUp}); !v.Good() {
		t.Error(v)
	}
	e.Downs = []string{"hosta is down at index 7 by the word of gossip"}
	if Judge(e, []Law{LiveMomsAreUp}).Good() {
		t.Error("a live mom may be down")
	}
}

// A job that must not run again does not, however it was lost.
func TestOneRunEach_NotAgainIfItMustNot(t *testing.T) {
	e := good()
	e.History[0].Once = true
	if v := Judge(e, []Law{OneRunEach}); !strings.Contains(strings.Join(v.Broken, " "), "must not run again") {
		t.Error(v)
	}
}

func TestLinearizable_StoriesOfAJobThatRunsOnce(t *testing.T) {
	submit, rerun := Op{Kind: Submit, Value: "5", Once: true}, Op{Kind: Rerun}
	for name, s := range map[string]struct {
		ops  History
		good bool
	}{
		"its rerun is refused":              {story(submit, sight("R", 1, "n", "5"), refusal(Rerun, pbs.NotRerunnable)), true},
		"it is run again":                   {story(submit, sight("R", 1, "n", "5"), rerun), false},
		"refused to one that may run again": {story(Op{Kind: Submit, Value: "5"}, sight("R", 1, "n", "5"), refusal(Rerun, pbs.NotRerunnable)), false},
	} {
		t.Run(name, func(t *testing.T) { judgeStory(t, s.ops, s.good) })
	}
}

// A run of which nobody heard is accounted as over only if its host was given up.
func TestLegalMoves_RunsNobodyHeardOf(t *testing.T) {
	e := good()
	inLedgers(e, "11/21/2027 10:00:01;S;1.srv;user=ann\n", "", 6)
	heard := slices.ContainsFunc(Judge(e, []Law{LegalMoves}).Broken, func(s string) bool { return strings.Contains(s, `"R" after "Q"`) })
	e.Fences = []Fence{{Index: 9, Host: "hosta", Requeued: 1}}
	if v := Judge(e, []Law{LegalMoves}); !heard || !v.Good() {
		t.Errorf("%t, %v", heard, v)
	}
}
