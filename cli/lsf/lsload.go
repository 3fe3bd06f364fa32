package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/resreq"
	"rampart/transport/api"
)

func lsload() *cli.Command {
	g := cli.Grammar{Letters: "wlNE", Dashed: map[string]bool{"I": true, "R": true, "n": true, "s": false, "o": true, "json": false, "gpu": false, "gpuload": false, "cname": false, "a": false}}
	return command("lsload", "show the load of hosts", "lsload [-h] [-V] [-w | -l] [-N | -E] [-I load_index] [-R res_req] [host_name ...]\n", g,
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if err := refuseOptions(opts, "n", "s", "o", "json", "gpu", "gpuload", "cname", "a"); err != nil {
				return err
			}
			return s.showLoad(ctx, opts)
		})
}

// loadOf is what a mom says of its host, by load index; empty if it says nothing.
type loadOf map[string]float64

// loads reads the load of all hosts, by their names.
func (s *session) loads(ctx context.Context) (map[string]loadOf, error) {
	reply, err := s.batch.Load(ctx, connect.NewRequest(&api.LoadRequest{}))
	if err != nil {
		return nil, err
	}
	all := make(map[string]loadOf, len(reply.Msg.GetHosts()))
	for _, h := range reply.Msg.GetHosts() {
		of := make(loadOf, len(h.GetIndices()))
		for _, x := range h.GetIndices() {
			of[x.GetName()] = x.GetValue()
		}
		all[h.GetHost()] = of
	}
	return all, nil
}

// A loaded host is one as lsload shows and chooses it: by what it reports, whatever jobs have reserved.
type loaded struct {
	sighted
	run loadOf // what is shown of its load
}

// Value returns what is reported of load, and what the host has of others.
func (h loaded) Value(name string) (resreq.Value, bool) {
	v, ok := h.run[name]
	if ok || slices.Contains(lsf.LoadIndices[:], name) {
		return resreq.Value{Number: v}, ok
	}
	return h.sighted.Value(name)
}

// showLoad is lsload.
func (s *session) showLoad(ctx context.Context, opts *cli.Options) error {
	_, all, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	around, err := s.around(ctx, all, func(*around) bool { return true })
	if err != nil {
		return err
	}
	site := around.site
	some := s.chosenHosts(all, opts.Operands, "Bad host name")
	hosts := make([]loaded, 0, len(some))
	for _, h := range some {
		hosts = append(hosts, newLoaded(around.see(h), opts))
	}
	r, err := resreq.Parse(opts.Last("R"), site)
	if err != nil || len(r.Terms) > 1 {
		return told("Bad resource requirement syntax")
	}
	var simple resreq.Simple
	if len(r.Terms) > 0 {
		simple = r.Terms[0].Simple
	}
	hosts = resreq.Candidates(simple, hosts, "", site)
	if len(hosts) == 0 {
		if s.status == 0 {
			return told("No host found")
		}
		return nil
	}
	columns, err := loadColumns(opts, hosts, site)
	if err != nil {
		return err
	}
	return s.loadTable(hosts, columns, opts)
}

// newLoaded returns a host with its run queues as -E and -N want them.
func newLoaded(h sighted, opts *cli.Options) loaded {
	per := float64(max(h.slots, 1))
	switch {
	case opts.Has("N"):
		per *= max(h.factor(), 0.001)
	case !opts.Has("E"):
		return loaded{h, h.load}
	}
	run := make(loadOf, len(h.load))
	for index, v := range h.load {
		if index == "r15s" || index == "r1m" || index == "r15m" {
			v /= per
		}
		run[index] = v
	}
	return loaded{h, run}
}

// loadColumns returns the indices to be shown.
func loadColumns(opts *cli.Options, hosts []loaded, site resreq.Site) ([]string, error) {
	var all []string
	if text := opts.Last("I"); text != "" {
		for name := range strings.SplitSeq(text, ":") {
			r, ok := site.Resource(name)
			if !ok || r.Kind != resreq.Numeric {
				return nil, told(name + ": Unknown load index name")
			}
			all = append(all, r.Name)
		}
		return all, nil
	}
	for _, index := range lsf.LoadIndices {
		if index != "io" || opts.Has("l") {
			all = append(all, index)
		}
	}
	if opts.Has("l") {
		var own []string
		for _, h := range hosts {
			for name := range h.load {
				if r, ok := site.Resource(name); ok && !r.Builtin && !slices.Contains(own, name) {
					own = append(own, name)
				}
			}
		}
		slices.Sort(own)
		all = append(all, own...)
	}
	return all, nil
}

// loadWidths are the widths of the columns that are not five wide.
var loadWidths = map[string]int{"ut": 4, "ls": 3}

func (s *session) loadTable(hosts []loaded, columns []string, opts *cli.Options) error {
	width := 15
	if opts.Has("l") {
		width = 23
	}
	if opts.Has("w") {
		for _, h := range hosts {
			width = max(width, len(h.Name))
		}
	}
	wide := func(index string) int { return max(cmp.Or(loadWidths[index], 5), len(index)) }
	out := bufio.NewWriter(s.env.Stdout)
	fmt.Fprintf(out, "%-*s %6s", width, "HOST_NAME", "status")
	for _, index := range columns {
		fmt.Fprintf(out, " %*s", wide(index), index)
	}
	out.WriteByte('\n')
	for _, h := range hosts {
		status, over := h.Status(), h.over()
		fmt.Fprintf(out, "%-*.*s %6s", width, width, h.Name, status)
		if status != lsf.StatusUnavailable {
			for _, index := range columns {
				text := "-"
				if v, ok := h.Value(index); ok {
					text = lsf.ShownLoad(index, v.Number)
				}
				if slices.Contains(over, index) {
					text = "*" + text
				}
				fmt.Fprintf(out, " %*s", wide(index), text)
			}
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}
