package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/transport/api"
)

func busers() *cli.Command {
	return command("busers", "show users and the slots of their jobs", "busers [-h] [-V] [-w] [user_name ... | all]\n", cli.Grammar{Letters: "w"},
		func(ctx context.Context, s *session, opts *cli.Options) error { return s.users(ctx, opts) })
}

// users shows the slots of the jobs of users: of those that are named, of all that have jobs, or of whoever asks.
func (s *session) users(ctx context.Context, opts *cli.Options) error {
	byOwner, err := s.tallies(ctx, "Job_Owner")
	if err != nil {
		return err
	}
	byUser := map[string]*tally{}
	for owner, t := range byOwner {
		name, _, _ := strings.Cut(owner, "@")
		byUser[name] = cmp.Or(byUser[name], new(tally))
		byUser[name].join(*t)
	}
	names := opts.Operands
	switch {
	case slices.Equal(names, []string{"all"}):
		names = slices.Sorted(maps.Keys(byUser))
	case len(names) == 0:
		names = []string{s.env.Getenv("LOGNAME")}
	}
	_, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"max_run_res"}})
	if err != nil {
		return err
	}
	limits := ""
	for _, o := range servers {
		limits = amount(o, "max_run_res", "ncpus")
	}
	out := bufio.NewWriter(s.env.Stdout)
	out.WriteString("USER/GROUP          JL/P    MAX  NJOBS   PEND    RUN  SSUSP  USUSP    RSV \n")
	for _, name := range names {
		t := cmp.Or(byUser[name], new(tally))
		most := cmp.Or(lsf.SlotLimit(limits, lsf.OneUser+name), lsf.SlotLimit(limits, lsf.EachUser), "-")
		if !opts.Has("w") {
			name = fmt.Sprintf("%.18s", name)
		}
		fmt.Fprintf(out, "%-18s %5s %6s %6d %6d %6d %6d %6d %6d \n", name, "-", most, t.total, t.pending, t.running, t.sys, t.user, t.reserved)
	}
	return out.Flush()
}

// join counts what another tally has counted, too.
func (t *tally) join(o tally) {
	t.total, t.pending, t.running = t.total+o.total, t.pending+o.pending, t.running+o.running
	t.sys, t.user, t.reserved = t.sys+o.sys, t.user+o.user, t.reserved+o.reserved
}
