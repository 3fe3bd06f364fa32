package lsf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rampart/cli"
	"rampart/cli/timeline"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

const bhistUsage = `bhist [-h] [-V] [-a] [-d] [-e] [-p] [-r] [-s] [-w | -l [-UF]] [-n days]
             [-J job_name] [-m host_name] [-q queue_name]
             [-u user_name ... | -u all] [job_ID | "job_ID[index]" ...]
`

func bhist() *cli.Command {
	g := cli.Grammar{Letters: "adeprswlbtJ:m:q:u:n:P:f:N:C:D:S:T:", Dashed: map[string]bool{"UF": false, "app": true, "hostfile": false, "sla": true, "cname": false}}
	return command("bhist", "show what became of jobs, from accounting", bhistUsage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "b", "t", "P", "f", "N", "C", "D", "S", "T", "app", "hostfile", "sla", "cname"); err != nil {
			return err
		}
		h, err := newHistory(s, opts)
		if err != nil {
			return err
		}
		return h.show(ctx, opts)
	})
}

// A history is what bhist was asked to show.
type history struct {
	*jobsView
	cluster apiconnect.ClusterClient
	arrays  map[string]*timeline.Job // by their ids; nil: accounting has none
	days    uint32                   // how far to look back for jobs that the server knows no more; 0: a week
}

func newHistory(s *session, opts *cli.Options) (*history, error) {
	v, err := newJobsView(s, opts)
	if err != nil {
		return nil, err
	}
	h := &history{jobsView: v}
	if opts.Has("e") {
		v.finished, v.states = true, append(v.states, lsf.Exited)
	}
	if text := opts.Last("n"); text != "" {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, told(fmt.Sprintf("%s: -n %s: expected for how many days accounting is to be searched, 0 for a week", s.command.Name, text))
		}
		h.days = uint32(n)
	}
	h.cluster, err = s.env.Cluster(s.target)
	return h, err
}

// show tells of the jobs of the operands, or of those that the options choose.
func (h *history) show(ctx context.Context, opts *cli.Options) error {
	var jobs []job
	var err error
	if len(opts.Operands) > 0 {
		jobs, err = h.operands(ctx, opts.Operands)
	} else {
		jobs, err = h.chosen(ctx)
	}
	if err != nil {
		return err
	}
	if h.long {
		if err := h.learn(ctx); err != nil {
			return err
		}
	}
	lacking, err := h.each(ctx, jobs, h.tell)
	if err != nil {
		return err
	}
	if h.count == 0 && h.status == 0 {
		return told("No matching job found")
	}
	return h.end(lacking)
}

// each tells of each job that accounting knows; lacking: it does not know the latest yet.
func (h *history) each(ctx context.Context, jobs []job, tell func(job, *timeline.Job)) (lacking bool, err error) {
	for _, j := range jobs {
		t, late, err := h.read(ctx, j.Name)
		if refusedWith(err, pbs.Unauthorized) {
			_ = h.out.Flush()
			h.complain(fmt.Sprintf("Job <%s>: User permission denied", j.id))
			continue
		}
		if err != nil {
			return false, err
		}
		if t == nil && j.get("array_index") != "" {
			t, err = h.ofArray(ctx, j)
		}
		if err != nil {
			return false, err
		}
		lacking = lacking || late
		if t == nil {
			_ = h.out.Flush()
			h.complain(fmt.Sprintf("Job <%s>: No matching job found", j.id))
			continue
		}
		tell(j, t)
	}
	return lacking, nil
}

// end ends the output.
func (h *history) end(lacking bool) error {
	if err := h.out.Flush(); err != nil {
		return err
	}
	if lacking {
		fmt.Fprintln(h.env.Stderr, h.command.Name+": the latest records are not in the files of this replica yet")
	}
	return nil
}

// operands returns the jobs of operands; of those that the server knows no more only their names.
func (h *history) operands(ctx context.Context, operands []string) (jobs []job, err error) {
	for _, operand := range operands {
		id := trimmed(operand)
		if id == "" {
			h.complain(fmt.Sprintf("%s: Illegal job ID.", operand))
			continue
		}
		r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: names(id), Subjobs: true, History: true, Attributes: h.attributes()}
		before := len(jobs)
		if _, err := h.list(ctx, r, func(o *api.Object) error {
			if j := newJob(o); o.Refusal == nil && !j.isArray() {
				jobs = append(jobs, j)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		if len(jobs) == before {
			jobs = append(jobs, job{Object: &api.Object{Name: id}, id: id})
		}
	}
	return jobs, nil
}

// attributes returns which ones of a job are shown, nil: all.
func (h *history) attributes() []string {
	if h.long {
		return nil
	}
	return jobAttributes
}

// chosen returns the jobs that the options choose: without any, one's own that are not over.
func (h *history) chosen(ctx context.Context) (jobs []job, err error) {
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Subjobs: true, History: h.finished, Attributes: h.attributes()}
	if h.queue != "" {
		r.Queues = []string{h.queue}
	}
	if !h.everyone {
		r.Where = append(r.Where, &api.Criterion{Name: "Job_Owner", Value: h.users})
	}
	_, err = h.list(ctx, r, func(o *api.Object) error {
		if j := newJob(o); h.wants(j) {
			jobs = append(jobs, j)
		}
		return nil
	})
	if refusedWith(err, pbs.UnknownQueue) {
		return nil, told(h.queue + ": No such queue")
	}
	return jobs, err
}

// read asks for the records of a job; nil: accounting has none.
func (h *history) read(ctx context.Context, id string) (t *timeline.Job, lacking bool, err error) {
	head, lines, err := cli.JobRecords(ctx, h.cluster, id, h.days)
	switch {
	case errors.Is(err, pbs.Refuse(pbs.UnknownJob)):
		return nil, false, nil
	case err != nil:
		return nil, false, err
	case len(lines) == 0:
		return nil, false, nil
	}
	zone, err := time.LoadLocation(head.GetZone())
	if err != nil { // this host does not know it
		zone = h.env.Zone
	}
	return timeline.Read(head.GetJob(), lines, zone, time.Unix(head.GetNow(), 0)), head.GetLacking(), nil
}

// ofArray returns what befell a job of an array that has no records of its own: it has not started, and waits since the array came, until
// somebody deletes that. Of one that was deleted alone nobody knows when; nil.
func (h *history) ofArray(ctx context.Context, j job) (*timeline.Job, error) {
	number, rest, _ := strings.Cut(j.Name, "[")
	_, server, _ := strings.Cut(rest, "]")
	id := number + "[]" + server
	a, known := h.arrays[id]
	if !known {
		var err error
		if a, _, err = h.read(ctx, id); err != nil {
			return nil, err
		}
		if h.arrays == nil {
			h.arrays = map[string]*timeline.Job{}
		}
		h.arrays[id] = a
	}
	if a == nil {
		return nil, nil
	}
	left := a.Left
	if n := len(a.Runs); n > 0 {
		left = a.Runs[n-1].End
	}
	if j.finished() && left.IsZero() {
		return nil, nil
	}
	return &timeline.Job{ID: j.Name, Name: a.Name, User: a.User, Queue: a.Queue, Queued: a.Queued, Left: left, Now: a.Now}, nil
}

// tell writes the story of one job.
func (h *history) tell(j job, t *timeline.Job) {
	h.count++
	if j.user == "" { // accounting alone knows it
		j.user = t.User
	}
	name := t.Name
	if len(j.Attributes) > 0 {
		name = j.name()
	}
	if h.long {
		h.story(j, t)
		h.summary(t)
		return
	}
	if h.count == 1 {
		h.out.WriteString("Summary of time in seconds spent in various states:\n" +
			"JOBID   USER    JOB_NAME  PEND    PSUSP   RUN     USUSP   SSUSP   UNKWN   TOTAL\n")
	}
	user := j.user
	if !h.wide {
		user, name = fmt.Sprintf("%.7s", user), lastOf(name, 9)
	}
	s := spent(t)
	fmt.Fprintf(h.out, "%-7s %-7s %-9s %-7d %-7d %-7d %-7d %-7d %-7d %d\n", j.id, user, name, s.pending, 0, s.running, s.suspended, s.stopped, 0, s.total())
}

// lastOf returns the end of a text that is too wide, behind an asterisk.
func lastOf(text string, width int) string {
	if len(text) <= width {
		return text
	}
	return "*" + text[len(text)-width+1:]
}

// times are seconds that a job has spent in its states; stopped: suspended by load. A hold is not in accounting: who is held waits.
type times struct{ pending, running, suspended, stopped int64 }

func (s times) total() int64 { return s.pending + s.running + s.suspended + s.stopped }

func spent(t *timeline.Job) (s times) {
	seconds := func(from, to time.Time) int64 {
		if from.IsZero() || !to.After(from) {
			return 0
		}
		return int64(to.Sub(from) / time.Second)
	}
	waits := t.Queued
	for i := range t.Runs {
		run := &t.Runs[i]
		s.pending += seconds(waits, run.Start)
		end := run.End
		if end.IsZero() {
			end = t.Now
		}
		var suspended, stopped int64
		for _, x := range run.Suspended {
			until := x.End
			if until.IsZero() {
				until = end
			}
			if x.Load != "" {
				stopped += seconds(x.Start, until)
				continue
			}
			suspended += seconds(x.Start, until)
		}
		s.suspended, s.stopped = s.suspended+suspended, s.stopped+stopped
		s.running += seconds(run.Start, end) - suspended - stopped
		waits = run.End
		if _, over := run.Exited(); over {
			waits = time.Time{}
		}
	}
	if !t.Left.IsZero() {
		s.pending += seconds(waits, t.Left)
	} else {
		s.pending += seconds(waits, t.Now)
	}
	return s
}

// story tells what befell a job.
func (h *history) story(j job, t *timeline.Job) {
	if h.count > 1 {
		h.out.WriteString(separator)
	}
	h.out.WriteByte('\n')
	known := len(j.Attributes) > 0
	if known {
		text := fmt.Sprintf("Job <%s>", j.id)
		if j.named() {
			text += fmt.Sprintf(", Job Name <%s>", j.name())
		}
		h.line(text + fmt.Sprintf(", User <%s>, Project <%s>, Command <%s>", j.user, projectOf(j), j.command()))
		h.submitted(j)
	} else {
		h.line(fmt.Sprintf("Job <%s>, User <%s>, Command <%s>", j.id, j.user, t.Name))
		h.event(t.Queued, "Submitted to Queue <%s>;", t.Queue)
	}
	for _, e := range events(t) {
		h.event(e.At, "%s;", e.Text)
	}
}

// summary writes for how long a job was in its states.
func (h *history) summary(t *timeline.Job) {
	s := spent(t)
	fmt.Fprintf(h.out, "\nSummary of time in seconds spent in various states by  %s\n", t.Now.Format(historyTime))
	h.out.WriteString("  PEND     PSUSP    RUN      USUSP    SSUSP    UNKWN    TOTAL\n")
	fmt.Fprintf(h.out, "  %-8d %-8d %-8d %-8d %-8d %-8d %d\n", s.pending, 0, s.running, s.suspended, s.stopped, 0, s.total())
}

// events returns what befell a job, in the order of time.
func events(t *timeline.Job) []timeline.Event {
	var all []timeline.Event
	add := func(at time.Time, format string, args ...any) {
		all = append(all, timeline.Event{At: at, Text: fmt.Sprintf(format, args...)})
	}
	for _, e := range t.Events {
		add(e.At, "%s", sentence(e.Text))
	}
	for i := range t.Runs {
		run := &t.Runs[i]
		for k, p := range run.Phases {
			words := slotsByHost(p.Vnodes)
			switch {
			case k > 0:
				add(p.Start, "Resized to %s", words)
			case run.Number > 1:
				add(p.Start, "Dispatched again to %s", words)
			default:
				add(p.Start, "Dispatched to %s", words)
			}
		}
		for _, x := range run.Suspended {
			add(x.Start, "%s", haltWords(x))
			if !x.End.IsZero() && x.End != run.End {
				add(x.End, "Running")
			}
		}
		if run.End.IsZero() {
			continue
		}
		cpu := secondsOf(run.Used["cput"])
		switch status, over := run.Exited(); {
		case over && status == 0:
			add(run.End, "Done successfully. The CPU time used is %.1f seconds", float64(cpu))
		case over:
			add(run.End, "%s. The CPU time used is %.1f seconds", statusWords(status), float64(cpu))
		default:
			add(run.End, "%s", sentence(run.Ending))
		}
	}
	slices.SortStableFunc(all, func(a, b timeline.Event) int { return a.At.Compare(b.At) })
	return all
}

// haltWords tells that a job was suspended, and by what load.
func haltWords(x timeline.Halt) string {
	host, indices, ok := strings.Cut(x.Load, ":")
	if !ok {
		return "Suspended"
	}
	return "Suspended on <" + host + ">: " + strings.TrimSuffix(lsf.ReasonStopped(strings.Split(indices, "+")), ";")
}

// sentence begins a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// slotsByHost says what a job has of hosts: "<hosta>", "8 Host(s)/Processor(s) <4*hosta> <4*hostb>".
func slotsByHost(vnodes []timeline.Share) string {
	var all []share
	total := 0
	for _, v := range vnodes {
		host := hostOfVnode(v.Vnode)
		total += int(v.NCPUs)
		if k := slices.IndexFunc(all, func(s share) bool { return s.host == host }); k >= 0 {
			all[k].slots += int(v.NCPUs)
			continue
		}
		all = append(all, share{host, int(v.NCPUs)})
	}
	words := "<" + shown(all, "> <") + ">"
	if total > 1 {
		return fmt.Sprintf("%d Task(s) on Host(s) %s", total, words)
	}
	return words
}
