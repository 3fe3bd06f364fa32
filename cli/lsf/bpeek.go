package lsf

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/pause"
)

const bpeekUsage = `bpeek [-h] [-V] [-f] [-q queue_name] [-m host_name] [-J job_name]
             [job_ID | "job_ID[index]"]
`

// peekEvery is the pause after which bpeek -f connects again when its connection has broken.
const peekEvery = time.Second

func bpeek() *cli.Command {
	return command("bpeek", "show what a job that runs has written", bpeekUsage, cli.Grammar{Letters: "fq:m:J:", Dashed: map[string]bool{"g": true}},
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if err := refuseOptions(opts, "g"); err != nil {
				return err
			}
			j, err := toPeek(ctx, s, opts)
			if err != nil || j.Object == nil {
				return err
			}
			switch {
			case j.finished():
				return told(fmt.Sprintf("Job <%s> : Already finished.", j.id))
			case j.pending():
				return told(fmt.Sprintf("Job <%s> : Not yet started.", j.id))
			case j.get("interactive") == "True":
				return told(fmt.Sprintf("Job <%s> : Cannot bpeek an interactive job.", j.id))
			}
			p := &peeking{session: s, job: j, out: bufio.NewWriter(s.env.Stdout)}
			if opts.Has("f") {
				return p.follow(ctx)
			}
			return p.run(ctx)
		})
}

// toPeek returns the job that is named, or the one that was submitted last of those that the options choose. None: it has said so.
func toPeek(ctx context.Context, s *session, opts *cli.Options) (job, error) {
	attributes := append(slices.Clone(jobAttributes), "interactive")
	switch {
	case len(opts.Operands) > 1:
		return job{}, s.command.Misuse("one job is shown at a time")
	case len(opts.Operands) == 1:
		jobs, err := s.jobsOf(ctx, opts.Operands[0], attributes)
		if err != nil || len(jobs) == 0 {
			return job{}, err
		}
		if len(jobs) > 1 || jobs[0].isArray() {
			return job{}, told(fmt.Sprintf("Job <%s>: it is an array: say which of its jobs, as in \"%s[1]\"", opts.Operands[0], jobNumber(jobs[0].Name)))
		}
		return jobs[0], nil
	}
	all, err := s.unfinished(ctx, opts)
	if err != nil {
		return job{}, err
	}
	all = slices.DeleteFunc(all, job.isArray)
	if len(all) == 0 {
		return job{}, told("No matching job found")
	}
	slices.Reverse(all) // of those of one second the one with the greatest number
	last := slices.MaxFunc(all, func(a, b job) int { return number(a.get("ctime")) - number(b.get("ctime")) })
	jobs, err := s.jobsOf(ctx, last.id, attributes)
	if err != nil || len(jobs) == 0 {
		return job{}, err
	}
	return jobs[0], nil
}

// A peeking shows the output of a job.
type peeking struct {
	*session
	job  job
	out  *bufio.Writer
	at   [2]int64 // how much of standard output and standard error was shown
	errs bool     // standard error is a file of its own
}

func (p *peeking) run(ctx context.Context) error {
	if _, err := io.WriteString(p.out, "<< output from stdout >>\n"); err != nil {
		return err
	}
	if err := p.rest(ctx, 0); err != nil {
		return peekFailure(p.job, err)
	}
	if p.errs {
		fmt.Fprint(p.out, "\n<< output from stderr >>\n")
		if err := p.rest(ctx, 1); err != nil {
			return peekFailure(p.job, err)
		}
	}
	return p.out.Flush()
}

// follow shows what the job writes until it is over.
func (p *peeking) follow(ctx context.Context) error {
	for begun := false; ; {
		over, err := p.pieces(ctx, &begun)
		if failed := p.out.Flush(); over || failed != nil {
			return failed
		}
		switch {
		case ctx.Err() != nil:
			return nil // whoever looked has seen enough
		case !begun:
			return peekFailure(p.job, err)
		case !cli.Passing(err): // it is over, or was sent back to the queue
			return nil
		}
		if !pause.For(ctx, peekEvery) || !p.lives(ctx) {
			return nil
		}
	}
}

// pieces shows what comes by one connection, and reports whether that was all. begun says that the run was found.
func (p *peeking) pieces(ctx context.Context, begun *bool) (over bool, err error) {
	r := &api.FollowOutputRequest{Job: p.job.Name, Output: p.at[0], Error: p.at[1]}
	stream, err := p.batch.FollowOutput(ctx, connect.NewRequest(r))
	if err != nil {
		return false, err
	}
	defer stream.Close()
	for stream.Receive() {
		if !*begun {
			*begun = true
			fmt.Fprint(p.out, "<< output from stdout >>\n")
		}
		m, of := stream.Msg(), 0
		if m.GetError() {
			of = 1
			if !p.errs {
				p.errs = true
				fmt.Fprint(p.out, "\n<< output from stderr >>\n")
			}
		}
		p.at[of] = m.GetNext()
		_, _ = p.out.Write(m.GetData()) // Flush tells of an error
		if err := p.out.Flush(); err != nil {
			return true, err
		}
	}
	return stream.Err() == nil, stream.Err()
}

// rest shows what there is of a stream that was not shown yet.
func (p *peeking) rest(ctx context.Context, stream int) error {
	for {
		reply, err := p.batch.Peek(ctx, connect.NewRequest(&api.PeekRequest{Job: p.job.Name, Error: stream == 1, Offset: p.at[stream]}))
		if err != nil {
			return err
		}
		p.errs = reply.Msg.GetApart()
		p.at[stream] = reply.Msg.GetNext()
		if len(reply.Msg.GetData()) == 0 {
			return nil
		}
		if _, err := p.out.Write(reply.Msg.GetData()); err != nil {
			return err
		}
	}
}

// lives reports whether the job is still to be followed, as far as anybody knows.
func (p *peeking) lives(ctx context.Context) bool {
	_, all, err := p.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{p.job.Name}, Attributes: jobAttributes, History: true})
	if err != nil {
		return true
	}
	if len(all) != 1 || all[0].Refusal != nil {
		return false
	}
	j := newJob(all[0])
	return !j.finished() && !j.pending()
}

// peekFailure says in LSF's words why nothing is shown.
func peekFailure(j job, err error) error {
	if refusedWith(err, pbs.Unauthorized) {
		return told(fmt.Sprintf("Job <%s> : User permission denied", j.id))
	}
	if refusedWith(err, pbs.BadState) {
		return told(fmt.Sprintf("Job <%s> : there is no output of it to be seen now", strings.TrimSpace(j.id)))
	}
	return err
}
