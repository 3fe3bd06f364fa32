package task

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// Programs are the programs that a job has started on this host besides its first, in the order of their numbers. Nobody writes to
// a list: each change returns another.
type Programs []Program

// Of returns the program with a number.
func (all Programs) Of(id uint32) (Program, bool) {
	if i := all.at(id); i >= 0 {
		return all[i], true
	}
	return Program{}, false
}

func (all Programs) at(id uint32) int {
	return slices.IndexFunc(all, func(p Program) bool { return p.ID == id })
}

// live reports whether programs run, or may.
func (all Programs) live() bool {
	return slices.ContainsFunc(all, func(p Program) bool { return p.State != ProgramEnded })
}

// asked reports whether a program was asked for before by its key.
func (all Programs) asked(key string) bool {
	return slices.ContainsFunc(all, func(p Program) bool { return p.Key == key })
}

// attached reports whether a session of the host is the job's.
func (all Programs) attached(session int) bool {
	return slices.ContainsFunc(all, func(p Program) bool {
		return p.Attached && p.Handle.Session == session && p.State == ProgramRunning
	})
}

// handles returns those of the programs that are known to be there.
func (all Programs) handles() (live []proc.Handle) {
	for _, p := range all {
		if p.lives() {
			live = append(live, p.Handle)
		}
	}
	return live
}

// hear lets a program hear something, and changes it if that means something to it; false: it does not.
func (all Programs) hear(id uint32, on word, status int, change func(p *Program)) (Programs, bool) {
	i := all.at(id)
	if i < 0 {
		return all, false
	}
	next, ok := all[i].step(on, status)
	if !ok {
		return all, false
	}
	if change != nil {
		change(&next)
	}
	all = slices.Clone(all)
	all[i] = next
	return all, true
}

// resume finds the programs again after a restart of the mom: those of a host that has restarted are gone.
func (all Programs) resume(rebooted bool) (Programs, []Action) {
	var actions []Action
	all = slices.Clone(all)
	for i := range all {
		p := &all[i]
		switch {
		case p.State == ProgramEnded:
		case rebooted:
			*p, _ = p.step(allGoneWord, pbs.ExitKilled)
		case p.restoring(): // the job does not go on without it
			actions = append(actions, Action{Do: StartProgram, Program: p.ID})
		case p.State == ProgramStarting:
			actions = append(actions, Action{Do: RecoverProgram, Program: p.ID})
		default:
			actions = append(actions, Action{Do: WatchProgram, Program: p.ID})
		}
	}
	return all, actions
}
