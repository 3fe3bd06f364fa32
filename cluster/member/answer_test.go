package member

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
)

// voters makes answers of s1, s2 and so on, one for each word: ok, silent, waits (its Raft does
// not run), low and spent (its disk), or joins (it has no vote).
func voters(words string) []Answer {
	var all []Answer
	for i, w := range strings.Fields(words) {
		a := Answer{
			Server: raft.Server{ID: raft.ServerID(fmt.Sprintf("s%d.disk", i+1)), Suffrage: raft.Voter},
			Status: Status{Role: Follower, Term: 3, Applied: 1000, Disk: store.Disk{Free: 1 << 30}},
		}
		switch w {
		case "silent":
			a.Err = errors.New("no answer")
		case "waits":
			a.Status.Term = 0
		case "low":
			a.Status.Disk = store.Disk{Free: store.Low - 1, Low: true}
		case "spent":
			a.Status.Disk = store.Disk{Free: 1, Low: true}
		case "joins":
			a.Server.Suffrage = raft.Nonvoter
		}
		all = append(all, a)
	}
	return all
}

func TestMayRemove_NeverTheQuorumOfThoseThatAreLeft(t *testing.T) {
	for _, c := range []struct {
		all, refusal string
	}{
		{"ok ok ok", ""},
		{"ok", "it is the last voter"},
		{"ok joins", "it is the last voter"},
		{"silent ok ok", ""},
		{"ok ok silent", "only 1 answer"},
		{"ok ok waits", "only 1 answer"},
		{"ok ok ok ok silent", ""},
		{"ok ok ok silent silent", "only 2 answer"},
	} {
		err := MayRemove(voters(c.all), "s1")
		if (err == nil) != (c.refusal == "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("s1 of %s: %v, want %q", c.all, err, c.refusal)
		}
	}
}

func TestShortOfRoom_OnlyWhenTheOthersAreNoMajority(t *testing.T) {
	for _, c := range []struct {
		all        string
		low, spent []string
	}{
		{"ok ok low", nil, nil},
		{"ok low spent", []string{"s2", "s3"}, nil},
		{"low ok spent spent", []string{"s1", "s3", "s4"}, []string{"s3", "s4"}},
		{"spent", []string{"s1"}, []string{"s1"}},
		{"ok ok joins", nil, nil},
		{"", nil, nil},
	} {
		if low, spent := ShortOfRoom(voters(c.all)); !slices.Equal(low, c.low) || !slices.Equal(spent, c.spent) {
			t.Errorf("of %q low are %v and spent %v", c.all, low, spent)
		}
	}
}

func TestSuccessors_TheFurthestThatAnswers(t *testing.T) {
	all := voters("ok ok silent ok joins")
	all[3].Status.Applied = 2000
	var got []string
	for _, a := range Successors(all, "s1.disk", "") {
		got = append(got, string(NameOf(a.Server.ID)))
	}
	if !slices.Equal(got, []string{"s4", "s2"}) {
		t.Errorf("after s1: %v", got)
	}
	if one := Successors(all, "s1.disk", "s2"); len(one) != 1 || len(Successors(all, "s1.disk", "s3")) != 0 {
		t.Errorf("of the named: %v", one)
	}
}

func TestCommonLevel_OfAllVoters(t *testing.T) {
	all := voters("ok ok joins")
	all[0].Status.Self.FeatureLevel, all[1].Status.Self.FeatureLevel = 5, 4
	if level, ok := CommonLevel(all, 6); level != 4 || !ok {
		t.Errorf("level %d, %t", level, ok)
	}
	all[1].Err = errors.New("no answer")
	if level, ok := CommonLevel(all, 6); ok {
		t.Errorf("level %d although one does not answer", level)
	}
}

// A server has to have the scripts that were named when it was stable for the first time.
func TestRoll_Whole(t *testing.T) {
	k := NewRoll()
	for i, c := range []struct {
		scripts *Scripts
		commit  uint64
		whole   bool
	}{
		{&Scripts{}, 10, false},
		{&Scripts{Index: 9}, 11, false}, // as it was before
		{&Scripts{Index: 10, Missing: 1}, 12, false},
		{&Scripts{Index: 10}, 13, true},
		{nil, 14, true}, // a version that does not say
	} {
		a := Answer{Server: raft.Server{ID: "s4.disk"}, Status: Status{Scripts: c.scripts}}
		if got := k.Whole(a, c.commit); got != c.whole {
			t.Errorf("look %d: whole %t", i+1, got)
		}
	}
	k.Forget("s4.disk")
	if k.Whole(Answer{Server: raft.Server{ID: "s4.disk"}, Status: Status{Scripts: &Scripts{Index: 13}}}, 15) {
		t.Error("it is whole by what it saw before")
	}
}

// A server has to be caught up all the while.
func TestRoll_Stable(t *testing.T) {
	k, now := NewRoll(), time.Unix(1000, 0)
	for i, c := range []struct{ caughtUp, stable bool }{
		{true, false}, {true, false}, {false, false}, {true, false}, {true, false}, {true, true},
	} {
		if got := k.Stable("s4.disk", c.caughtUp, now.Add(time.Duration(i)*time.Second), 2*time.Second); got != c.stable {
			t.Errorf("look %d: stable %t", i+1, got)
		}
	}
	k.Forget("s4.disk")
	if k.Stable("s4.disk", true, now.Add(time.Hour), time.Second) {
		t.Error("it is stable as soon as it is seen again")
	}
}
