package task

import (
	"reflect"
	"slices"
	"testing"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A list answers what it has, and is not written to by what its programs hear.
func TestPrograms(t *testing.T) {
	all := Programs{
		{ID: 2, Key: "a", State: ProgramStarting},
		{ID: 3, State: ProgramRunning, Attached: true, Handle: proc.Handle{PID: 30, Session: 33}},
		{ID: 4, Key: "c", State: ProgramEnded},
	}
	was := slices.Clone(all)
	if !all.asked("a") || all.asked("b") || !all.attached(33) || all.attached(30) || !all.live() {
		t.Errorf("%+v has a %v, b %v, sessions 33 %v, 30 %v, lives %v", all, all.asked("a"), all.asked("b"), all.attached(33), all.attached(30), all.live())
	}
	if _, known := all.Of(5); known {
		t.Error("a number that nobody has is known")
	}
	up, ok := all.hear(2, runsWord, 0, func(p *Program) { p.Handle.PID = 20 })
	if p, _ := up.Of(2); !ok || p.State != ProgramRunning || len(up.handles()) != 2 {
		t.Errorf("it runs: %+v, %v", up, ok)
	}
	for _, id := range []uint32{4, 5} { // over, and never there
		if next, ok := up.hear(id, runsWord, 0, nil); ok || !reflect.DeepEqual(next, up) {
			t.Errorf("%d hears that it runs: %+v, %v", id, next, ok)
		}
	}
	down, _ := up.hear(2, allGoneWord, 7, nil)
	down, _ = down.hear(3, allGoneWord, 0, nil)
	if p, _ := down.Of(2); p.Status != 7 || down.live() || down.attached(33) {
		t.Errorf("all are gone: %+v", down)
	}
	if !reflect.DeepEqual(all, was) {
		t.Errorf("the list is %+v, and was %+v", all, was)
	}
}

// After a restart of the mom a program is looked for, or watched; of a host that has restarted all are gone.
func TestPrograms_Resume(t *testing.T) {
	all := Programs{{ID: 2, State: ProgramStarting}, {ID: 3, State: ProgramRunning}, {ID: 4, State: ProgramEnded, Status: 1}}
	want := []Action{{Do: RecoverProgram, Program: 2}, {Do: WatchProgram, Program: 3}}
	if next, actions := all.resume(false); !reflect.DeepEqual(actions, want) || !reflect.DeepEqual(next, all) {
		t.Errorf("%+v, to do: %+v", next, actions)
	}
	next, actions := all.resume(true)
	if next.live() || len(actions) > 0 || next[1].Status != pbs.ExitKilled || next[2].Status != 1 || !all.live() {
		t.Errorf("the host was restarted: %+v, to do: %+v", next, actions)
	}
}
