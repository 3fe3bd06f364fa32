package mom

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// What earlier runs have left in the spool goes when their job has ended, and not before: not while it waits, while a run
// of it is here, when nobody answers, nor right after it was written.
func TestDropOutputs(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * outputsEvery)
	for _, name := range []string{"1.srv.OU", "1.srv.ER", "2.srv.OU", "3[4].srv.OU", "5.srv.OU", "6.srv.OU", "1.srv.SC", "OU"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "6.srv.OU" {
			continue
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	silent := errors.New("nobody answers")
	over := map[pbs.JobID]bool{"1.srv": true, "3[4].srv": true, "5.srv": true, "6.srv": true}
	ask := func(_ context.Context, id pbs.JobID) (bool, error) {
		if id == "5.srv" {
			return false, silent
		}
		return over[id], nil
	}
	if err := dropOutputs(t.Context(), dir, map[pbs.JobID]bool{"3[4].srv": true}, ask); !errors.Is(err, silent) {
		t.Errorf("%v", err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"1.srv.SC", "2.srv.OU", "3[4].srv.OU", "5.srv.OU", "6.srv.OU", "OU"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, want %v: %v", left, want, err)
	}
	if err := dropOutputs(t.Context(), filepath.Join(dir, "nosuch"), nil, ask); err != nil {
		t.Error(err)
	}
}
