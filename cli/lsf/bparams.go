package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strconv"

	"rampart/cli"
	"rampart/transport/api"
)

func bparams() *cli.Command {
	return command("bparams", "show parameters of lsb.params", "bparams [-h] [-V] [-l]\n", cli.Grammar{Letters: "l"},
		func(ctx context.Context, s *session, opts *cli.Options) error { return s.parameters(ctx, opts) })
}

// parameters shows what lsb.params, and lsf.conf, say of the cluster.
func (s *session) parameters(ctx context.Context, opts *cli.Options) error {
	c, err := s.configuration(ctx)
	if err != nil {
		return err
	}
	_, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"default_queue"}})
	if err != nil {
		return err
	}
	queue := ""
	for _, o := range servers {
		queue = value(o, "default_queue")
	}
	jobs := ""
	if c.TimeReserveJobs > 0 {
		jobs = strconv.FormatInt(c.TimeReserveJobs, 10)
	}
	out := bufio.NewWriter(s.env.Stdout)
	if !opts.Has("l") {
		fmt.Fprintf(out, "Default Queues:  %s\nMBD_SLEEP_TIME used for calculations:  %d seconds\nJob Accepting Interval:  %d seconds\n", queue, c.Turn(), c.AcceptInterval*c.Turn())
		return out.Flush()
	}
	yes := func(is bool) string {
		if is {
			return "Y"
		}
		return "N"
	}
	for _, p := range []struct{ about, name, value string }{
		{"System default queues for automatic queue selection", "DEFAULT_QUEUE", queue},
		{"Application of jobs that name none", "DEFAULT_APPLICATION", c.DefaultApplication},
		{"Amount of time in seconds between two dispatch turns", "MBD_SLEEP_TIME", fmt.Sprintf("%d (seconds)", c.Turn())},
		{"The interval for a host to accept two batch jobs", "JOB_ACCEPT_INTERVAL", fmt.Sprintf("%d (* MBD_SLEEP_TIME)", c.AcceptInterval)},
		{"Time since somebody has typed on a host for which paging there suspends jobs", "PG_SUSP_IT", fmt.Sprintf("%d (seconds)", c.PagingCounts())},
		{"Whether resources are reserved for each slot", "RESOURCE_RESERVE_PER_SLOT", yes(c.PerSlot)},
		{"Whether run limits are wall-clock time on every host", "ABS_RUNLIMIT", yes(c.AbsRunlimit)},
		{"Host by which run limits are normalised", "DEFAULT_HOST_SPEC", c.HostSpec},
		{"Jobs whose slots are reserved by time", "LSB_TIME_RESERVE_NUMJOBS", jobs},
		{"Whether what cannot be reserved is refused", "LSF_STRICT_RESREQ", yes(c.Strict)},
	} {
		fmt.Fprintf(out, "%s:\n    %s = %s\n\n", p.about, p.name, cmp.Or(p.value, "not set"))
	}
	return out.Flush()
}
