package lsf

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"rampart/cli"
)

func bmgroup() *cli.Command {
	return command("bmgroup", "show host groups", "bmgroup [-h] [-V] [-r] [-w] [host_group ...]\n", cli.Grammar{Letters: "rw"},
		func(ctx context.Context, s *session, opts *cli.Options) error { return s.hostGroups(ctx, opts) })
}

// hostGroups shows the groups of lsb.hosts.
func (s *session) hostGroups(ctx context.Context, opts *cli.Options) error {
	c, err := s.configuration(ctx)
	if err != nil {
		return err
	}
	if len(c.HostGroups) == 0 {
		return told("No host group found")
	}
	groups := c.HostGroups
	if len(opts.Operands) > 0 {
		groups = nil
	}
	var unknown []string
	for _, name := range opts.Operands {
		g, ok := c.HostGroup(name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		groups = append(groups, g)
	}
	out := bufio.NewWriter(s.env.Stdout)
	for i, g := range groups {
		if i == 0 {
			out.WriteString("GROUP_NAME    HOSTS                     \n")
		}
		members := g.Members
		if opts.Has("r") {
			members = c.HostChoice([]string{g.Name}).Words()
		}
		width := 13
		if opts.Has("w") {
			width = len(g.Name)
		}
		fmt.Fprintf(out, "%-13.*s %s \n", width, g.Name, strings.Join(members, " "))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for _, name := range unknown {
		s.complain(name + ": No such host group")
	}
	return nil
}
