package pbs

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli"
	"rampart/cli/render"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

const pbsnodesUsage = `usage:	pbsnodes [-{o|r}][-C comment][-s server] host host ...
	pbsnodes -l [-s server]
	pbsnodes [-s server] -v vnode vnode ...
	pbsnodes -a[v][S[j][L]][-F format][-D delim][-s server]
	pbsnodes -[H][S[j][L]][-F format][-D delim] host host ...
	pbsnodes --version

`

func pbsnodes() *cli.Command {
	c := &cli.Command{
		Name: "pbsnodes", Summary: "show and mark hosts and vnodes", Usage: pbsnodesUsage, UsageStatus: 1,
		Grammar: own("acC:dD:F:HjLloqrs:Sv", "stale"),
	}
	c.Run = func(ctx context.Context, env *cli.Env, opts *cli.Options) error {
		if err := checkNodes(c, opts); err != nil {
			return err
		}
		s, err := open(env, c, opts)
		if err != nil {
			return err
		}
		s.quiet = opts.Has("q")
		if err := s.checkServer(ctx, opts.Last("s")); err != nil {
			return err
		}
		switch {
		case marking(opts):
			s.markHosts(ctx, opts)
		case opts.Has("l"):
			s.unavailable(ctx, opts.Has("stale"))
		default:
			s.showNodes(ctx, opts)
		}
		return s.end()
	}
	return c
}

// marking reports whether hosts are to be marked, and not shown. Nobody can mark a host down, who
// is no server: -d marks it offline, as -o does, and -c clears that, as -r does.
func marking(opts *cli.Options) bool {
	return slices.ContainsFunc([]string{"c", "d", "o", "r", "C"}, opts.Has)
}

func checkNodes(c *cli.Command, opts *cli.Options) error {
	format := nodeFormat(opts)
	up, down := opts.Has("c") || opts.Has("r"), opts.Has("d") || opts.Has("o")
	switch {
	case up && down,
		!opts.Has("a") && !opts.Has("l") && !opts.Has("d") && len(opts.Operands) == 0,
		format != "" && format != "json" && format != "dsv",
		(opts.Has("j") || opts.Has("L")) && !opts.Has("S"),
		opts.Has("D") && opts.Last("D") == "":
		return c.Misuse()
	}
	return nil
}

func nodeFormat(opts *cli.Options) string { return strings.ToLower(opts.Last("F")) }

// showNodes lists hosts, or vnodes with -v.
func (s *session) showNodes(ctx context.Context, opts *cli.Options) {
	r := &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_HOST, Names: opts.Operands, Stale: opts.Has("stale")}
	if opts.Has("v") {
		r.Kind = api.ObjectKind_OBJECT_KIND_VNODE
	}
	if opts.Has("a") {
		r.Names = nil
	}
	header, found, err := s.objects(ctx, r)
	if err != nil && !s.unknownNode(err, opts.Operands) {
		s.fail(err, nil)
		return
	}
	var nodes []*api.Object
	for _, o := range found {
		if o.Refusal != nil {
			s.noNode(o.Name, refusal(o))
			continue
		}
		nodes = append(nodes, o)
	}
	if len(found) == 0 && len(r.Names) == 0 && err == nil {
		s.fail(pbs.Refuse(pbs.NoNodeList), nil)
		s.status = 1
		return
	}
	s.writeNodes(opts, header, nodes)
}

// unknownNode tells of a refusal that answers for a single operand.
func (s *session) unknownNode(err error, operands []string) bool {
	var r *pbs.Error
	if !errors.As(err, &r) || r.Code != pbs.UnknownNode || len(operands) != 1 {
		return false
	}
	s.noNode(operands[0], r)
	return true
}

func (s *session) noNode(name string, r *pbs.Error) {
	if !s.quiet {
		fmt.Fprintf(s.env.Stderr, "Node: %s,  Error: %s\n", name, r.Message)
	}
	s.status = 1
}

func (s *session) writeNodes(opts *cli.Options, header *api.ListHeader, nodes []*api.Object) {
	out := bufio.NewWriter(s.env.Stdout)
	defer out.Flush()
	delimiter := cmp.Or(opts.Last("D"), "|")
	switch format := nodeFormat(opts); {
	case format != "" && opts.Has("S"):
		writeSummaries(out, header, nodes, opts, delimiter)
	case format == "json":
		writeNodesJSON(out, header, nodes, !opts.Has("v"))
	case format == "dsv":
		for _, o := range nodes {
			render.Wide(out, "Name="+o.Name, o, delimiter, render.Plain)
		}
	case opts.Has("j"):
		render.NodeJobs(out, nodes, opts.Has("L"))
	case opts.Has("S"):
		render.NodeSummary(out, nodes, opts.Has("L"))
	default:
		for _, o := range nodes {
			render.Node(out, o, s.env.Zone)
		}
	}
}

// writeSummaries writes -S, and -Sj, for programs.
func writeSummaries(out *bufio.Writer, header *api.ListHeader, nodes []*api.Object, opts *cli.Options, delimiter string) {
	summarise := render.Summarise
	if opts.Has("j") {
		summarise = render.SummariseJobs
	}
	if nodeFormat(opts) == "dsv" {
		for _, o := range nodes {
			summarise(o).Wide(out, delimiter)
		}
		return
	}
	j := render.NewJSON(out, "nodes", header, render.Plain)
	for _, o := range nodes {
		j.Summary(summarise(o))
	}
	_ = j.End() // standard output is gone; nobody is left to tell
}

func writeNodesJSON(out *bufio.Writer, header *api.ListHeader, nodes []*api.Object, summed bool) {
	j := render.NewJSON(out, "nodes", header, render.Plain)
	if summed {
		j.Skip = render.NothingAssigned
	}
	for _, o := range nodes {
		if summed {
			o = render.Summed(o)
		}
		j.Object(o)
	}
	_ = j.End() // standard output is gone; nobody is left to tell
}

// unavailable is pbsnodes -l: a host is listed for its first vnode that is.
func (s *session) unavailable(ctx context.Context, stale bool) {
	_, vnodes, err := s.objects(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_VNODE, Stale: stale,
		Attributes: []string{"Mom", "state", "comment", "resources_available.host"},
	})
	if err != nil {
		s.fail(err, nil)
		return
	}
	listed := map[string]bool{}
	for _, o := range vnodes {
		host := cmp.Or(render.Find(o, "resources_available", "host"), render.Find(o, "Mom", ""), o.Name)
		if !listed[host] {
			listed[host] = render.Unavailable(s.env.Stdout, &api.Object{Name: host, Attributes: o.Attributes})
		}
	}
}

// markHosts sets or clears offline, and the comment, on all vnodes of the hosts;
// with -v the operands are vnodes.
func (s *session) markHosts(ctx context.Context, opts *cli.Options) {
	kind := api.ObjectKind_OBJECT_KIND_HOST
	if opts.Has("v") {
		kind = api.ObjectKind_OBJECT_KIND_VNODE
	}
	for _, name := range opts.Operands {
		r := &api.ManageRequest{Verb: api.Verb_VERB_SET, Kind: kind, Name: name, Changes: marks(opts)}
		_, err := s.batch.Manage(s.next(ctx), connect.NewRequest(r))
		if err == nil {
			continue
		}
		f := s.explain(err)
		if f.Fatal {
			s.fail(err, nil)
			return
		}
		s.noNode(name, &pbs.Error{Message: f.Text})
	}
}

// marks returns the changes that -o, -r and -C ask for.
func marks(opts *cli.Options) []*api.Attribute {
	var all []*api.Attribute
	switch {
	case opts.Has("o") || opts.Has("d"):
		all = append(all, &api.Attribute{Name: "state", Value: "offline", Op: api.Op_OP_INCREASE})
	case opts.Has("r") || opts.Has("c"):
		all = append(all, &api.Attribute{Name: "state", Value: "offline", Op: api.Op_OP_DECREASE})
	}
	switch comment := opts.Last("C"); {
	case !opts.Has("C"):
	case comment == "":
		all = append(all, &api.Attribute{Name: "comment", Op: api.Op_OP_UNSET})
	default:
		all = append(all, &api.Attribute{Name: "comment", Value: comment})
	}
	return all
}
