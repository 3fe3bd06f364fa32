package lsf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

func bresize() *cli.Command {
	usage := "bresize release [-h] [-V] [-c] \"host_name ... | all\" job_ID\n       bresize cancel job_ID\n"
	g := cli.Grammar{Letters: "c", Dashed: map[string]bool{"rnc": true, "rncn": false}}
	return command("bresize", "give hosts of a running job back", usage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "rnc"); err != nil {
			return err
		}
		switch {
		case len(opts.Operands) == 2 && opts.Operands[0] == "cancel":
			return s.one(ctx, opts.Operands[1], "", func(context.Context, job) error {
				return pbs.Errorf(pbs.NotSupported, "No pending resize request")
			})
		case len(opts.Operands) < 3 || opts.Operands[0] != "release":
			return s.command.Misuse()
		}
		last := len(opts.Operands) - 1
		return s.release(ctx, opts.Operands[1:last], opts.Operands[last])
	})
}

// release gives back all slots of hosts, as a ramp-down does (specification: reservation section 6.9): a host stays whole or goes.
func (s *session) release(ctx context.Context, words []string, operand string) error {
	jobs, err := s.jobsOf(ctx, operand, jobAttributes)
	if err != nil || len(jobs) == 0 {
		return err
	}
	j := jobs[0]
	names := strings.Fields(strings.Join(words, " "))
	r := &api.ReleaseNodesRequest{Job: j.Name}
	if !slices.Equal(names, []string{"all"}) {
		hosts, err := j.hostsOf(names)
		if err != nil {
			return told(fmt.Sprintf("Job <%s>: %v", operand, err))
		}
		r.Vnodes = strings.Join(hosts, "+")
	}
	_, err = s.batch.ReleaseNodes(s.only(ctx), connect.NewRequest(r))
	if err == nil {
		_, err = fmt.Fprintln(s.env.Stdout, "Job resize request is submitted.")
		return err
	}
	if refused, ok := errors.AsType[*pbs.Error](err); ok && !s.explain(err).Fatal {
		return told(fmt.Sprintf("Job <%s>: %s", operand, refusalWords(refused)))
	}
	return err
}

// hostsOf reads "host" and "N*host", where N is all that the job has of the host.
func (j job) hostsOf(names []string) ([]string, error) {
	shares := j.shares()
	hosts := make([]string, len(names))
	for i, name := range names {
		count, host, counted := strings.Cut(name, "*")
		if !counted {
			host = name
		}
		at := slices.IndexFunc(shares, func(x share) bool { return x.host == host })
		switch {
		case at < 0:
			return nil, fmt.Errorf("it has nothing of host <%s>", host)
		case counted && count != strconv.Itoa(shares[at].slots):
			return nil, fmt.Errorf("it has %d slots of host <%s>, which can be released together only", shares[at].slots, host)
		}
		hosts[i] = host
	}
	return hosts, nil
}
