package lsf

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/cli"
	"rampart/transport/api"
)

func bjdepinfo() *cli.Command {
	return command("bjdepinfo", "show for which jobs a job waits", "bjdepinfo [-h] [-V] [-l] [-c] [-r level] job_ID\n", cli.Grammar{Letters: "lcr:"}, dependencies)
}

// mostLevels bounds how far dependencies are followed.
const mostLevels = 1000

// A tie is a job of another one's dependencies.
type tie struct {
	of    job
	other string // its number
	level int
}

// dependencies shows the jobs for which one waits, or those that wait for it, and with a level for which these do. Those that have become
// what was waited for are not there any more.
func dependencies(ctx context.Context, s *session, opts *cli.Options) error {
	levels := 1
	if opts.Has("r") {
		n, err := strconv.Atoi(opts.Last("r"))
		if err != nil || n < 1 || n > mostLevels {
			return told(badOption("r", opts.Last("r"), fmt.Sprintf("a number of levels, 1 to %d", mostLevels)).Error())
		}
		levels = n
	}
	if len(opts.Operands) != 1 {
		return s.command.Misuse("one job ID must be specified")
	}
	jobs, err := s.jobsOf(ctx, opts.Operands[0], nil)
	if err != nil || len(jobs) == 0 {
		return err
	}
	children, first := opts.Has("c"), jobs[0]
	known := map[string]job{first.id: first}
	ties := tiesOf(first, children, 1)
	if len(ties) == 0 {
		return told(fmt.Sprintf("Job <%s> has no dependencies", first.id))
	}
	out := bufio.NewWriter(s.env.Stdout)
	if opts.Has("l") && !children {
		fmt.Fprintf(out, "Dependency condition of job <%s> is not satisfied: %s\n", first.id, dependShown(first.get("depend")))
	}
	const row = "%-14s %-14s %-14s %-14s %v\n"
	who := "PARENT"
	if children {
		who = "CHILD"
	}
	fmt.Fprintf(out, row, "JOBID", who, who+"_STATUS", who+"_NAME", "LEVEL")
	for i := 0; i < len(ties); i++ {
		t := ties[i]
		other, seen := known[t.other]
		if !seen {
			if other, err = tied(ctx, s, t.other); err != nil {
				return err
			}
			known[t.other] = other
			if t.level < levels {
				ties = append(ties, tiesOf(other, children, t.level+1)...)
			}
		}
		state, name := "-", "-"
		if other.Object != nil {
			state, name = other.state, other.name()
		}
		fmt.Fprintf(out, row, t.of.id, t.other, state, tail(name, 14), t.level)
	}
	return out.Flush()
}

// tied returns a job of another one's dependencies; one that is not there any more has no object.
func tied(ctx context.Context, s *session, id string) (j job, err error) {
	_, all, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: names(id), History: true})
	for _, o := range all {
		if o.Refusal == nil && j.Object == nil {
			j = newJob(o)
		}
	}
	return j, err
}

// tiesOf returns the jobs for which one waits, or those that wait for it, in the order in which it names them.
func tiesOf(j job, children bool, level int) (all []tie) {
	if j.Object == nil {
		return nil
	}
	for part := range strings.SplitSeq(j.get("depend"), ",") {
		kind, ids, _ := strings.Cut(part, ":")
		if !strings.HasPrefix(kind, "after") && !children || !strings.HasPrefix(kind, "before") && children {
			continue
		}
		for id := range strings.SplitSeq(ids, ":") {
			t := tie{j, jobNumber(id), level}
			if t.other != "" && !slices.ContainsFunc(all, func(o tie) bool { return o.other == t.other }) {
				all = append(all, t)
			}
		}
	}
	return all
}
