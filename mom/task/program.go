package task

import (
	"slices"
	"syscall"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A Program is one that a job has started on this host besides its first, or a session of
// the host that was made the job's.
type Program struct {
	ID     uint32       `json:"id"`
	Key    string       `json:"key"`  // of whoever asked: a repeat starts nothing more
	Node   int          `json:"node"` // line of the node file
	Args   []string     `json:"args,omitempty"`
	Env    []string     `json:"env,omitempty"`
	State  ProgramState `json:"state"`
	Handle proc.Handle  `json:"handle"`
	Status int          `json:"status,omitempty"` // 256 + signal when killed by one
	Failed string       `json:"failed,omitempty"` // it could not be started
	// Session is the session of the checkpointed program, for a program that goes on from there.
	Session int64 `json:"session,omitempty"`
	// Attached says that there is no shim: the handle is the process's own.
	Attached bool `json:"attached,omitempty"`
}

// A ProgramState is where a program stands. The numbers are in records on disk.
type ProgramState uint8

// The states of a program.
const (
	ProgramStarting ProgramState = iota + 1
	ProgramRunning
	ProgramOver // it has ended, and something that it has left outside of its session lives on
	ProgramEnded
)

// String returns the state as a word.
func (s ProgramState) String() string {
	return nameOf([]string{
		ProgramStarting: "starting", ProgramRunning: "running", ProgramOver: "over", ProgramEnded: "ended",
	}, s)
}

// Events of a program.
const (
	runsWord    word = "it runs"
	itsOverWord word = "it has ended"
	allGoneWord word = "all of it is gone" // or it was never there
)

var programMoves = table[ProgramState]{
	{ProgramStarting, runsWord, ProgramRunning},
	{ProgramStarting, allGoneWord, ProgramEnded},
	{ProgramRunning, itsOverWord, ProgramOver},
	{ProgramRunning, allGoneWord, ProgramEnded},
	{ProgramOver, itsOverWord, ProgramOver}, // a repeat
	{ProgramOver, allGoneWord, ProgramEnded},
}

// step changes the state. How the program itself has ended counts, and not what it has left.
func (p Program) step(on word, status int) (next Program, ok bool) {
	state, ok := programMoves.after(p.State, on)
	if ok && p.State != ProgramOver && on != runsWord {
		p.Status = status
	}
	p.State = state
	return p, ok
}

// lives reports whether processes of the program are known to be there.
func (p Program) lives() bool { return p.State == ProgramRunning || p.State == ProgramOver }

// The events of programs.
type (
	// Spawn asks for a program.
	Spawn struct {
		Key       string
		Node      int
		Args, Env []string
	}
	// Attach makes a session of the host the job's.
	Attach struct{ Handle proc.Handle }
	// ProgramUp says that a program runs.
	ProgramUp struct {
		ID     uint32
		Handle proc.Handle
	}
	// ProgramLeft says that it has ended, but for what has left its session.
	ProgramLeft struct {
		ID   uint32
		Exit proc.Exit
	}
	// ProgramDown says that it has ended with all that was left, or could not be started.
	ProgramDown struct {
		ID     uint32
		Exit   proc.Exit
		Failed string
	}
)

func (Spawn) event()       {}
func (Attach) event()      {}
func (ProgramUp) event()   {}
func (ProgramLeft) event() {}
func (ProgramDown) event() {}

// Done reports whether the program itself has ended.
func (p Program) Done() bool { return p.State >= ProgramOver }

// The deeds of programs.
const (
	StartProgram   Deed = "start a program"
	RecoverProgram Deed = "look for a program"
	WatchProgram   Deed = "watch a program"
)

// MaxProgram bounds the bytes of the arguments and the variables of one program.
const MaxProgram = 1 << 20

// maxPrograms bounds what one run may start on one host.
const maxPrograms = 1 << 16

// Handles returns the handles of all live processes of the job on this host.
func (t Task) Handles() []proc.Handle {
	var all []proc.Handle
	if t.Handle.PID != 0 && (t.State() == Running || t.State() == Ending) {
		all = append(all, t.Handle)
	}
	return append(all, t.Programs.handles()...)
}

// handles returns the handles of all that may live, the first program's once it was there.
func (t Task) handles() []proc.Handle {
	all := t.Handles()
	if t.Handle.PID != 0 && !slices.Contains(all, t.Handle) {
		all = append(all, t.Handle)
	}
	return all
}

// stepProgram decides what follows from an event of a program; ok is false if it is none.
func (t Task) stepProgram(ev Event) (next Task, actions []Action, err error, ok bool) {
	switch ev := ev.(type) {
	case Spawn:
		next = t
		if err = ev.check(); err == nil && !t.Programs.asked(ev.Key) {
			next, actions, err = t.add(Program{Key: ev.Key, Node: ev.Node, Args: ev.Args, Env: ev.Env, State: ProgramStarting}, StartProgram)
		}
	case Attach:
		next = t
		if !t.Programs.attached(ev.Handle.Session) {
			next, actions, err = t.add(Program{Handle: ev.Handle, State: ProgramRunning, Attached: true}, WatchProgram)
		}
	case ProgramUp:
		next, actions, err = t.programUp(ev)
	case ProgramLeft:
		next = t
		if next.Programs, ok = t.Programs.hear(ev.ID, itsOverWord, ev.Exit.Status, nil); ok { // what it has left goes on as long as the job
			actions = []Action{{Do: WatchProgram, Program: ev.ID}}
		}
	case ProgramDown:
		next, actions, err = t.programDown(ev)
	default:
		return t, nil, nil, false
	}
	return next, actions, err, true
}

// check refuses what is no program, or takes too much room in the record.
func (ev Spawn) check() error {
	size := 0
	for _, list := range [][]string{ev.Args, ev.Env} {
		for _, text := range list {
			size += len(text) + 1
		}
	}
	switch {
	case len(ev.Args) == 0 || ev.Args[0] == "" || ev.Key == "":
		return pbs.Errorf(pbs.InvalidRequest, "spawn: no program is named")
	case size > MaxProgram:
		return pbs.Errorf(pbs.InvalidRequest, "spawn: arguments and variables take more than %d bytes", MaxProgram)
	}
	return nil
}

// add begins a program of a job that runs.
func (t Task) add(p Program, do Deed) (Task, []Action, error) {
	if t.State() != Running {
		return t, nil, t.refused("program")
	}
	if len(t.Programs) >= maxPrograms {
		return t, nil, pbs.Errorf(pbs.BadState, "the job has started %d programs on this host", len(t.Programs))
	}
	p.ID = t.firstProgram() + uint32(len(t.Programs))
	t.Programs = append(slices.Clip(t.Programs), p)
	return t, []Action{{Do: do, Program: p.ID}}, nil
}

// firstProgram leaves the number 1 to the job's first program; every host has its own range.
func (o Order) firstProgram() uint32 {
	n := uint32(2)
	for i, h := range o.Hosts {
		if h.Name == o.Host {
			n += uint32(i) << 17
		}
	}
	return n
}

func (t Task) programUp(ev ProgramUp) (Task, []Action, error) {
	all, ok := t.Programs.hear(ev.ID, runsWord, 0, func(p *Program) { p.Handle = ev.Handle })
	if !ok {
		return t, nil, nil
	}
	t.Programs = all
	actions := []Action{{Do: WatchProgram, Program: ev.ID}}
	if t.State() != Running { // the job ends meanwhile; the others have the time that they were given
		actions = append(actions, Action{Do: Send, Signal: syscall.SIGKILL, Program: ev.ID})
	}
	return t, actions, nil
}

func (t Task) programDown(ev ProgramDown) (Task, []Action, error) {
	all, ok := t.Programs.hear(ev.ID, allGoneWord, ev.Exit.Status, func(p *Program) { p.Failed, p.Args, p.Env = ev.Failed, nil, nil })
	if !ok {
		return t, nil, nil
	}
	t.Programs = all
	t.Spent += ev.Exit.CPU
	t.Peak = t.Peak.with(proc.Usage{CPU: t.Spent, RSS: ev.Exit.MaxRSS})
	switch {
	case t.Programs.live():
	case t.State() == Gathering:
		return mother{t}.together()
	case t.State() == Ending && t.Sister():
		return sister{t}.left()
	}
	return t, nil, nil
}

// attachedEvery is how often a session without a shim is looked at.
const attachedEvery = time.Second
