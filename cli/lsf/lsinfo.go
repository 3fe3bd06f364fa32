package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"rampart/cli"
	"rampart/fsm/resource"
)

// indexWords are what load indices, and what is known of each host, are.
var indexWords = []struct{ name, kind, order, about string }{
	{"r15s", "Numeric", "Inc", "15-second CPU run queue length"},
	{"r1m", "Numeric", "Inc", "1-minute CPU run queue length (alias: cpu)"},
	{"r15m", "Numeric", "Inc", "15-minute CPU run queue length"},
	{"ut", "Numeric", "Inc", "1-minute CPU utilization (0.0 to 1.0)"},
	{"pg", "Numeric", "Inc", "Paging rate (pages/second)"},
	{"io", "Numeric", "Inc", "Disk IO rate (Kbytes/second)"},
	{"ls", "Numeric", "Inc", "Number of login sessions (alias: login)"},
	{"it", "Numeric", "Dec", "Idle time (minutes) (alias: idle)"},
	{"tmp", "Numeric", "Dec", "Disk space in /tmp (Mbytes)"},
	{"swp", "Numeric", "Dec", "Available swap space (Mbytes) (alias: swap)"},
	{"mem", "Numeric", "Dec", "Available memory (Mbytes)"},
	{"ncpus", "Numeric", "Dec", "Number of CPUs"},
	{"ndisks", "Numeric", "Dec", "Number of local disks"},
	{"maxmem", "Numeric", "Dec", "Maximum memory (Mbytes)"},
	{"maxswp", "Numeric", "Dec", "Maximum swap space (Mbytes)"},
	{"maxtmp", "Numeric", "Dec", "Maximum /tmp space (Mbytes)"},
	{"cpuf", "Numeric", "Dec", "CPU factor"},
	{"type", "String", "N/A", "Host type"},
	{"model", "String", "N/A", "Host model"},
	{"status", "String", "N/A", "Host status"},
	{"hname", "String", "N/A", "Host name"},
}

func lsinfo() *cli.Command {
	return command("lsinfo", "show resources, and the types and models of hosts", "lsinfo [-h] [-V] [-r] [-t] [-m] [-w] [resource_name ...]\n", cli.Grammar{Letters: "rtmMlw"},
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if err := refuseOptions(opts, "M", "l"); err != nil {
				return err
			}
			_, hosts, err := s.hosts(ctx)
			if err != nil {
				return err
			}
			a, err := s.around(ctx, hosts, func(*around) bool { return false })
			if err != nil {
				return err
			}
			return showInfo(s, opts, a)
		})
}

// siteWords returns the resources of a site as lsinfo shows them.
func siteWords(a *around) (rows [][4]string) {
	for _, def := range a.defs {
		r, said := a.config.Resource(def.Name)
		kind, order := "String", "N/A"
		switch {
		case def.Type == resource.Boolean:
			kind = "Boolean"
		case def.Type.Numeric() && (said && r.Increasing || def.Raises()):
			kind, order = "Numeric", "Inc"
		case def.Type.Numeric():
			kind, order = "Numeric", "Dec"
		}
		rows = append(rows, [4]string{def.Name, kind, order, r.Description})
	}
	return rows
}

// showInfo prints the parts that are asked for, without options all of them.
func showInfo(s *session, opts *cli.Options, a *around) error {
	all := !opts.Has("r") && !opts.Has("t") && !opts.Has("m") && len(opts.Operands) == 0
	out := bufio.NewWriter(s.env.Stdout)
	if all || opts.Has("r") || len(opts.Operands) > 0 {
		var rows [][4]string
		for _, x := range indexWords {
			rows = append(rows, [4]string{x.name, x.kind, x.order, x.about})
		}
		rows = append(rows, siteWords(a)...)
		unknown := slices.DeleteFunc(slices.Clone(opts.Operands), func(name string) bool {
			return slices.ContainsFunc(rows, func(r [4]string) bool { return r[0] == name })
		})
		out.WriteString("RESOURCE_NAME   TYPE   ORDER  DESCRIPTION\n")
		for _, r := range rows {
			if len(opts.Operands) == 0 || slices.Contains(opts.Operands, r[0]) {
				out.WriteString(strings.TrimRight(fmt.Sprintf("%-12s %8s %5s   %s", r[0], r[1], r[2], r[3]), " ") + "\n")
			}
		}
		for _, name := range unknown {
			s.complain(name + ": No such resource defined")
		}
	}
	kinds, models := map[string]bool{}, map[string]bool{}
	var types, rows []string
	for _, h := range a.hosts {
		is := a.see(h)
		kind, _ := is.Value("type")
		if kind.Text != "" && !kinds[kind.Text] {
			kinds[kind.Text] = true
			types = append(types, kind.Text)
		}
		if m := is.row.Model; m != "" && !models[m] {
			models[m] = true
			rows = append(rows, fmt.Sprintf("%-14s %12.2f      %s", m, is.factor(), cmp.Or(kind.Text, "-")))
		}
	}
	if all || opts.Has("t") {
		out.WriteString("\nTYPE_NAME\n" + strings.Join(append(types, ""), "\n"))
	}
	if all || opts.Has("m") {
		out.WriteString("\nMODEL_NAME      CPU_FACTOR      ARCHITECTURE\n" + strings.Join(append(rows, ""), "\n"))
	}
	return out.Flush()
}
