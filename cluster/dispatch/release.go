package dispatch

import (
	"context"
	"strconv"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/pause"
)

const (
	// answerWithin is how long a mother superior has to answer that vnodes are to be released
	// (specification: ramp-down section 4, row 21).
	answerWithin = 10 * time.Second
	// releaseTick is how often open releases are looked at.
	releaseTick = time.Second
)

// Releases withdraws the releases that no mother superior answers. A new leader gives each
// the whole time again: it cannot know how long the one before has tried.
type Releases struct {
	opts Options
	seen map[openRelease]time.Time // when this leader met it first
}

type openRelease struct {
	job    pbs.JobID
	run    pbs.RunCount
	number uint64
}

// NewReleases returns the watch over open releases for one term of leadership.
func NewReleases(opts Options) *Releases { return &Releases{opts: opts} }

// Run watches until ctx ends.
func (r *Releases) Run(ctx context.Context) error {
	for {
		changed := r.opts.Source.Changed()
		r.look(ctx)
		if len(r.seen) > 0 {
			if !pause.For(ctx, releaseTick) {
				return nil
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// look withdraws what is open for too long.
func (r *Releases) look(ctx context.Context) {
	now, open := time.Now(), map[openRelease]time.Time{}
	var late []command.Proposal
	for j := range r.opts.Source.View().Releasing() {
		key := openRelease{j.ID, j.RunCount, j.LastRun().Release.Number}
		since, met := r.seen[key]
		if !met {
			since = now
		}
		open[key] = since
		if now.Sub(since) >= answerWithin {
			late = append(late, command.Proposal{Commands: []command.Command{
				&command.WithdrawRelease{Job: j.ID, RunCount: j.RunCount, Number: j.LastRun().Release.Number},
			}})
		}
	}
	r.seen = open
	for _, p := range late {
		if _, err := r.opts.Proposer.Propose(ctx, p); err != nil {
			r.opts.Logger.Warn("withdraw a release of vnodes", "error", err)
			return // looked at again soon
		}
	}
}

// releaseNodes writes the order about released vnodes: the assignment that was asked for, or
// else the present one.
func releaseNodes(v *state.View, o *state.Order) *api.ReleaseNodes {
	out := &api.ReleaseNodes{Number: o.Number, Step: api.ReleaseStep(o.Step)}
	j, ok := v.Job(o.Job)
	if !ok || !o.Of(j) {
		return out
	}
	to := j.Grant()
	if o.Step == state.ReleaseAsked {
		if j.LastRun().Release == nil || j.LastRun().Release.Number != o.Number {
			return out
		}
		to = j.LastRun().Release.To
	}
	hosts, ported := hostsOf(v, to.ExecHost)
	list := attr.List(nil).Set("exec_vnode", "", to.ExecVnode.String()).Set("exec_host", "", to.ExecHost.String()).
		Set("exec_host2", "", ported).Set("schedselect", "", to.SchedSelect)
	for _, it := range to.Resources {
		list = append(list, attr.Entry{Name: "Resource_List", Resource: it.Name, Value: it.Value})
	}
	out.Attributes, out.Hosts = attributes(list), hosts
	return out
}

// hostsOf returns the hosts of an exec_host, each once and with its address, and the same
// text with the ports of the moms.
func hostsOf(v *state.View, entries spec.ExecHost) (hosts []*api.RunHost, ported string) {
	seen := map[string]string{}
	words := make([]string, len(entries))
	for i, e := range entries {
		port, met := seen[e.Host]
		if !met {
			one := &api.RunHost{Name: e.Host}
			if h, ok := v.Host(pbs.HostName(e.Host)); ok {
				one.Address = h.Address
				_, port = pbs.SplitAddress(h.Address)
			}
			seen[e.Host] = port
			hosts = append(hosts, one)
		}
		words[i] = e.Host + ":" + port + "/" + strconv.Itoa(e.Slot)
		if e.CPUs != 1 {
			words[i] += "*" + strconv.Itoa(e.CPUs)
		}
	}
	return hosts, strings.Join(words, "+")
}
