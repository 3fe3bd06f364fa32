package trace

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// The pace of a cluster, as it is measured on a quiet one.
const (
	// coalesce is how long a change waits for others before the scheduler plans.
	coalesce = pbs.Time(20 * time.Millisecond)
	// answer is how long a mom takes to do what it is ordered.
	answering = pbs.Time(15 * time.Millisecond)
	// leastIdle and mostIdle bound how long the scheduler waits while jobs wait and nothing happens.
	leastIdle = pbs.Time(time.Minute)
	mostIdle  = pbs.Time(10 * time.Minute)
	// sampling is how often moms tell what jobs use, where fair share counts it.
	sampling = pbs.Time(10 * time.Minute)
	// commentsEvery and commentsAtOnce bound what jobs are told of why they wait.
	commentsEvery = pbs.Time(time.Minute)
)

// A planner plans one cycle: *sched.Planner is one.
type planner interface {
	Plan(v *state.View, now pbs.Time) sched.Plan
}

// A life is a job of the workload in the cluster.
type life struct {
	job     *Job
	id      pbs.JobID
	cpus    int64 // that it has asked for
	since   pbs.Time
	begun   pbs.Time // its first start
	started pbs.Time // its present run
	run     pbs.RunCount
	held    int64 // cpus that it has now
	goes    pbs.Time
	ran     time.Duration // of this run, before goes
	on      bool          // its program goes on since goes
	due     int           // number of the event that ends its program
	fills   bool          // it was started past a job for which room was kept
	times   int           // it was preempted
}

// An event is something that is due.
type event struct {
	at  pbs.Time
	seq int
	do  func() []command.Proposal // nil: it plans
	due *life                     // it is the end of this one's program
}

type queue []*event

func (q queue) Len() int { return len(q) }
func (q queue) Less(a, b int) bool {
	return q[a].at < q[b].at || q[a].at == q[b].at && q[a].seq < q[b].seq
}
func (q queue) Swap(a, b int) { q[a], q[b] = q[b], q[a] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*event)) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

// An engine plays a workload.
type engine struct {
	*machine
	planner planner
	source  Source
	next    *Job // of the source; nil: there is none any more

	due     queue
	seq     int
	planned bool // a cycle is due
	lives   map[pbs.JobID]*life
	acked   map[pbs.HostName]uint64      // facts of hosts
	given   map[pbs.HostName]pbs.OrderID // orders that they have got
	session int64

	tick      pbs.Time // the last one
	sampled   pbs.Time
	commented pbs.Time

	shape    shape
	troubles *Troubles
	tally    *tally
	asker    pbs.User
	quit     func() bool
	seen     func(part float64, at pbs.Time) // how far it is; nil: nobody asks
	steps    int
	pending  int  // changes that are to come
	adopts   bool // jobs that no workload knows are taken to run for their walltime
	check    bool // the laws of the state, after every step
}

// ErrInterrupted is the end of a replay of which somebody has had enough.
var ErrInterrupted = errors.New("interrupted")

func newEngine(m *machine, source Source, troubles *Troubles, t *tally) *engine {
	e := &engine{
		machine: m, planner: sched.NewPlanner(), source: source, lives: map[pbs.JobID]*life{}, acked: map[pbs.HostName]uint64{},
		given: map[pbs.HostName]pbs.OrderID{}, troubles: troubles, tally: t, tick: m.at, asker: pbs.User{Name: "Scheduler", Host: serverName},
	}
	e.shape = shapeOf(m.view())
	m.hear = e.heard
	return e
}

// at queues what is to happen then.
func (e *engine) later(at pbs.Time, do func() []command.Proposal) *event {
	e.seq++
	ev := &event{at: at, seq: e.seq, do: do}
	heap.Push(&e.due, ev)
	return ev
}

// wantPlan has the scheduler plan soon.
func (e *engine) wantPlan() {
	if !e.planned {
		e.planned = true
		e.later(e.at+coalesce, nil)
	}
}

// run plays the workload to its end: until no job is left, or none of those that are left can start.
func (e *engine) run() error {
	if err := e.pull(); err != nil {
		return err
	}
	for {
		at, ok := e.nextTime()
		if !ok {
			return nil
		}
		if e.steps++; e.steps%64 == 0 {
			if e.quit != nil && e.quit() {
				return ErrInterrupted
			}
			if e.seen != nil {
				e.seen(e.source.Read(), e.at)
			}
		}
		if err := e.step(at); err != nil {
			return err
		}
		if e.check {
			if err := e.view().CheckLaws(); err != nil {
				return err
			}
		}
	}
}

// pull reads the next job of the source.
func (e *engine) pull() (err error) {
	e.next, err = e.source.Next()
	if errors.Is(err, io.EOF) {
		e.next, err = nil, nil
	}
	return err
}

// nextTime returns when something is due next; false: nothing is, and nothing will be.
func (e *engine) nextTime() (pbs.Time, bool) {
	at := pbs.Time(0)
	soonest := func(t pbs.Time) {
		if at == 0 || t < at {
			at = t
		}
	}
	if len(e.due) > 0 {
		soonest(e.due[0].at)
	}
	if e.next != nil {
		soonest(max(e.at, e.next.Submit))
	}
	if tick, ok := e.nextTick(at != 0); ok {
		soonest(tick)
	}
	return at, at != 0
}

// nextTick returns when the time of the log is to move on, whatever happens. Once nothing else is due it does so for what waits
// for its time, and for jobs for which the scheduler has not found out that they will never start, until idleRounds are over.
func (e *engine) nextTick(alive bool) (pbs.Time, bool) {
	v := e.view()
	waits := v.QueuedCount() > 0
	for j := range v.Due() {
		return min(max(e.at, j.ExecAt), e.regular(waits)), true
	}
	if at, ok := v.NextReservation(); ok {
		return min(max(e.at, at), e.regular(waits)), true
	}
	if !alive && (!waits || e.tally.idle >= idleRounds) {
		return 0, false
	}
	return e.regular(waits), true
}

// idleRounds is how many cycles may start nothing while nothing runs and nothing is due before no job is expected to start any
// more: those of two weeks, so that weekends and holidays pass.
const idleRounds = 14 * 24 * 6

// regular is the next tick of the regular ones, which fall on full minutes of the clock.
func (e *engine) regular(waits bool) pbs.Time {
	every := mostIdle
	if waits {
		every = min(mostIdle, max(leastIdle, pbs.Time(e.view().Server().Int("scheduler_iteration"))*pbs.Time(time.Second)))
	}
	return (e.tick/every + 1) * every
}

// step does all that is due at a time.
func (e *engine) step(at pbs.Time) error {
	e.machine.at = max(at, e.machine.at)
	var all []command.Proposal
	cycle := false
	for len(e.due) > 0 && e.due[0].at <= at {
		ev := heap.Pop(&e.due).(*event)
		switch {
		case ev.do == nil:
			cycle = true
		case ev.due == nil || ev.due.due == ev.seq:
			all = append(all, ev.do()...)
		}
	}
	if t, ok := e.nextTick(true); ok && t <= at {
		all = append(all, e.ticked(at)...)
	}
	submits := len(all)
	var jobs []*Job
	for e.next != nil && e.next.Submit <= at {
		all, jobs = append(all, command.Proposal{Commands: []command.Command{e.submission(e.next)}}), append(jobs, e.next)
		if err := e.pull(); err != nil {
			return err
		}
	}
	if len(all) > 0 {
		outcomes := e.entry(all...)
		for i, out := range outcomes[submits:] {
			e.submitted(jobs[i], out)
		}
		if err := e.refused(all, outcomes[:submits]); err != nil {
			return err
		}
	}
	if cycle {
		e.planned = false
		e.cycle()
	}
	e.deliver()
	return nil
}

// refused tells of what a mom reports, which is never refused.
func (e *engine) refused(all []command.Proposal, outcomes []command.Outcome) error {
	for i, out := range outcomes {
		if out.Refusal != nil {
			return fmt.Errorf("%T: %s", all[i].Commands[0], out.Refusal.Message)
		}
	}
	return nil
}

// ticked moves the time of the log on.
func (e *engine) ticked(at pbs.Time) []command.Proposal {
	e.tick = at
	if e.view().QueuedCount() > 0 {
		e.wantPlan()
	}
	for j := range e.view().Due() {
		if j.ExecAt <= at {
			e.wantPlan()
		}
		break
	}
	all := []command.Proposal{{Commands: []command.Command{&command.TimeTick{}}}}
	if e.view().Server().FairShare() && at >= e.sampled+sampling {
		e.sampled = at
		all = append(all, e.samples(at)...)
	}
	return all
}

// samples are what the hosts tell of the usage of their jobs.
func (e *engine) samples(at pbs.Time) []command.Proposal {
	of := map[pbs.HostName]*command.UsageSample{}
	var hosts []pbs.HostName
	ids := make([]pbs.JobID, 0, len(e.lives))
	for id, l := range e.lives {
		if l.on {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		j, ok := e.view().Job(id)
		if !ok || !j.Live() {
			continue
		}
		s := of[j.Run.MS]
		if s == nil {
			s = &command.UsageSample{Host: j.Run.MS}
			of[j.Run.MS], hosts = s, append(hosts, j.Run.MS)
		}
		s.Jobs = append(s.Jobs, command.JobUsage{Job: id, RunCount: j.RunCount, Used: e.lives[id].used(at)})
	}
	var all []command.Proposal
	for _, h := range hosts {
		all = append(all, command.Proposal{Commands: []command.Command{of[h]}})
	}
	return all
}

// so long a program has run by then.
func (l *life) time(at pbs.Time) time.Duration {
	if !l.on {
		return l.ran
	}
	return l.ran + time.Duration(at-l.goes)
}

// used is what its run has used by then: the cpus that it has asked for are busy all the time.
func (l *life) used(at pbs.Time) resource.List {
	wall := int64(l.time(at) / time.Second)
	return resource.List{
		{Name: "cpupercent", Value: strconv.FormatInt(100*l.cpus, 10)},
		{Name: "cput", Value: resource.Seconds(wall * l.cpus).String()},
		{Name: "mem", Value: strconv.FormatInt(l.job.Mem*l.cpus, 10) + "kb"},
		{Name: "ncpus", Value: strconv.FormatInt(l.cpus, 10)},
		{Name: "vmem", Value: strconv.FormatInt(l.job.Mem*l.cpus, 10) + "kb"},
		{Name: "walltime", Value: resource.Seconds(wall).String()},
	}
}

// submission is the command that queues a job.
func (e *engine) submission(j *Job) *command.SubmitJob {
	list := attr.List{}.Set("Mail_Points", "", "n").Set("euser", "", j.User).Set("egroup", "", orElse(j.Group, "users"))
	add := func(name, res, value string) {
		if value != "" {
			list = list.Set(name, res, value)
		}
	}
	add("project", "", j.Project)
	add("Account_Name", "", j.Account)
	sel, place := e.shape.request(j)
	add("Resource_List", "select", sel)
	add("Resource_List", "place", place)
	if j.Limit > 0 {
		add("Resource_List", "walltime", resource.Seconds(int64(j.Limit/time.Second)).String())
	}
	for _, it := range j.Others {
		// What a record tells beside the select follows from it, but for what is the job's as a whole.
		switch def, known := e.view().Resource(it.Name); {
		case it.Name == "place", it.Name == "nodect":
		case !known:
			e.troubles.add(j.File, j.Line, "unknown resource "+it.Name, ", which is left out", false)
		case j.Select == "" || !def.AtHost():
			add("Resource_List", it.Name, it.Value)
		}
	}
	if j.Eligible > j.Submit {
		add("Execution_Time", "", strconv.FormatInt(j.Eligible.Unix(), 10))
	}
	name := "job" + j.Name
	add("Job_Name", "", name[:min(len(name), 230)])
	queue := pbs.QueueName(j.Queue)
	if _, ok := e.view().Queue(queue); j.Queue != "" && !ok {
		e.tally.noQueue[j.Queue]++
		queue = ""
	}
	return &command.SubmitJob{Owner: pbs.User{Name: j.User, Host: serverName}, Queue: queue, Attributes: list}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (e *engine) submitted(j *Job, out command.Outcome) {
	e.tally.submitted++
	if out.Refusal != nil {
		e.tally.refused++
		e.troubles.add(j.File, j.Line, "refused: "+out.Refusal.Message, "", true)
		return
	}
	l := &life{job: j, id: out.Result.Job, since: max(j.Submit, j.Eligible)}
	if q, ok := e.view().Job(l.id); ok {
		l.cpus = cpusOf(q)
		e.lives[l.id] = l
		e.tally.queued(l, q, e.machine.at)
	}
	e.wantPlan()
}

// cpusOf is how many cpus a job has asked for.
func cpusOf(j *state.Job) int64 {
	text, _ := j.Resources.Get("ncpus")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// cycle has the scheduler plan, and what it has planned come about.
func (e *engine) cycle() {
	v := e.view()
	if v.QueuedCount() == 0 && !e.suspensions() && !e.reserves() {
		return
	}
	plan := e.planner.Plan(v, v.Now())
	e.tally.cycles++
	for _, d := range plan.Decisions {
		_ = e.do(d) // a refusal is an old plan: the next one is newer
	}
	for _, p := range plan.Preempts {
		if e.propose(&command.PreemptJob{Job: p.Job, RunCount: p.RunCount, Method: p.Method, For: p.For}) == nil {
			e.tally.preempted(p.Method)
			if l := e.lives[p.Job]; l != nil {
				l.times++
			}
		}
	}
	some := e.start(v, plan.Starts)
	for _, id := range plan.Resumes {
		_ = e.propose(&command.SignalJob{Job: id, Signal: command.Resume, Scheduled: true})
	}
	e.comment(plan.Comments)
	if plan.More {
		e.wantPlan()
	}
	if again := max(plan.Again, plan.Paused); again > e.at {
		e.later(again, func() []command.Proposal { e.wantPlan(); return nil })
	}
	e.tally.round(some || len(e.due) > 0 || e.next != nil)
}

func (e *engine) propose(c command.Command) error {
	return e.entry(command.Proposal{Asker: e.asker, Commands: []command.Command{c}})[0].Err()
}

func (e *engine) suspensions() bool {
	for range e.view().Suspensions() {
		return true
	}
	return false
}

func (e *engine) reserves() bool {
	for range e.view().Reservations() {
		return true
	}
	return false
}

// start proposes starts, and tells whether any of them took effect.
func (e *engine) start(v *state.View, starts []sched.Start) bool {
	if len(starts) == 0 {
		return false
	}
	all := make([]command.Proposal, len(starts))
	for i, s := range starts {
		all[i] = command.Proposal{Asker: e.asker, Commands: []command.Command{s.Command(v, true)}}
		if l := e.lives[s.Job]; l != nil {
			l.fills = s.Backfills
		}
	}
	some := false
	for _, out := range e.entry(all...) {
		some = some || out.Refusal == nil
	}
	return some
}

// comment tells jobs why they wait, as often as in production.
func (e *engine) comment(comments []sched.Comment) {
	if len(comments) == 0 || e.at < e.commented+commentsEvery {
		return
	}
	e.commented = e.at
	told := &command.SetWaits{}
	for _, c := range comments {
		told.Add(command.JobWait{Job: c.Job, Start: c.Start, ExecVnode: c.ExecVnode}, c.Why)
	}
	_ = e.propose(told)
}

// deliver brings orders to hosts, which answer after a while.
func (e *engine) deliver() {
	v := e.view()
	for host := range v.HostsWithOrders() {
		for o := range v.Orders(host) {
			if o.ID <= e.given[host] && e.given[host] != 0 {
				continue
			}
			e.given[host] = o.ID
			e.later(e.at+answering, func() []command.Proposal { return e.obey(o) })
		}
	}
}

// fact is the next thing that a host reports.
func (e *engine) fact(host pbs.HostName) command.Source {
	if _, known := e.acked[host]; !known {
		if h, ok := e.view().Host(host); ok {
			e.acked[host] = h.Acked
		}
	}
	e.acked[host]++
	return command.Source{Host: host, Spool: e.spoolOf(host), Seq: e.acked[host]}
}

func (e *engine) spoolOf(host pbs.HostName) string {
	if h, ok := e.view().Host(host); ok {
		return h.SpoolID
	}
	return spool
}

// obey does what a host was ordered, and returns what it reports.
func (e *engine) obey(o *state.Order) []command.Proposal {
	if _, open := e.view().OpenOrder(o.Host, o.ID); !open {
		return nil
	}
	if h, ok := e.view().Host(o.Host); !ok || !h.Up {
		return nil // nobody hears it
	}
	confirmed := &command.OrderConfirmed{Host: o.Host, Order: o.ID}
	all := []command.Proposal{{Commands: []command.Command{confirmed}}}
	j, ok := e.view().Job(o.Job)
	present := ok && j.Is(o.RunCount)
	l := e.lives[o.Job]
	if l == nil && present && e.adopts {
		l = e.adopt(j)
	}
	switch o.Kind {
	case state.OrderRun:
		if !present || l == nil {
			return all
		}
		e.session++
		all = append(all, command.Proposal{Commands: []command.Command{&command.JobStarted{Source: e.fact(o.Host), Job: o.Job, RunCount: o.RunCount, Session: e.session}}})
		e.begin(l, j)
	case state.OrderSignal:
		switch {
		case !present || l == nil:
		case o.Signal == command.Suspend || o.Signal == command.AdminSuspend:
			l.ran, l.on, l.due = l.time(e.at), false, 0
			e.wantPlan()
		case o.Signal == command.Resume || o.Signal == command.AdminResume:
			e.goOn(l, e.at)
		}
	case state.OrderKill:
		end := &command.JobEnded{Source: e.fact(o.Host), Job: o.Job, RunCount: o.RunCount, ExitStatus: killed}
		if present && j.Run.MS == o.Host && l != nil {
			end.Used, l.due = l.used(e.at), 0
			l.ran, l.on = l.time(e.at), false
		}
		all = append(all, command.Proposal{Commands: []command.Command{end}})
		e.wantPlan()
	case state.OrderCheckpoint:
		confirmed.Refusal = pbs.Refuse(pbs.NotSupported) // no host has a script for it
		e.wantPlan()
	}
	return all
}

// killed is the exit status of a program that SIGTERM has ended.
const killed = 256 + 15

// begin starts the program of a run, at the time at which its vnodes were given to it.
func (e *engine) begin(l *life, j *state.Job) {
	l.run, l.ran = j.RunCount, 0
	e.goOn(l, j.Started)
}

// goOn lets the program of a job go on since a time, until it ends or has had its walltime.
func (e *engine) goOn(l *life, since pbs.Time) {
	l.goes, l.on = since, true
	left, limited := l.job.Runs-l.ran, false
	if j, ok := e.view().Job(l.id); ok {
		if text, has := j.Resources.Get("walltime"); has {
			if q, err := resource.Parse(resource.Time, text); err == nil && q.Int() < int64(longestRun/time.Second) {
				if most := time.Duration(q.Int())*time.Second - l.ran; most < left {
					left, limited = most, true
				}
			}
		}
	}
	at := max(since+pbs.Time(left), e.at+1)
	ev := e.later(at, func() []command.Proposal { return e.ended(l, limited) })
	ev.due, l.due = l, ev.seq
}

// ended is the end of a program.
func (e *engine) ended(l *life, limited bool) []command.Proposal {
	j, ok := e.view().Job(l.id)
	if !ok || !j.Is(l.run) {
		return nil
	}
	end := &command.JobEnded{Source: e.fact(j.Run.MS), Job: l.id, RunCount: l.run, ExitStatus: l.job.Exit, Used: l.used(e.at)}
	if limited {
		end.ExitStatus = pbs.ExitWalltime
		e.tally.limited++
	}
	l.ran, l.on, l.due = l.time(e.at), false, 0
	e.wantPlan()
	return []command.Proposal{{Commands: []command.Command{end}}}
}

// heard notes what the entries give rise to.
func (e *engine) heard(events []state.Event) {
	for _, ev := range events {
		if ev.Job == nil {
			continue
		}
		if l := e.lives[ev.Job.ID]; l != nil && e.tally.event(l, ev) {
			delete(e.lives, l.id)
		}
	}
}
