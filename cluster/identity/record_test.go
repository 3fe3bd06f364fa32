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
