package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm"
	"rampart/fsm/acct"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A Change is something that may happen to a cluster: one of its fields is set.
type Change struct {
	At     time.Time // zero: at once
	Down   string    // a host that dies
	Qmgr   string    // a line for qmgr
	Submit string    // a script that is submitted
}

func (c Change) String() string {
	text := ""
	switch {
	case c.Down != "":
		text = "host " + c.Down + " goes down"
	case c.Qmgr != "":
		text = c.Qmgr
	case c.Submit != "":
		text = c.Submit + " is submitted"
	}
	if !c.At.IsZero() {
		text += " at " + c.At.Format(time.DateTime)
	}
	return text
}

// TwinOptions say what is asked of a cluster's twin.
type TwinOptions struct {
	User    string // who submits
	Changes []Change
	Ahead   time.Duration // how far it is looked
	Quit    func() bool
	// Open opens a file that a change names; nil: os.Open does.
	Open func(name string) (fs.File, error)
}

// Foresee says what becomes of the jobs that wait in the state of a snapshot, as it is, and with the changes. Nothing of it gets
// back to the cluster.
func Foresee(saved []byte, o TwinOptions) (*Forecast, error) {
	plain, err := newTwin(saved, o)
	if err != nil {
		return nil, err
	}
	if err := plain.play(nil); err != nil {
		return nil, err
	}
	f := &Forecast{Now: plain.moment(plain.begin), Until: plain.moment(plain.until), Jobs: plain.expected(), Endless: plain.endless}
	if len(o.Changes) == 0 {
		return f, nil
	}
	other, err := newTwin(saved, o)
	if err != nil {
		return nil, err
	}
	if err := other.play(o.Changes); err != nil {
		return nil, err
	}
	for _, c := range o.Changes {
		f.Changes = append(f.Changes, c.String())
	}
	f.Jobs = both(f.Jobs, other.expected())
	return f, nil
}

// Begin says when one job starts that waits in the state of a snapshot: nothing is played after that, and not after until. Of an array it is the start
// of its first subjob.
func Begin(saved []byte, job pbs.JobID, ahead time.Duration, quit func() bool) (x Expected, until time.Time, err error) {
	t, err := newTwin(saved, TwinOptions{Ahead: ahead, Quit: quit})
	if err != nil {
		return x, until, err
	}
	if j, ok := t.view().Job(job); ok && j.Live() && j.Array == nil || !t.waits(job) {
		return x, until, errors.New("it is gone, or waits no more")
	}
	t.only = job
	if err := t.play(nil); err != nil {
		return x, until, err
	}
	return t.expect(job), t.moment(t.until), nil
}

// A twin is a cluster that goes on from a state by itself.
type twin struct {
	*engine
	o       TwinOptions
	begin   pbs.Time
	until   pbs.Time
	only    pbs.JobID   // if not empty, no other job is of interest
	waited  []pbs.JobID // that waited at its begin, or came later
	settled int         // so many of the first of them have begun, or are over
	pending int         // changes that are to come
	first   map[pbs.JobID]pbs.Time
	over    map[pbs.JobID]pbs.Time
	whose   map[pbs.JobID][2]string // user and queue
	endless int
}

// none is a workload without jobs.
type none struct{ begin pbs.Time }

func (none) Next() (*Job, error) { return nil, io.EOF }
func (none) Read() float64       { return 1 }
func (n none) Begin() pbs.Time   { return n.begin }
func (none) Close() error        { return nil }

func newTwin(saved []byte, o TwinOptions) (*twin, error) {
	store, err := fsm.ReadSnapshot(bytes.NewReader(saved))
	if err != nil {
		return nil, err
	}
	v := store.View()
	m := &machine{store: store, index: v.Index(), at: v.Now()}
	if !v.Server().Scheduling() {
		return nil, errors.New("scheduling is False: no job would start")
	}
	e := newEngine(m, none{m.at}, &Troubles{}, newTally(shapeOf(v).total, m.at))
	t := &twin{
		engine: e, o: o, begin: m.at, until: m.at + pbs.Time(o.Ahead), first: map[pbs.JobID]pbs.Time{}, over: map[pbs.JobID]pbs.Time{},
		whose: map[pbs.JobID][2]string{},
	}
	e.quit, e.adopts = o.Quit, true
	e.planner = sched.NewPlanner()
	m.hear = func(events []state.Event) {
		for _, ev := range events {
			t.note(ev)
		}
		e.heard(events)
	}
	for j := range v.Jobs() {
		switch {
		case j.Array != nil:
			if j.State == pbs.Queued || j.State == pbs.Begun {
				t.wait(j)
			}
		case j.Live():
			l := e.adopt(j)
			l.held, l.begun, l.started = assigned(j), j.Started, j.Started
			e.tally.busy += l.held
			l.run = j.RunCount
			if j.Suspended() {
				l.ran = usedTime(j)
				continue
			}
			if j.LastRun().Session == 0 {
				continue // its order is still open
			}
			if l.job.Runs >= unending {
				t.endless++
			}
			e.goOn(l, j.Started)
		case j.MayStart() || j.State == pbs.Waiting || j.State == pbs.Held:
			t.wait(j)
			e.adopt(j)
			e.tally.waits++
		}
	}
	e.tick = m.at
	e.wantPlan()
	e.deliver()
	return t, nil
}

func (t *twin) wait(j *state.Job) {
	t.waited = append(t.waited, j.ID)
	t.whose[j.ID] = [2]string{j.Owner.Name, string(j.Queue)}
}

// unending is longer than any job that has a walltime runs.
const unending = 5 * 365 * 24 * time.Hour

// adopt makes a life of a job that no workload knows: its program takes as long as it may.
func (e *engine) adopt(j *state.Job) *life {
	runs := unending
	if text, ok := j.Resources.Get("walltime"); ok {
		if q, err := resource.Parse(resource.Time, text); err == nil && q.Int() < int64(unending/time.Second) {
			runs = time.Duration(q.Int()) * time.Second
		}
	}
	l := &life{job: &Job{Name: string(j.ID), User: j.Owner.Name, Queue: string(j.Queue), Runs: runs}, id: j.ID, since: j.Eligible, cpus: cpusOf(j)}
	e.lives[j.ID] = l
	return l
}

func usedTime(j *state.Job) time.Duration {
	text, _ := j.LastRun().Used.Get("walltime")
	q, err := resource.Parse(resource.Time, text)
	if err != nil {
		return 0
	}
	return time.Duration(q.Int()) * time.Second
}

// note keeps when jobs begin and end.
func (t *twin) note(ev state.Event) {
	if ev.Job == nil {
		return
	}
	id := ev.Job.ID
	if _, known := t.whose[id]; !known && (ev.Kind == state.JobQueued || ev.Kind == state.JobRequeued || ev.Kind == state.JobRequeuedUnrun) && !ev.Job.IsSubjob() {
		t.wait(ev.Job)
		delete(t.first, id)
	}
	parent := id
	if ev.Job.IsSubjob() {
		parent = id.Parent()
	}
	switch ev.Kind {
	case state.JobRun:
		for _, of := range []pbs.JobID{parent, id} {
			if _, before := t.first[of]; !before {
				t.first[of] = ev.At
			}
		}
	case state.JobEnded:
		t.over[parent], t.over[id] = ev.At, ev.At
	}
}

// play lets the twin go on, with changes, until nobody waits any more or the time is over.
func (t *twin) play(changes []Change) error {
	var failed error
	shell := newShell(t.machine)
	if shell.open = t.o.Open; shell.open == nil {
		shell.open = func(name string) (fs.File, error) { return os.Open(name) }
	}
	for _, c := range changes {
		at := t.begin
		if !c.At.IsZero() {
			at = pbs.Time(c.At.UnixNano())
		}
		switch {
		case at < t.begin:
			return fmt.Errorf("%s: that is past: the state is of %s", c, t.moment(t.begin).Format(time.DateTime))
		case at > t.until:
			return fmt.Errorf("%s: that is not looked at, but until %s", c, t.moment(t.until).Format(time.DateTime))
		}
		t.later(at, func() []command.Proposal {
			if err := t.change(shell, c); err != nil && failed == nil {
				failed = fmt.Errorf("%s: %w", c, err)
			}
			t.wantPlan()
			return nil
		})
		t.pending++
	}
	for {
		at, ok := t.nextTime()
		if !ok || at > t.until || failed != nil || t.pending == 0 && !t.anyWaits() {
			return failed
		}
		if t.steps++; t.steps%64 == 0 && t.quit != nil && t.quit() {
			return ErrInterrupted
		}
		if err := t.step(at); err != nil {
			return err
		}
	}
}

// anyWaits reports whether a job has still to start.
func (t *twin) anyWaits() bool {
	if t.only != "" {
		return t.waits(t.only)
	}
	for ; t.settled < len(t.waited); t.settled++ {
		if t.waits(t.waited[t.settled]) {
			return true
		}
	}
	return false
}

// waits reports whether a job has not begun since the twin did, and may yet.
func (t *twin) waits(id pbs.JobID) bool {
	if _, began := t.first[id]; began {
		return false
	}
	j, ok := t.view().Job(id)
	if !ok {
		j, ok = t.view().Job(id.Parent())
	}
	return ok && j.State != pbs.Finished
}

// change makes a change.
func (t *twin) change(sh *shell, c Change) error {
	t.pending--
	switch {
	case c.Down != "":
		return t.down(pbs.HostName(c.Down))
	case c.Qmgr != "":
		if _, errs, status := sh.run("root", "", "qmgr", "-c", c.Qmgr); status != 0 {
			return errors.New(firstLine(errs))
		}
	case c.Submit != "":
		out, errs, status := sh.run(t.o.User, "", "qsub", c.Submit)
		if status != 0 {
			return errors.New(strings.TrimSpace(errs))
		}
		id := pbs.JobID(strings.TrimSpace(out))
		if j, ok := t.view().Job(id); ok && j.Array == nil {
			t.adopt(j)
		}
	}
	return nil
}

// down is the death of a host: what runs there ends without a word, and is given up when the fence has fallen.
func (t *twin) down(name pbs.HostName) error {
	h, ok := t.view().Host(name)
	if !ok {
		return errors.New("there is no such host")
	}
	if !h.Up {
		return nil
	}
	for j := range t.view().Running() {
		if l := t.lives[j.ID]; l != nil && (j.Run.MS == name || slices.Contains(j.Run.Sisters, name)) {
			l.ran, l.on, l.due = l.time(t.at), false, 0
		}
	}
	if err := t.do(&command.HostDown{Host: name, Reason: "it is down"}); err != nil {
		return err
	}
	h, _ = t.view().Host(name)
	fence := max(h.Fence, t.view().Server().Fence())
	if h.Fence == 0 {
		return nil // its jobs stay where they are for ever: node_fail_requeue is 0
	}
	t.later(t.at+pbs.Time(fence)*pbs.Time(time.Second), func() []command.Proposal {
		t.wantPlan()
		return []command.Proposal{{Commands: []command.Command{&command.HostFenced{Host: name, Registered: h.Registered, Fence: h.Fence}}}}
	})
	return nil
}

// moment returns a time in the zone of the cluster.
func (t *twin) moment(at pbs.Time) time.Time {
	return time.Unix(0, int64(at)).In(acct.Zone(t.view().Server().Get("timezone")))
}

// expected says what has become of the jobs that waited, those that start first before others.
func (t *twin) expected() []Expected {
	var all []Expected
	for _, id := range t.waited {
		all = append(all, t.expect(id))
	}
	slices.SortStableFunc(all, func(a, b Expected) int {
		if a.Start.IsZero() != b.Start.IsZero() {
			if a.Start.IsZero() {
				return 1
			}
			return -1
		}
		return a.Start.Compare(b.Start)
	})
	return all
}

// expect says what has become of a job that waited.
func (t *twin) expect(id pbs.JobID) Expected {
	x := Expected{Job: string(id), User: t.whose[id][0], Queue: t.whose[id][1]}
	j, there := t.view().Job(id)
	if at, ok := t.first[id]; ok {
		x.Start = t.moment(at)
		if end, ended := t.over[id]; ended {
			x.End = t.moment(end)
		} else if l := t.lives[id]; l != nil && l.job.Runs < unending {
			x.End = t.moment(at + pbs.Time(l.job.Runs))
		}
	} else if there {
		x.Why = reasonOf(j)
	} else {
		x.Why = "it is gone before it starts"
	}
	return x
}
