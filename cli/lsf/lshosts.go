package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"

	"rampart/cli"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/transport/api"
)

func lshosts() *cli.Command {
	g := cli.Grammar{Letters: "wl", Dashed: map[string]bool{"R": true, "s": false, "T": false, "a": false, "gpu": false, "cname": false}}
	return command("lshosts", "show what hosts are", "lshosts [-h] [-V] [-w] [host_name ...]\n", g,
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if err := refuseOptions(opts, "l", "R", "s", "T", "a", "gpu", "cname"); err != nil {
				return err
			}
			return s.staticHosts(ctx, opts)
		})
}

func (s *session) staticHosts(ctx context.Context, opts *cli.Options) error {
	_, hosts, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	around, err := s.around(ctx, hosts, func(*around) bool { return true })
	if err != nil {
		return err
	}
	some := s.chosenHosts(hosts, opts.Operands, "Bad host name")
	if len(some) == 0 {
		if len(opts.Operands) == 0 {
			return told("No host found")
		}
		return nil
	}
	out := bufio.NewWriter(s.env.Stdout)
	out.WriteString("HOST_NAME      type    model  cpuf ncpus maxmem maxswp server RESOURCES\n")
	for _, h := range some {
		name := h.Name
		if !opts.Has("w") {
			name = fmt.Sprintf("%.11s", name)
		}
		is := around.see(h)
		kind, _ := is.Value("type")
		fmt.Fprintf(out, "%-11s %7s %8s %5.1f %5d %6s %6s %6s (%s)\n",
			name, cmp.Or(kind.Text, "-"), cmp.Or(is.row.Model, "-"), is.factor(), h.slots, is.shown("maxmem"), is.shown("maxswp"), "Yes", booleans(h, around.defs))
	}
	return out.Flush()
}

// booleans names the boolean resources of a site that a host has.
func booleans(h offer, defs []resource.Def) string {
	var names []string
	for _, def := range defs {
		if def.Type == resource.Boolean && strings.EqualFold(amount(h.Object, "resources_available", def.Name), "true") {
			names = append(names, def.Name)
		}
	}
	return strings.Join(names, " ")
}

func lsid() *cli.Command {
	return command("lsid", "show the names of the cluster and of its master", "lsid [-h] [-V]\n", cli.Grammar{},
		func(ctx context.Context, s *session, _ *cli.Options) error {
			h, all, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"server_host"}})
			if err != nil {
				return err
			}
			master := ""
			if len(all) > 0 {
				master = value(all[0], "server_host")
			}
			_, err = fmt.Fprintf(s.env.Stdout, "Rampart, the commands of LSF, with PBS %s\n\nMy cluster name is %s\nMy master name is %s\n", pbs.Version, h.GetServer(), master)
			return err
		})
}
