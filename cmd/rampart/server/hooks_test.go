package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// The copies of hooks follow the state, and a request that holds an older one does not take
// them back.
func TestHooks_CopiesGoForward(t *testing.T) {
	store, index := state.NewStore(), uint64(0)
	do := func(list ...command.Command) *state.View {
		t.Helper()
		index++
		out, _ := command.Run(store, index, 1, command.Entry{
			Time: pbs.Time(index), Proposals: []command.Proposal{{Asker: pbs.User{Name: "root", Host: "s1"}, Commands: list}},
		})
		if err := out[0].Err(); err != nil {
			t.Fatal(err)
		}
		return store.Publish()
	}
	do(&command.InitCluster{ID: "c", Name: "srv", Epoch: 1})
	do(&command.ManageHook{Verb: command.VerbCreate, Name: "h", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: "queuejob"}}}})
	older := do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("old")})
	newer := do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("new")})
	gone := do(&command.ManageHook{Verb: command.VerbDelete, Name: "h"})

	h := &hooks{dir: filepath.Join(t.TempDir(), "hooks"), logger: slog.New(slog.DiscardHandler)}
	for i, c := range []struct {
		view *state.View
		want string
	}{{older, "old"}, {newer, "new"}, {older, "new"}, {gone, ""}, {newer, ""}} {
		if err := h.copyOf(c.view); err != nil {
			t.Fatal(err)
		}
		if text, _ := os.ReadFile(filepath.Join(h.dir, "h.PY")); string(text) != c.want {
			t.Errorf("%d: the copy is %q, want %q", i, text, c.want)
		}
	}
}
