package identity

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"rampart/cluster/store"
	"rampart/fsm/state"
)

func opened(t *testing.T, disk store.Backend) *Record {
	t.Helper()
	s, err := store.Open(disk, store.Options{Deadline: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(s, "s1", state.NewStore().View, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What a disk was told is known to its next start.
func TestRecord_OutlivesTheProcess(t *testing.T) {
	disk := store.NewMemory()
	r := opened(t, disk)
	if err := r.Begin(Start{Generation: 4, Token: "a"}); err != nil {
		t.Fatal(err)
	}
	q := Question{ServerID: "s2.d", Address: "s2:1", Start: Start{Generation: 7, Token: "x"}}
	if a, _, err := r.Recall(q); err != nil || a.Known != (Start{}) {
		t.Errorf("of a server that is new here: %+v, %v", a, err)
	}
	q.Decided = true
	if _, _, err := r.Recall(q); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1000, 0).UTC()
	if err := r.Exclude(state.Recovery{Lost: []string{"s3.d"}, Anew: []string{"s4.d"}}, at); err != nil {
		t.Fatal(err)
	}
	again := opened(t, disk)
	if again.ID() != r.ID() || again.Last().Generation != 4 {
		t.Errorf("%s, start %d; before %s", again.ID(), again.Last().Generation, r.ID())
	}
	if a, at, err := again.Recall(Question{ServerID: "s2.d", Start: Start{Generation: 6, Token: "w"}}); err != nil || a.Known.Generation != 7 || len(at) != 1 {
		t.Errorf("of a server that was told of: %+v at %v, %v", a, at, err)
	}
	if e := again.Excluded("s3.d"); e == nil || e.Anew || !e.At.Equal(at) {
		t.Errorf("of one that was lost: %+v", e)
	}
	if e := again.Excluded("s4.d"); e == nil || !e.Anew {
		t.Errorf("of one that begins anew: %+v", e)
	}
	if e := again.Excluded("s2.d"); e != nil {
		t.Errorf("of one that belongs to the cluster: %+v", e)
	}
}

// A state that is catching up says of a member what was once so: that it is older is known by its index, and what a server has told of
// itself before the state knows of it is no past of what the state says. A server is replaced by one that came later alone.
func TestRecord_StatesThatCatchUp(t *testing.T) {
	said := func(index uint64, id string, generation uint64) *state.View {
		s := state.NewStore()
		s.Begin(index, 1, 0)
		tx := s.Tx()
		tx.PutReplica(&state.Replica{Name: "s2", ServerID: id, Address: "s2:1", Generation: generation, Start: "t"})
		s.Commit(tx)
		return s.Publish()
	}
	first, second, third := said(10, "s2.first", 1), said(20, "s2.second", 1), said(30, "s2.third", 1)
	for _, c := range []struct {
		name  string
		told  string // by the server itself, before all
		views []*state.View
		want  map[string]string // by whom each was replaced
	}{
		{"in their order", "", []*state.View{first, second, third}, map[string]string{"s2.first": "s2.third", "s2.second": "s2.third", "s2.third": ""}},
		{"after a start from an older log", "", []*state.View{second, first}, map[string]string{"s2.second": ""}},
		{"and on", "", []*state.View{second, first, second, third}, map[string]string{"s2.second": "s2.third", "s2.third": ""}},
		{"told first", "s2.second", []*state.View{first, second}, map[string]string{"s2.first": "s2.second", "s2.second": ""}},
		{"told first, and replaced", "s2.second", []*state.View{first, second, third}, map[string]string{"s2.second": "s2.third", "s2.third": ""}},
	} {
		disk := store.NewMemory()
		view := state.NewStore().View()
		open := func() *Record {
			s, err := store.Open(disk, store.Options{Deadline: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			r, err := Open(s, "s1", func() *state.View { return view }, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if c.told != "" {
			if _, _, err := open().Recall(Question{ServerID: c.told, Address: "s2:1", Start: Start{Generation: 1, Token: "t"}, Decided: true}); err != nil {
				t.Fatal(err)
			}
		}
		for _, view = range c.views {
			open().Learn()
		}
		for id, by := range c.want {
			if a, _, err := open().Recall(Question{ServerID: id, Start: Start{Generation: 1, Token: "t"}}); err != nil || a.ReplacedBy != by {
				t.Errorf("%s: %s was replaced by %q, want %q (%v)", c.name, id, a.ReplacedBy, by, err)
			}
		}
	}
}

func TestAnswer_Objection(t *testing.T) {
	mine := Start{Generation: 5, Token: "a"}
	for _, c := range []struct {
		answer Answer
		want   error
	}{
		{Answer{}, nil},
		{Answer{Known: mine}, nil},
		{Answer{Known: Start{Generation: 4, Token: "z"}}, nil},
		{Answer{Known: Start{Generation: 6, Token: "b"}}, ErrOldDisk},
		{Answer{Known: Start{Generation: 5, Token: "b"}}, ErrOldDisk},
		{Answer{ReplacedBy: "s1.other"}, ErrOldDisk},
		{Answer{RunsAt: "s9:1"}, ErrTwice},
		{Answer{Removed: true}, ErrRemoved},
		{Answer{Excluded: time.Unix(1, 0)}, ErrExcluded},
		{Answer{Excluded: time.Unix(1, 0), Anew: true}, ErrAnew},
	} {
		if got := c.answer.Objection(mine); !errors.Is(got, c.want) || c.want == nil && got != nil {
			t.Errorf("%+v: %v, want %v", c.answer, got, c.want)
		}
	}
}
