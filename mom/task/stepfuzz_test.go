package task

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
)

// A walk takes a task through events: what becomes of its deeds, and what comes from elsewhere.
type walk struct {
	t       *testing.T
	choices []byte
	task    Task
	open    []Action // whose results have not come
	number  uint64
	last    Event
}

// pick chooses one of n; without choices it is the first.
func (w *walk) pick(n int) int {
	if len(w.choices) == 0 {
		return 0
	}
	c := int(w.choices[0]) % n
	w.choices = w.choices[1:]
	return c
}

func (w *walk) failure() string { return []string{"", "why"}[w.pick(2)] }

func (w *walk) launched() Launched {
	return Launched{Handle: proc.Handle{PID: 10 + w.pick(3), BootID: "boot", Session: 11}, At: 1}
}

func (w *walk) exit() proc.Exit {
	return proc.Exit{Status: []int{0, 265}[w.pick(2)], CPU: time.Second, Wall: 2 * time.Second}
}

func (w *walk) sister() pbs.HostName { return []pbs.HostName{"hostb", "hostc"}[w.pick(2)] }

func (w *walk) started() Event {
	if w.pick(4) == 1 {
		return Failed{Status: pbs.ExitRetry, Reason: "why", Barred: w.pick(2) == 1, Hook: w.pick(2) == 1}
	}
	return nil
}

func or(first, second Event) Event {
	if first != nil {
		return first
	}
	return second
}

// outcomes says what may become of a deed; nil: nothing that the task hears.
var outcomes = map[Deed]func(w *walk, a Action) Event{
	Fetch:   func(w *walk, _ Action) Event { return or(w.started(), Fetched{}) },
	Confirm: func(w *walk, _ Action) Event { return or(w.started(), Fetched{}) },
	StageIn: func(w *walk, _ Action) Event { return StagedIn{w.failure()} },
	Launch:  func(w *walk, _ Action) Event { return or(w.started(), w.launched()) },
	Join: func(w *walk, _ Action) Event {
		if w.pick(4) == 1 {
			return JoinFailed{Reason: "why"}
		}
		return Joined{}
	},
	Recover:     func(w *walk, _ Action) Event { return []Event{w.launched(), NotFound{}}[w.pick(2)] },
	Announce:    func(*walk, Action) Event { return Announced{} },
	Watch:       func(w *walk, _ Action) Event { return []Event{Exited{w.exit()}, Vanished{}}[w.pick(2)] },
	Grace:       func(*walk, Action) Event { return GraceOver{} },
	StageOut:    func(w *walk, _ Action) Event { return StagedOut{Failure: w.failure()} },
	Deliver:     func(*walk, Action) Event { return Delivered{StageOut: stageOutDone} },
	Discard:     func(*walk, Action) Event { return Delivered{} },
	Keep:        func(*walk, Action) Event { return Delivered{} },
	Conclude:    func(*walk, Action) Event { return Delivered{} },
	Bar:         func(w *walk, _ Action) Event { return []Event{Delivered{}, Found{w.launched()}}[w.pick(2)] },
	Report:      func(*walk, Action) Event { return Told{} },
	Poll:        func(w *walk, _ Action) Event { return Polled{Lost: []pbs.HostName{"", "hostb"}[w.pick(2)]} },
	Gather:      func(*walk, Action) Event { return Gathered{Shares: map[pbs.HostName]Share{"hostb": {}}} },
	KillSisters: func(*walk, Action) Event { return SistersKilled{} },
	Resize:      func(w *walk, _ Action) Event { return Fitted{Number: w.number, Refusal: w.failure()} },
	Save:        func(w *walk, _ Action) Event { return Checkpointed{w.failure()} },
	Unsaved:     func(*walk, Action) Event { return UnsavedTold{} },
	Snapshot:    func(w *walk, _ Action) Event { return Snapped{w.failure()} },
	TellMade:    func(*walk, Action) Event { return MadeTold{} },
	AskPreterm:  func(w *walk, _ Action) Event { return PretermOver{Refused: w.pick(2) == 1} },
	savePart: func(w *walk, _ Action) Event {
		return PartSaved{Number: w.task.Checkpoints.Attempt, Failure: w.failure()}
	},
	TellSisters: func(w *walk, _ Action) Event {
		share := map[pbs.HostName]Share{w.sister(): {Peak: Peak{CPU: time.Second}}}
		return []Event{SistersTold{Left: share}, SistersTold{Reported: share}, SistersTold{Told: map[pbs.HostName]uint64{w.sister(): w.number}}}[w.pick(3)]
	},
	StartProgram: func(w *walk, a Action) Event {
		return []Event{ProgramUp{ID: a.Program, Handle: w.launched().Handle}, ProgramDown{ID: a.Program, Failed: "why"}}[w.pick(2)]
	},
	RecoverProgram: func(_ *walk, a Action) Event { return ProgramDown{ID: a.Program, Failed: "gone"} },
	WatchProgram: func(w *walk, a Action) Event {
		return []Event{ProgramDown{ID: a.Program, Exit: w.exit()}, ProgramLeft{ID: a.Program, Exit: w.exit()}}[w.pick(2)]
	},
	RunPrologue: func(w *walk, _ Action) Event { return PrologueOver{Failure: w.failure()} },
	AwaitReport: func(*walk, Action) Event { return Reported{} },
	Remove:      func(w *walk, _ Action) Event { return Removed{Hangs: w.pick(2) == 1} },
	Send: func(w *walk, a Action) Event {
		switch {
		case a.Text == resumes:
			return Proceed{}
		case a.Ends && w.pick(2) == 1: // the site has a script for it
			return Terminated{w.failure()}
		}
		return nil
	},
}

// came is what may come from elsewhere at any time.
var came = []func(w *walk) Event{
	func(w *walk) Event {
		return Kill{Killing: Killing{Delay: time.Duration(w.pick(2)) * time.Second, Requeue: w.pick(4) == 1}, Hooks: w.pick(2) == 1}
	},
	func(*walk) Event { return Abort{} },
	func(*walk) Event { return Lapsed{Now: 1} },
	func(w *walk) Event {
		return Resume{BootID: []string{"boot", "other"}[w.pick(2)], Adopt: w.pick(4) != 1}
	},
	func(w *walk) Event {
		return Signal{Name: []string{"suspend", "resume", "STOP", "CONT", "USR1"}[w.pick(5)], Elapsed: time.Duration(w.pick(60)) * time.Second}
	},
	func(w *walk) Event { return Sampled{Usage: proc.Usage{CPU: time.Duration(w.pick(90)) * time.Second}} },
	func(*walk) Event { return Checkpoint{Able: true, Joint: true} },
	func(*walk) Event { return SnapDue{By: "w", At: time.Minute, Able: true} },
	func(w *walk) Event {
		w.number++
		return Assign{Number: w.number, Step: AssignStep(1 + w.pick(3)), Hosts: []pbs.HostName{"hosta", w.sister()}}
	},
	func(w *walk) Event { return Spawn{Key: fmt.Sprint(w.pick(3)), Args: []string{"x"}} },
	func(w *walk) Event { return SavePart{Number: uint64(w.pick(3)), Able: true} },
	func(w *walk) Event { return PartKept{Kept: KeptPart(1 + w.pick(3))} },
	func(*walk) Event { return Prologue{} },
	func(*walk) Event { return Dismiss{} },
	func(*walk) Event { return Abandon{} },
	func(*walk) Event { return Reported{} },
	func(w *walk) Event {
		return SisterTried{Host: w.sister(), Step: StartStep(1 + w.pick(2)), OK: w.pick(2) == 1}
	},
	func(w *walk) Event {
		return Hooked{[]spool.Used{{Resource: "mem", Type: "size", Value: fmt.Sprint(w.pick(9), "kb")}}}
	},
}

// hear takes one event, and holds what must be true of every step.
func (w *walk) hear(ev Event) {
	before, _ := json.Marshal(w.task)
	next, actions, err := step(w.task, ev)
	if after, _ := json.Marshal(w.task); string(after) != string(before) {
		w.t.Fatalf("%T has changed the task in place: %s, %s", ev, before, after)
	}
	if err != nil {
		return
	}
	was := w.task
	w.task, w.last = next, ev
	if _, again := ev.(Resume); again {
		w.open = nil // their mom is dead
	}
	for _, a := range actions {
		if deeds[a.Do] == nil {
			w.t.Fatalf("nobody does %q", a.Do)
		}
		w.open = append(w.open, a)
	}
	if next.Sister() != was.Sister() || next.Sister() == (next.Life.State != 0) {
		w.t.Fatalf("%T makes a part of a life, or both: %+v", ev, next)
	}
	if was.Reports.Told() && !next.Reports.Told() || was.State() == Ended && next.State() != Ended {
		w.t.Fatalf("%T: what was over is not: %+v", ev, next)
	}
	if over := next.State() >= Gathering; over && next.Result == nil || !next.Sister() && !over && next.Result != nil {
		w.t.Fatalf("%T: it is %s, and its end is %+v", ev, next.State(), next.Result)
	}
	w.readAgain()
}

// readAgain holds that a record is read as it was written.
func (w *walk) readAgain() {
	var read Task
	text, err := json.Marshal(w.task)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if again, _ := json.Marshal(read); err != nil || string(again) != string(text) {
		w.t.Fatalf("%s is read as %s, %v", text, again, err)
	}
	w.task = read
}

// settle lets the open deed at some place have its result.
func (w *walk) settle(i int) {
	a := w.open[i]
	w.open = append(append([]Action(nil), w.open[:i]...), w.open[i+1:]...)
	if outcome := outcomes[a.Do]; outcome != nil {
		if ev := outcome(w, a); ev != nil {
			w.hear(ev)
		}
	}
}

// Whatever happens to a task in whatever order, it changes as its tables say, and when the mom ends it, its
// deeds lead to its end, and to the fact of that.
func FuzzStep(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		data := make([]byte, 20+r.IntN(300))
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		f.Add(data, r.IntN(3) == 0, uint8(r.IntN(3)))
	}
	f.Fuzz(func(t *testing.T, choices []byte, part bool, hosts uint8) {
		attrs := Attrs{{Name: "Rerunable", Value: "True"}, {Name: "Checkpoint", Value: "w=1"}, {Name: periodicCheckpoints, Value: "1"}}
		w := &walk{t: t, choices: choices}
		for i, a := range []Attr{{Name: "stagein", Value: "x@h:/x"}, {Name: "stageout", Value: "x@h:/x"}, {Name: "release_nodes_on_stageout", Value: "True"}, {Name: "tolerate_node_failures", Value: "all"}} {
			if w.pick(8)>>(i%3)&1 == 1 {
				attrs = append(attrs, a)
			}
		}
		w.task = New(testKey, attrs, true, "boot", "cookie")
		all := []Host{{Name: "hosta"}, {Name: "hostb"}, {Name: "hostc"}}
		if w.task.Host = "hosta"; hosts%3 > 0 {
			w.task.Hosts = all[:1+hosts%3]
		}
		if part {
			w.task = NewPart(testKey, attrs, "boot", "cookie")
			w.task.Host, w.task.Hosts = "hostb", all
		}
		for w.hear(Accept{}); len(w.choices) > 0; {
			if n := len(w.open); n > 0 && w.pick(3) > 0 {
				w.settle(w.pick(n))
				continue
			}
			w.hear(came[w.pick(len(came))](w))
		}
		w.hear(Abort{})
		for range 500 {
			if len(w.open) == 0 {
				break
			}
			w.settle(0)
		}
		if w.task.State() != Ended || !w.task.Reports.Told() {
			t.Errorf("after %T it is %s, told: %v, %+v", w.last, w.task.State(), w.task.Reports.Told(), w.task)
		}
	})
}
