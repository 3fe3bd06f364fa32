package lsf

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/transport/api"
)

const blimitsUsage = `blimits [-h] [-V] [-w] [-a | -c] [-n limit_name] [-u user_name] [-q queue_name]
             [-m host_name] [-P project_name]
`

func blimits() *cli.Command {
	g := cli.Grammar{Letters: "wacn:u:q:m:P:", Dashed: map[string]bool{"Lp": true, "fwd": false, "gl": false}}
	return command("blimits", "show limits of lsb.resources, and how much of them is used", blimitsUsage, g, func(ctx context.Context, s *session, opts *cli.Options) error {
		if err := refuseOptions(opts, "Lp", "fwd", "gl"); err != nil {
			return err
		}
		defs, c, err := s.known(ctx)
		switch {
		case err != nil:
			return err
		case opts.Has("c"):
			return s.limits(c)
		case len(c.Limits) == 0:
			return told("No resource limits configured")
		}
		uses, err := usesOf(ctx, s, c, defs)
		if err != nil {
			return err
		}
		return showLimits(s, opts, c, uses)
	})
}

// A use is what a job has of a host, or of the cluster, and who counts it.
type use struct {
	user, queue, host, project string
	groups                     []string
	slots                      int64
	amounts                    map[string]resreq.Amount
}

// usesOf returns what jobs have of hosts and of the cluster, and what is kept for them.
func usesOf(ctx context.Context, s *session, c lsf.Config, defs []resource.Def) ([]use, error) {
	known := around{defs: defs}
	_, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER, Attributes: []string{"restrict_res_to_release_on_suspend"}})
	if err != nil {
		return nil, err
	}
	releases := ""
	for _, o := range servers {
		releases = value(o, "restrict_res_to_release_on_suspend")
	}
	released := func(name string) bool { return releases == "" || slices.Contains(strings.Split(releases, ","), name) }
	var all []use
	_, err = s.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Subjobs: true, Attributes: append(slices.Clone(jobAttributes), "project", "egroup"),
		Where: []*api.Criterion{{Name: "job_state", Value: lsf.Letters(unfinished...)}},
	}, func(o *api.Object) error {
		j := newJob(o)
		if j.isArray() {
			return nil
		}
		held, wide := j.get("exec_vnode"), !j.pending()
		if j.pending() {
			held = j.get("lsf_reserved")
		}
		chunks, err := spec.ParseExecVnode(held)
		if err != nil {
			return nil // it has nothing
		}
		add := func(host, name, text string) {
			if j.suspended() && released(name) {
				return
			}
			all = append(all, use{user: j.user, queue: j.get("queue"), host: host, project: projectOf(j), groups: []string{j.get("egroup")}}.of(known, name, text))
		}
		for _, chunk := range chunks {
			for _, part := range chunk.Parts {
				for _, it := range part.Items {
					add(hostOfVnode(string(part.Vnode)), it.Name, it.Value)
				}
			}
		}
		for _, a := range o.Attributes {
			if def, ok := known.def(a.Resource); wide && ok && a.Name == "Resource_List" && def.Consumable() && !def.AtHost() {
				add("", a.Resource, a.Value)
			}
		}
		return nil
	})
	return all, err
}

// of says how much of what it is.
func (u use) of(known around, name, text string) use {
	def, ok := known.def(name)
	switch {
	case name == "ncpus":
		u.slots = int64(number(text))
	case ok:
		a := resreq.Amount(def.Measure(text)) * resreq.One
		if def.Type == resource.Float { // which is measured in millionths
			a = resreq.Amount(def.Measure(text)) / 1000
		}
		u.amounts = map[string]resreq.Amount{name: a}
	}
	return u
}

// A limitRow is one of those that a limit counts, or all of them.
type limitRow struct {
	users, queues, hosts, projects string
	slots                          int64
	amounts                        map[string]resreq.Amount
	used                           bool
}

// shownConsumers prints the consumers of a limit that counts them together.
func shownConsumers(c lsf.Consumers) string {
	if len(c.Names) == 0 {
		return "-"
	}
	return strings.Join(c.Names, " ")
}

// rowsOf sums up for a limit what is used: one row, or one for each whom it counts for himself.
func rowsOf(l lsf.Limit, uses []use) []*limitRow {
	together := limitRow{users: shownConsumers(l.Users), queues: shownConsumers(l.Queues), hosts: shownConsumers(l.Hosts), projects: shownConsumers(l.Projects)}
	rows := map[string]*limitRow{}
	for _, u := range uses {
		if !l.Users.Counts(u.user, u.groups...) || !l.Queues.Counts(u.queue) || !l.Projects.Counts(u.project) ||
			len(l.Hosts.Names) > 0 && (u.host == "" || !l.Hosts.Counts(u.host)) {
			continue
		}
		r := together
		for _, each := range []struct {
			of   lsf.Consumers
			cell *string
			name string
		}{{l.Users, &r.users, u.user}, {l.Queues, &r.queues, u.queue}, {l.Hosts, &r.hosts, u.host}, {l.Projects, &r.projects, u.project}} {
			if each.of.Each {
				*each.cell = each.name
			}
		}
		key := strings.Join([]string{r.users, r.queues, r.hosts, r.projects}, "\x00")
		if rows[key] == nil {
			r.amounts = map[string]resreq.Amount{}
			rows[key] = &r
		}
		rows[key].slots += u.slots
		for name, a := range u.amounts {
			rows[key].amounts[name] += a
		}
	}
	var all []*limitRow
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, rows[key])
	}
	for _, r := range all {
		r.used = (l.Slots != nil || l.PerCPU != nil) && r.slots > 0 || slices.ContainsFunc(l.Quantities, func(q lsf.Quantity) bool { return r.amounts[q.Resource] > 0 })
	}
	each := l.Users.Each || l.Queues.Each || l.Hosts.Each || l.Projects.Each
	if len(all) == 0 && !each {
		all = append(all, &together)
	}
	return all
}

// showLimits prints the limits of which something is used, with -a the others as well.
func showLimits(s *session, opts *cli.Options, c lsf.Config, uses []use) error {
	out := bufio.NewWriter(s.env.Stdout)
	const row = "%-14s %-12s %-12s %-14s %-12s %9s %13s %13s %13s\n"
	var external strings.Builder
	shown := false
	for _, l := range c.Limits {
		if opts.Has("n") && l.Name != opts.Last("n") {
			continue
		}
		if len(l.Hosts.Names) > 0 && c.Grouped(l.Hosts.Names) {
			l.Hosts.Names = c.HostChoice(l.Hosts.Names).Words()
		}
		for _, r := range rowsOf(l, uses) {
			if !r.used && !opts.Has("a") || !chosenRow(opts, l, r) {
				continue
			}
			if !shown {
				out.WriteString("\nINTERNAL RESOURCE LIMITS:\n\n")
				fmt.Fprintf(out, row, "NAME", "USERS", "QUEUES", "HOSTS", "PROJECTS", "SLOTS", "MEM", "TMP", "SWP")
			}
			shown = true
			slots := "-"
			switch {
			case l.Slots != nil:
				slots = fmt.Sprintf("%d/%d", r.slots, *l.Slots)
			case l.PerCPU != nil:
				slots = fmt.Sprintf("%d/%s per cpu", r.slots, strconv.FormatFloat(float64(*l.PerCPU)/1000, 'f', -1, 64))
			}
			cells := map[string]string{"mem": "-", "tmp": "-", "swp": "-"}
			for _, q := range l.Quantities {
				used := r.amounts[q.Resource].Print(q.Resource) + "/" + q.Amount.Print(q.Resource)
				if _, internal := cells[q.Resource]; internal {
					cells[q.Resource] = used + "M"
					continue
				}
				fmt.Fprintf(&external, "%-14s %-12s %-12s %-14s %-12s %s %s\n", l.Name, r.users, r.queues, r.hosts, r.projects, q.Resource, used)
			}
			fmt.Fprintf(out, row, l.Name, r.users, r.queues, r.hosts, r.projects, slots, cells["mem"], cells["tmp"], cells["swp"])
		}
	}
	if !shown {
		return told("No resource usage found.")
	}
	if external.Len() > 0 {
		fmt.Fprintf(out, "\nEXTERNAL RESOURCE LIMITS:\n\n%-14s %-12s %-12s %-14s %-12s %s\n%s", "NAME", "USERS", "QUEUES", "HOSTS", "PROJECTS", "RESOURCE USED/LIMIT", external.String())
	}
	return out.Flush()
}

// chosenRow reports whether a row is of those whom the options name.
func chosenRow(opts *cli.Options, l lsf.Limit, r *limitRow) bool {
	for _, x := range []struct {
		option string
		of     lsf.Consumers
		cell   string
	}{{"u", l.Users, r.users}, {"q", l.Queues, r.queues}, {"m", l.Hosts, r.hosts}, {"P", l.Projects, r.projects}} {
		if !opts.Has(x.option) {
			continue
		}
		if name := opts.Last(x.option); x.of.Each && x.cell != name || !x.of.Counts(name) {
			return false
		}
	}
	return true
}
