package lsf

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"rampart/cli"
	"rampart/transport/api"
)

func lsclusters() *cli.Command {
	return command("lsclusters", "show the cluster", "lsclusters [-h] [-V] [-l] [-w] [cluster_name ...]\n", cli.Grammar{Letters: "lw"}, clusters)
}

// clusters shows the only cluster that there is; of several administrators the first.
func clusters(ctx context.Context, s *session, opts *cli.Options) error {
	h, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"server_host", "managers"}})
	if err != nil {
		return err
	}
	_, hosts, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	master, admin := "-", "root"
	for _, o := range servers {
		first, _, _ := strings.Cut(value(o, "managers"), ",")
		first, _, _ = strings.Cut(first, "@")
		master, admin = value(o, "server_host"), cmp.Or(first, admin)
	}
	shown := len(opts.Operands) == 0
	for _, name := range opts.Operands {
		if name != h.GetServer() {
			s.complain(name + ": Unknown cluster name")
			continue
		}
		shown = true
	}
	if !shown {
		return nil
	}
	name := h.GetServer()
	if !opts.Has("w") {
		name, master = fmt.Sprintf("%.14s", name), fmt.Sprintf("%.22s", master)
	}
	const row = "%-14s %-8s %-22s %10s %8v %8v\n"
	_, err = fmt.Fprintf(s.env.Stdout, row+row, "CLUSTER_NAME", "STATUS", "MASTER_HOST", "ADMIN", "HOSTS", "SERVERS", name, "ok", master, admin, len(hosts), len(hosts))
	return err
}
