package lsf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// chosen is how bkill, bstop and bresume are told which jobs they are to change.
const chosen = `[-J job_name] [-m host_name] [-q queue_name] [-u user_name | -u all]
             [job_ID | "job_ID[index_list]" | 0] ...
`

func bkill() *cli.Command {
	g := cli.Grammar{Letters: "rs:J:m:q:u:", Dashed: map[string]bool{"stat": true, "app": true, "g": true, "sla": true, "C": true, "d": false, "l": false, "b": false}}
	return command("bkill", "end jobs", "bkill [-h] [-V] [-r | -s signal] "+chosen, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "stat", "app", "g", "sla", "C", "d", "l", "b"); err != nil {
			return err
		}
		if !opts.Has("s") {
			return s.each(ctx, opts, "terminated", func(ctx context.Context, j job) error {
				_, err := s.batch.Delete(ctx, connect.NewRequest(&api.DeleteRequest{Job: j.Name, Force: opts.Has("r")}))
				return err
			})
		}
		signal := strings.TrimPrefix(strings.ToUpper(opts.Last("s")), "SIG")
		switch signal {
		case "KILL":
			return s.each(ctx, opts, "terminated", func(ctx context.Context, j job) error {
				_, err := s.batch.Delete(ctx, connect.NewRequest(&api.DeleteRequest{Job: j.Name}))
				return err
			})
		case "STOP", "TSTP":
			return s.each(ctx, opts, "stopped", s.stop)
		case "CONT":
			return s.each(ctx, opts, "resumed", s.resume)
		}
		return s.each(ctx, opts, "signaled", func(ctx context.Context, j job) error {
			_, err := s.batch.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: j.Name, Signal: signal}))
			return err
		})
	})
}

func bstop() *cli.Command {
	g := cli.Grammar{Letters: "aJ:m:q:u:", Dashed: map[string]bool{"app": true, "g": true, "sla": true, "C": true, "d": false}}
	return command("bstop", "suspend jobs", "bstop [-h] [-V] "+chosen, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "app", "g", "sla", "C", "d", "a"); err != nil {
			return err
		}
		return s.each(ctx, opts, "stopped", s.stop)
	})
}

func bresume() *cli.Command {
	g := cli.Grammar{Letters: "J:m:q:u:", Dashed: map[string]bool{"app": true, "g": true, "sla": true, "C": true}}
	return command("bresume", "resume jobs that are suspended", "bresume [-h] [-V] "+chosen, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "app", "g", "sla", "C"); err != nil {
			return err
		}
		return s.each(ctx, opts, "resumed", s.resume)
	})
}

func refuseOptions(opts *cli.Options, names ...string) error {
	for _, name := range names {
		if opts.Has(name) {
			return refusedOption(name, "")
		}
	}
	return nil
}

// stop holds a job that waits, and suspends one that runs. Of an array that has begun it does both.
func (s *session) stop(ctx context.Context, j job) error {
	if j.pending() || j.isArray() {
		if j.index() != 0 {
			return ofWholeArray(j, "stopped")
		}
		_, err := s.batch.Hold(ctx, connect.NewRequest(&api.HoldRequest{Job: j.Name, Holds: "u"}))
		if err != nil || !j.isArray() {
			return err
		}
		return s.those(ctx, j, "suspend")
	}
	_, err := s.batch.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: j.Name, Signal: "suspend", Lsf: true}))
	return err
}

// resume undoes it.
func (s *session) resume(ctx context.Context, j job) error {
	if j.pending() || j.isArray() {
		if j.index() != 0 {
			return ofWholeArray(j, "resumed")
		}
		if j.isArray() { // before others of it may take what they wait for
			if err := s.those(ctx, j, "resume"); err != nil {
				return err
			}
		}
		_, err := s.batch.Release(s.next(ctx), connect.NewRequest(&api.ReleaseRequest{Job: j.Name, Holds: "u"}))
		return err
	}
	_, err := s.batch.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: j.Name, Signal: "resume", Lsf: true}))
	return err
}

// those suspends or resumes the jobs of an array that have started, if there are any.
func (s *session) those(ctx context.Context, array job, signal string) error {
	_, err := s.batch.Signal(s.next(ctx), connect.NewRequest(&api.SignalRequest{Job: array.Name, Signal: signal, Lsf: true}))
	if refusedWith(err, pbs.BadState) {
		return nil
	}
	return err
}

// ofWholeArray refuses to hold or release a job of an array that has not started: holds are the array's.
func ofWholeArray(j job, done string) error {
	return pbs.Errorf(pbs.NotSupported, "A job of an array that has not started is %s with the whole array only: <%s>", done, j.array())
}

// each is tellEach of what is under way when the command ends.
func (s *session) each(ctx context.Context, opts *cli.Options, done string, change func(context.Context, job) error) error {
	return s.tellEach(ctx, opts, "is being "+done, change)
}

// tellEach changes the jobs that are named, or all that the options choose. What becomes of them is told
// of each.
func (s *session) tellEach(ctx context.Context, opts *cli.Options, done string, change func(context.Context, job) error) error {
	everything := slices.Contains(opts.Operands, "0")
	choosing := opts.Has("J") || opts.Has("m") || opts.Has("q") || opts.Has("u")
	if len(opts.Operands) == 0 && !choosing {
		return s.command.Misuse("Job ID must be specified")
	}
	if len(opts.Operands) > 0 && !everything {
		for _, operand := range opts.Operands {
			if err := s.one(ctx, operand, done, change); err != nil {
				return err
			}
		}
		return nil
	}
	jobs, err := s.unfinished(ctx, opts)
	if err != nil {
		return err
	}
	matching := false
	for _, j := range jobs {
		err := s.change(ctx, j.id, done, func(ctx context.Context) error { return chosenChange(change(ctx, j)) })
		if err != nil && !errors.Is(err, errEnded) {
			return err
		}
		matching = matching || err == nil
	}
	if !matching {
		return told("No matching job found")
	}
	return nil
}

// errEnded is what becomes of a change of a job that has ended since it was listed.
var errEnded = errors.New("the job has ended")

// chosenChange returns the outcome of the change of a job that nobody has named: one that has ended meanwhile is none of those that
// were meant.
func chosenChange(err error) error {
	if refusedWith(err, pbs.HasFinished) || refusedWith(err, pbs.UnknownJob) {
		return errEnded
	}
	return err
}

// unfinished returns the jobs that the options choose, one's own unless -u says otherwise.
func (s *session) unfinished(ctx context.Context, opts *cli.Options) ([]job, error) {
	r := &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Attributes: jobAttributes,
		Where: []*api.Criterion{{Name: "job_state", Value: lsf.Letters(unfinished...)}},
	}
	if users := strings.Fields(opts.Last("u")); !slices.Contains(users, "all") {
		r.Where = append(r.Where, &api.Criterion{Name: "Job_Owner", Value: strings.Join(users, ",")})
	}
	if opts.Has("q") {
		r.Queues = []string{opts.Last("q")}
	}
	r.Subjobs = opts.Has("J") && strings.HasSuffix(opts.Last("J"), "]")
	var all []job
	_, err := s.list(ctx, r, func(o *api.Object) error {
		j := newJob(o)
		if r.Subjobs && j.isArray() {
			return nil
		}
		onHost := !opts.Has("m") || slices.ContainsFunc(j.shares(), func(x share) bool { return x.host == opts.Last("m") })
		if onHost && (!opts.Has("J") || matchesName(opts.Last("J"), j)) {
			all = append(all, j)
		}
		return nil
	})
	if refusedWith(err, pbs.UnknownQueue) {
		return nil, told(opts.Last("q") + ": No such queue")
	}
	return all, err
}

// one changes the job of an operand. Of an array that runs each job is changed by itself, as LSF does.
func (s *session) one(ctx context.Context, operand, done string, change func(context.Context, job) error) error {
	jobs, err := s.jobsOf(ctx, operand, jobAttributes)
	if err != nil || len(jobs) == 0 {
		return err
	}
	if several(operand) {
		return ofArray(ctx, s, operand, jobs, done, change)
	}
	return s.change(ctx, operand, done, func(ctx context.Context) error {
		for _, j := range jobs {
			if err := change(ctx, j); err != nil {
				return err
			}
		}
		return nil
	})
}

// jobsOf returns the jobs of an operand with some attributes, nil: all of them. If there are none it says so.
func (s *session) jobsOf(ctx context.Context, operand string, attributes []string) (jobs []job, err error) {
	id := trimmed(operand)
	if id == "" {
		s.complain(fmt.Sprintf("%s: Illegal job ID.", operand))
		return nil, nil
	}
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: names(id), Attributes: attributes, History: true}
	_, err = s.list(ctx, r, func(o *api.Object) error {
		if o.Refusal == nil {
			jobs = append(jobs, newJob(o))
		}
		return nil
	})
	if err == nil && len(jobs) == 0 {
		s.complain(fmt.Sprintf("Job <%s>: No matching job found", operand))
	}
	return jobs, err
}

// change does one change and tells of it. It returns an error only if it is no use to go on.
func (s *session) change(ctx context.Context, id, done string, do func(context.Context) error) error {
	err := do(s.next(ctx))
	if err == nil {
		_, err = fmt.Fprintf(s.env.Stdout, "Job <%s> %s\n", id, done)
		return err
	}
	var r *pbs.Error
	if !errors.As(err, &r) || s.explain(err).Fatal {
		return err
	}
	s.complain(fmt.Sprintf("Job <%s>: %s", id, refusalWords(r)))
	return nil
}

// refusalWords are LSF's words for why a job was not changed.
func refusalWords(r *pbs.Error) string {
	switch r.Code {
	case pbs.UnknownJob:
		return "No matching job found"
	case pbs.HasFinished:
		return "Job has already finished"
	case pbs.Unauthorized:
		return "User permission denied"
	case pbs.BadState:
		return "Job has not started yet, or is in a state in which this cannot be done"
	case pbs.BadSignal:
		return "Unknown signal"
	}
	return cmp.Or(r.Message, fmt.Sprintf("error %d", r.Code))
}
