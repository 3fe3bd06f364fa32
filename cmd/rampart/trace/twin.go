package trace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"rampart/cli/terminal"
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
}

// A Forecast says when jobs start that wait now, if all take as long as they have asked for.
type Forecast struct {
	Now     time.Time  `json:"now"`
	Until   time.Time  `json:"until"`
	Changes []string   `json:"changes,omitempty"`
	Jobs    []Expected `json:"jobs"`
	Endless int        `json:"running_without_walltime"`
}

// Expected is when a job that waits is to start.
type Expected struct {
	Job   string    `json:"job"`
	User  string    `json:"user"`
	Queue string    `json:"queue"`
	Start time.Time `json:"start,omitzero"` // zero: not within the time that was looked at
	End   time.Time `json:"end,omitzero"`   // by its walltime
	Why   string    `json:"why,omitempty"`  // it does not start
	// With the changes.
	New     bool      `json:"new,omitempty"` // it is one of them, or of what they bring back into the queue
	Changed time.Time `json:"changed_start,omitzero"`
	Ended   time.Time `json:"changed_end,omitzero"`
	Whynot  string    `json:"changed_why,omitempty"`
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

// both puts what is expected with the changes beside what is expected without.
func both(plain, changed []Expected) []Expected {
	at := map[string]int{}
	for i, j := range plain {
		at[j.Job] = i
	}
	for _, j := range changed {
		i, ok := at[j.Job]
		if !ok {
			plain = append(plain, Expected{Job: j.Job, User: j.User, Queue: j.Queue, New: true})
			i = len(plain) - 1
		}
		plain[i].Changed, plain[i].Ended, plain[i].Whynot = j.Start, j.End, j.Why
	}
	return plain
}

// A twin is a cluster that goes on from a state by itself.
type twin struct {
	*engine
	o       TwinOptions
	begin   pbs.Time
	until   pbs.Time
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
		if _, before := t.first[parent]; !before {
			t.first[parent] = ev.At
		}
	case state.JobEnded:
		t.over[parent] = ev.At
	}
}

// play lets the twin go on, with changes, until nobody waits any more or the time is over.
func (t *twin) play(changes []Change) error {
	var failed error
	shell := newShell(t.machine)
	shell.open = func(name string) (fs.File, error) { return os.Open(name) }
	for _, c := range changes {
		at := max(t.begin, pbs.Time(c.At.UnixNano()))
		if c.At.IsZero() {
			at = t.begin
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

// anyWaits tells whether a job has still to start.
func (t *twin) anyWaits() bool {
	for ; t.settled < len(t.waited); t.settled++ {
		id := t.waited[t.settled]
		if _, began := t.first[id]; began {
			continue
		}
		if j, ok := t.view().Job(id); ok && j.State != pbs.Finished {
			return true
		}
	}
	return false
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

// moment is a time in the zone of the cluster.
func (t *twin) moment(at pbs.Time) time.Time {
	return time.Unix(0, int64(at)).In(acct.Zone(t.view().Server().Get("timezone")))
}

// expected says what has become of the jobs that waited, those that start first before others.
func (t *twin) expected() []Expected {
	var all []Expected
	for _, id := range t.waited {
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
			x.Why = cmp.Or(j.CommentText(), "state "+stateOf(j))
		} else {
			x.Why = "it is gone before it starts"
		}
		all = append(all, x)
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

// Text writes the forecast for people.
func (f *Forecast) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, if every job takes its walltime; looked ahead until %s\n", f.Now.Format(time.DateTime), f.Until.Format(time.DateTime))
	if f.Endless > 0 {
		fmt.Fprintf(&b, "%d running jobs have no walltime, and are taken to run on\n", f.Endless)
	}
	for _, c := range f.Changes {
		fmt.Fprintf(&b, "what if: %s\n", terminal.Printable(c))
	}
	if len(f.Jobs) == 0 {
		b.WriteString("no job waits\n")
		_, err := io.WriteString(w, b.String())
		return err
	}
	start := func(at time.Time, why string) string {
		switch {
		case !at.IsZero():
			return at.Format(time.DateTime)
		case why != "":
			return "not in that time"
		}
		return "-"
	}
	fmt.Fprintf(&b, "\n%-16s %-12s %-12s %-19s  %-9s", "job", "user", "queue", "start", "in")
	if len(f.Changes) > 0 {
		fmt.Fprintf(&b, "  %-19s  %s", "what if", "change")
	}
	b.WriteByte('\n')
	for _, j := range f.Jobs {
		wait := ""
		if !j.Start.IsZero() {
			wait = span(j.Start.Sub(f.Now).Seconds())
		}
		fmt.Fprintf(&b, "%-16s %-12s %-12s %-19s  %-9s", terminal.Short(terminal.Printable(j.Job), 16), terminal.Short(terminal.Printable(j.User), 12),
			terminal.Short(terminal.Printable(j.Queue), 12), start(j.Start, j.Why), wait)
		if len(f.Changes) > 0 {
			change := ""
			if d := j.Changed.Sub(j.Start); !j.Changed.IsZero() && !j.Start.IsZero() && d.Abs() >= time.Second {
				change = "+" + span(d.Seconds())
				if d < 0 {
					change = "-" + span(-d.Seconds())
				}
			}
			fmt.Fprintf(&b, "  %-19s  %s", start(j.Changed, j.Whynot), change)
		}
		b.WriteByte('\n')
		for _, why := range []string{j.Why, j.Whynot} {
			if why != "" {
				fmt.Fprintf(&b, "    %s\n", terminal.Printable(why))
			}
		}
	}
	_, err := io.WriteString(w, trimmed(b.String()))
	return err
}

// trimmed takes the blanks off the ends of lines.
func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// JSON writes the forecast for programs.
func (f *Forecast) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(f)
}
