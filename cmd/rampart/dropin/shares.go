package dropin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	"rampart/cli/render"
	"rampart/fsm/attr"
	"rampart/fsm/state"
	"rampart/transport/api"
	"rampart/transport/client"
)

// treeRoot is PBS's name of the root.
const treeRoot = "TREEROOT"

// sharesMain prints the tree of fair share as the replicas have it, and changes what was used: pbsfs.
func sharesMain(ctx context.Context, c *call) error {
	want := 0
	if c.has("c") || c.has("s") {
		want = 1
	}
	if len(c.operands) != want {
		return fmt.Errorf("%w\nusage: %s", ErrUsage, programs()[c.name].usage)
	}
	s := newSchedServer(c)
	defer s.close()
	switch {
	case c.has("s"):
		usage, err := strconv.ParseInt(c.operands[0], 10, 64)
		if err != nil || usage < 0 {
			return fmt.Errorf("%w: -s %s %s: the usage is a number from 0 on", ErrUsage, c.options["s"], c.operands[0])
		}
		if c.options["s"] == treeRoot {
			return fmt.Errorf("fairshare entity %s does not exist", treeRoot)
		}
		return s.manageShares(ctx, api.Verb_VERB_SET, c.options["s"], &api.Attribute{Name: "usage", Value: c.operands[0]})
	case c.has("d"):
		return s.manageShares(ctx, api.Verb_VERB_UNSET, "")
	case c.has("e"):
		return s.manageShares(ctx, api.Verb_VERB_DELETE, "")
	}
	unit, nodes, err := s.shares(ctx)
	if err != nil {
		return fmt.Errorf("ask for the tree of shares: %w", err)
	}
	return printShares(c, unit, nodes)
}

func printShares(c *call, unit string, nodes []state.ShareNode) error {
	out := c.world.Stdout
	find := func(name string) (state.ShareNode, error) {
		for _, n := range nodes {
			if n.Name == name {
				return n, nil
			}
		}
		return state.ShareNode{}, fmt.Errorf("fairshare entity %s does not exist", name)
	}
	switch {
	case c.has("c"):
		a, err := find(rootName(c.options["c"]))
		b, err2 := find(rootName(c.operands[0]))
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, lessUsed(a, b))
		return err
	case c.has("g"):
		n, err := find(rootName(c.options["g"]))
		if err != nil {
			return err
		}
		return printShare(out, n, nodes, unit)
	case c.has("t"):
		return printTree(out, nodes)
	}
	fmt.Fprintf(out, "Fairshare usage units are in: %s\n", unit)
	for _, n := range nodes {
		fmt.Fprintf(out, "%-10s: Grp: %-5d  cgrp: %-5dShares: %-6d Usage: %-6.0f Perc: %6.3f%%\n",
			shownName(n.Name), n.Group, n.ID, n.Shares, usageOf(n), 100*n.Part)
	}
	return nil
}

// printTree indents what is below a group.
func printTree(out io.Writer, nodes []state.ShareNode) error {
	depth := map[string]int{}
	for _, n := range nodes {
		if n.Parent != "" {
			depth[n.Name] = depth[n.Parent] + 5
		}
		if _, err := fmt.Fprintf(out, "%*s%s(%d)\n", depth[n.Name], "", shownName(n.Name), n.ID); err != nil {
			return err
		}
	}
	return nil
}

// printShare prints one entity in full, and the way to it from the root.
func printShare(out io.Writer, n state.ShareNode, nodes []state.ShareNode, unit string) error {
	fmt.Fprintf(out, "fairshare entity: %s\nResgroup: %d\ncresgroup: %d\nShares: %d\nPercentage: %f%%\nfairshare_tree_usage: %f\nusage: %.0f (%s)\nusage/perc: %.0f\n",
		shownName(n.Name), n.Group, n.ID, n.Shares, 100*n.Part, n.TreeUsage, usageOf(n), unit, ratio(n))
	var path []string
	for name := n.Name; name != ""; {
		for _, on := range nodes {
			if on.Name == name {
				path = append([]string{fmt.Sprintf("%-10s: %5d %10.0f / %5.3f = %.0f", shownName(name), on.ID, usageOf(on), on.Part, ratio(on))}, path...)
				name = on.Parent
				break
			}
		}
	}
	_, err := fmt.Fprintf(out, "Path from root:\n%s\n", strings.Join(path, "\n"))
	return err
}

// lessUsed names who of two has used less of his part.
func lessUsed(a, b state.ShareNode) string {
	switch ra, rb := ratio(a), ratio(b); {
	case ra == rb:
		return shownName(a.Name) + " == " + shownName(b.Name)
	case rb < 0 || ra >= 0 && ra < rb:
		return shownName(a.Name)
	}
	return shownName(b.Name)
}

// ratio returns what was used for each part of everything that is the entity's; -1: nothing is.
func ratio(n state.ShareNode) float64 {
	if n.Part <= 0 {
		return -1
	}
	return usageOf(n) / n.Part
}

// usageOf returns what PBS shows: it takes who has used nothing to have used one unit.
func usageOf(n state.ShareNode) float64 { return max(1, n.Usage) }

func shownName(name string) string {
	if name == attr.RootShares {
		return treeRoot
	}
	return strings.ReplaceAll(render.Printable(name), "\n", "^J") // an account may have any characters, and stands in a line here
}

func rootName(name string) string {
	if name == treeRoot {
		return attr.RootShares
	}
	return name
}

// shares asks for the tree, and the unit that usage is counted in.
func (s *schedServer) shares(ctx context.Context) (unit string, nodes []state.ShareNode, err error) {
	all, err := s.attributes(ctx)
	if err != nil {
		return "", nil, err
	}
	def, _ := attr.Lookup(attr.Sched, "fairshare_usage_res")
	unit = cmp.Or(all[def.Name], def.Implied)
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	stream, err := s.asker.Batch().List(ctx, connect.NewRequest(&api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SHARE, Names: []string{s.sched}}))
	if err != nil {
		return "", nil, err
	}
	defer stream.Close()
	for stream.Receive() {
		for _, o := range stream.Msg().GetObjects() {
			nodes = append(nodes, shareNode(o))
		}
	}
	return unit, nodes, stream.Err()
}

// manageShares changes what was used: of one entity, by fading once, or by dropping who is not in resource_group.
func (s *schedServer) manageShares(ctx context.Context, verb api.Verb, entity string, changes ...*api.Attribute) error {
	if err := s.open(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	if s.sched != state.DefaultScheduler {
		changes = append(changes, &api.Attribute{Name: "sched", Value: s.sched})
	}
	_, err := s.asker.Batch().Manage(client.WithRequestID(ctx, client.NewRequestID()), connect.NewRequest(&api.ManageRequest{
		Verb: verb, Kind: api.ObjectKind_OBJECT_KIND_SHARE, Name: entity, Changes: changes,
	}))
	return err
}

func shareNode(o *api.Object) state.ShareNode {
	n := state.ShareNode{Name: o.GetName()}
	for _, a := range o.GetAttributes() {
		number, _ := strconv.ParseFloat(a.GetValue(), 64)
		switch a.GetName() {
		case "parent":
			n.Parent = a.GetValue()
		case "group":
			n.Group = int64(number)
		case "id":
			n.ID = int64(number)
		case "shares":
			n.Shares = int64(number)
		case "usage":
			n.Usage = number
		case "part":
			n.Part = number
		case "tree_usage":
			n.TreeUsage = number
		}
	}
	return n
}
