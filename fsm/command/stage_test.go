package command

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// staging is a state at a feature level, and how it answers commands.
func staging(t *testing.T) (*state.Store, func(at pbs.Time, c Command) pbs.Code) {
	s, index := state.NewStore(), uint64(0)
	do := func(at pbs.Time, c Command) pbs.Code {
		t.Helper()
		index++
		out, _ := Run(s, index, 1, Entry{Time: at, Proposals: []Proposal{{Commands: []Command{c}}}})
		if err := s.Publish().Check(); err != nil {
			t.Errorf("%T: %v", c, err)
		}
		return pbs.CodeOf(out[0].Err())
	}
	do(1, &InitCluster{ID: "c", Name: "srv", Epoch: 3})
	return s, do
}

// Pieces are taken in their order, of one file at a time, and only if they may be in the log.
func TestStagePart_TakesOneFileInItsOrder(t *testing.T) {
	s, do := staging(t)
	for i, c := range []struct {
		part StagePart
		want pbs.Code
	}{
		{StagePart{Key: "a", Number: 1, Data: []byte("x")}, pbs.InvalidRequest}, // nothing was begun
		{StagePart{Key: "a", Data: []byte("one ")}, 0},
		{StagePart{Key: "a", Number: 2, Data: []byte("x")}, pbs.InvalidRequest}, // one is missing
		{StagePart{Key: "b", Number: 1, Data: []byte("x")}, pbs.InvalidRequest}, // another file
		{StagePart{Key: "a", Number: 1}, pbs.InvalidRequest},
		{StagePart{Key: "a", Number: 1, Data: make([]byte, MaxPart+1)}, pbs.InvalidRequest},
		{StagePart{Key: "a", Number: 1, Data: []byte("two")}, 0},
	} {
		if got := do(1, &c.part); got != c.want {
			t.Errorf("step %d: %d, want %d", i, got, c.want)
		}
	}
	if file, _ := io.ReadAll(s.View().StagedFile()); string(file) != "one two" {
		t.Errorf("staged: %q", file)
	}
	do(1, &StagePart{Key: "b", Data: []byte("other")})
	if file, _ := io.ReadAll(s.View().StagedFile()); string(file) != "other" {
		t.Errorf("staged by the next one: %q", file)
	}
	do(1, &StagePart{})
	if s.View().Cluster().Staging != nil {
		t.Error("dropped, and still there")
	}
}

// What nobody puts back is dropped in time.
func TestStagePart_IsDroppedInTime(t *testing.T) {
	s, do := staging(t)
	do(1, &StagePart{Key: "a", Data: []byte("x")})
	do(pbs.Time(14*time.Minute), &TimeTick{})
	if s.View().Cluster().Staging == nil {
		t.Error("dropped after 14 minutes")
	}
	do(pbs.Time(16*time.Minute), &TimeTick{})
	if s.View().Cluster().Staging != nil {
		t.Error("there after 16 minutes")
	}
}

// A file that cannot be put back leaves everything as it was, the file included.
func TestRestore_RefusesWhole(t *testing.T) {
	file := func(edit func(c *state.Cluster)) SnapshotReader {
		return func(io.Reader) (*state.Store, error) {
			s := state.NewStore()
			tx := s.Tx()
			c := tx.EditCluster()
			c.Name, c.NextJob = "srv", 9
			edit(c)
			s.Commit(tx)
			s.Publish()
			return s, nil
		}
	}
	for name, c := range map[string]struct {
		read SnapshotReader
		cmd  Restore
		want pbs.Code
	}{
		"corrupt":          {func(io.Reader) (*state.Store, error) { return nil, errors.New("bad") }, Restore{Key: "a", Parts: 1, Epoch: 4}, pbs.InvalidRequest},
		"no reader":        {nil, Restore{Key: "a", Parts: 1, Epoch: 4}, pbs.NotSupported},
		"another server":   {file(func(c *state.Cluster) { c.Name = "other" }), Restore{Key: "a", Parts: 1, Epoch: 4}, pbs.InvalidRequest},
		"a later level":    {file(func(c *state.Cluster) { c.FeatureLevel = 2 }), Restore{Key: "a", Parts: 1, Epoch: 4}, pbs.NotSupported},
		"another file":     {file(func(*state.Cluster) {}), Restore{Key: "b", Parts: 1, Epoch: 4}, pbs.InvalidRequest},
		"not all of it":    {file(func(*state.Cluster) {}), Restore{Key: "a", Parts: 2, Epoch: 4}, pbs.InvalidRequest},
		"the same epoch":   {file(func(*state.Cluster) {}), Restore{Key: "a", Parts: 1, Epoch: 3}, pbs.InvalidRequest},
		"good, at the end": {file(func(*state.Cluster) {}), Restore{Key: "a", Parts: 1, Epoch: 4}, 0},
	} {
		s, do := staging(t)
		do(1, &StagePart{Key: "a", Data: bytes.Repeat([]byte("x"), 10)})
		digest := s.View().Digest()
		c.cmd.read = c.read
		if got := do(1, &c.cmd); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
		if c.want != 0 && s.View().Digest() != digest {
			t.Errorf("%s: refused, and the state is another one", name)
		}
		if c.want == 0 && (s.View().Cluster().NextJob != 9+EpochSkip || s.View().Cluster().Staging != nil) {
			t.Errorf("%s: %+v", name, s.View().Cluster())
		}
	}
}
