package lsf

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/transport/api"
)

const bhostsUsage = `bhosts [-h] [-V] [-w | -l | -o "field_name[:[-][output_width]] ... [delimiter='character']" [-json]]
             [-noheader] [-a] [-X] [-rc | -rconly] [host_name | host_group ...]
       bhosts [-h] [-V] -s [resource_name ...]
`

// hostColumns are the columns of bhosts -o, with LSF's widths.
var hostColumns = []knownColumn{
	{"host_name", "hname", 20},
	{"status", "stat", 15},
	{"cpuf", "", 10},
	{"jl_u", "jlu", 8},
	{"max", "", 8},
	{"njobs", "", 8},
	{"run", "", 8},
	{"ssusp", "", 8},
	{"ususp", "", 8},
	{"rsv", "", 8},
	{"dispatch_window", "dispwin", 50},
	{"comments", "", 30},
}

// hostValues returns the columns of a host.
func hostValues(h sighted, t tally) map[string]string {
	return map[string]string{
		"host_name": h.Name, "status": hostStatus(h.offer, t, len(h.over()) > 0, true), "cpuf": fmt.Sprintf("%.2f", h.factor()), "jl_u": h.perUser(), "max": strconv.Itoa(h.slots),
		"njobs": strconv.Itoa(t.total), "run": strconv.Itoa(t.running), "ssusp": strconv.Itoa(t.sys), "ususp": strconv.Itoa(t.user), "rsv": strconv.Itoa(t.reserved),
		"comments": value(h.Object, "comment"),
	}
}

func bhosts() *cli.Command {
	g := cli.Grammar{Letters: "wls", Dashed: map[string]bool{
		"a": false, "e": false, "x": false, "X": false, "R": true, "o": true, "alloc": false, "noheader": false, "aff": false, "json": false, "rc": false, "rconly": false,
	}}
	return command("bhosts", "show hosts and the slots of jobs on them", bhostsUsage, g,
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if err := refuseOptions(opts, "e", "x", "R", "alloc", "aff"); err != nil {
				return err
			}
			if err := sheetOptions("bhosts", opts); err != nil {
				return err
			}
			if opts.Has("rconly") { // hosts that were borrowed from a cloud
				return told("No host found")
			}
			if opts.Has("s") {
				return s.sharedResources(ctx, opts.Operands)
			}
			return s.hostSlots(ctx, opts)
		})
}

// chosenHosts returns the hosts that operands name, or all; each that is none is told of.
func (s *session) chosenHosts(hosts []offer, names []string, words string) []offer {
	if len(names) == 0 {
		return hosts
	}
	var some []offer
	for _, name := range names {
		i := slices.IndexFunc(hosts, func(h offer) bool { return h.Name == name })
		if i < 0 {
			s.complain(name + ": " + words)
			continue
		}
		some = append(some, hosts[i])
	}
	return some
}

// ungrouped returns names with the hosts of a host group, or of a compute unit, in its place. A host comes before a group of its name.
func (s *session) ungrouped(ctx context.Context, hosts []offer, names []string) (all []string, err error) {
	var config lsf.Config
	read := false
	for _, name := range names {
		if slices.ContainsFunc(hosts, func(h offer) bool { return h.Name == name }) {
			all = append(all, name)
			continue
		}
		if !read {
			if config, err = s.configuration(ctx); err != nil {
				return nil, err
			}
			read = true
		}
		choice, some := config.HostChoice([]string{name}), false
		for _, h := range hosts {
			if !strings.ContainsAny(name, "~+") && choice.Has(h.Name) {
				all, some = append(all, h.Name), true
			}
		}
		if !some {
			all = append(all, name)
		}
	}
	return all, nil
}

func (s *session) hostSlots(ctx context.Context, opts *cli.Options) error {
	_, hosts, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	operands, err := s.ungrouped(ctx, hosts, opts.Operands)
	if err != nil {
		return err
	}
	some := s.chosenHosts(hosts, operands, "Bad host name, host group name or cluster name")
	if len(some) == 0 {
		if len(opts.Operands) == 0 {
			return told("No host found")
		}
		return nil
	}
	tallies := map[string]*tally{}
	_, err = s.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Subjobs: true, Attributes: jobAttributes,
		Where: []*api.Criterion{{Name: "job_state", Value: lsf.Letters(lsf.Running, lsf.UserSuspended, lsf.SysSuspended)}},
	}, func(o *api.Object) error {
		j := newJob(o)
		if j.isArray() {
			return nil
		}
		for _, x := range j.shares() {
			if tallies[x.host] == nil {
				tallies[x.host] = new(tally)
			}
			tallies[x.host].onHost(j.state, x.slots)
		}
		return nil
	})
	if err != nil {
		return err
	}
	around, err := s.around(ctx, hosts, func(a *around) bool {
		return opts.Has("l") || slices.ContainsFunc(a.config.Hosts, func(h lsf.Host) bool { return len(h.Thresholds) > 0 })
	})
	if err != nil {
		return err
	}
	sheet, err := newSheet("bhosts", "HOSTS", opts, hostColumns)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.env.Stdout)
	for i, h := range some {
		t := tallies[h.Name]
		if t == nil {
			t = new(tally)
		}
		t.reserved = number(amount(h.Object, "resources_reserved", "ncpus"))
		t.total += t.reserved
		if sheet != nil {
			sheet.add(hostValues(around.see(h), *t))
			continue
		}
		if opts.Has("l") {
			longHost(out, around.see(h), *t)
			continue
		}
		hostRow(out, around.see(h), *t, i == 0 && !opts.Has("noheader"), opts.Has("w"))
	}
	if sheet != nil {
		sheet.write(out)
	}
	return out.Flush()
}

// onHost counts slots that a job has on one host.
func (t *tally) onHost(state string, slots int) {
	switch state {
	case lsf.Running:
		t.running += slots
	case lsf.UserSuspended:
		t.user += slots
	case lsf.SysSuspended:
		t.sys += slots
	default:
		return
	}
	t.total += slots
}

// hostStatus returns what LSF calls the state of a host, in the long form with the reason why it is
// closed.
func hostStatus(h offer, t tally, busy, long bool) string {
	o := h.Object
	closed := func(why string) string {
		if long {
			return "closed_" + why
		}
		return "closed"
	}
	states := strings.Split(value(o, "state"), ",")
	has := func(name string) bool { return slices.Contains(states, name) }
	switch {
	case has("state-unknown"):
		return "unreach"
	case has("down"), has("Stale"), has("unresolvable"), has("initializing"):
		return "unavail"
	case has("offline"), has("offline_by_mom"), has("maintenance"), has("provisioning"), has("sleep"):
		return closed("Adm")
	case has("job-exclusive"), has("resv-exclusive"):
		return closed("Excl")
	case has("job-busy"), h.slots > 0 && has("free") && t.reserved > 0 && t.running+t.reserved >= h.slots:
		return closed("Full")
	case has("busy"), busy && (has("free") || has("<various>")):
		return closed("Busy")
	case has("free"), has("<various>"):
		return "ok"
	}
	return "unavail"
}

// perUser is JL/U: how many slots each user may have on the host.
func (h sighted) perUser() string {
	if h.row.UserSlots == nil {
		return "-"
	}
	return strconv.FormatInt(*h.row.UserSlots, 10)
}

func hostRow(out *bufio.Writer, h sighted, t tally, head, wide bool) {
	if head {
		out.WriteString("HOST_NAME          STATUS          JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV \n")
	}
	name := h.Name
	if !wide {
		name = fmt.Sprintf("%.18s", name)
	}
	fmt.Fprintf(out, "%-18s %-14s %5s %6d %6d %6d %6d %6d %6d \n",
		name, hostStatus(h.offer, t, len(h.over()) > 0, wide), h.perUser(), h.slots, t.total, t.running, t.sys, t.user, t.reserved)
}

// longHost is the form of -l. Load of which the mom says nothing is a dash; of mem, swp and tmp there is what the host has
// and what jobs have of it.
func longHost(out *bufio.Writer, h sighted, t tally) {
	over := h.over()
	fmt.Fprintf(out, "HOST  %s\n", h.Name)
	out.WriteString("STATUS           CPUF  JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV DISPATCH_WINDOW\n")
	fmt.Fprintf(out, "%-14s %6.2f %5s %6d %6d %6d %6d %6d %6d      -\n\n", hostStatus(h.offer, t, len(over) > 0, true), h.factor(), h.perUser(), h.slots, t.total, t.running, t.sys, t.user, t.reserved)
	totals, taken := " Total      ", " Reserved   "
	for _, index := range lsf.LoadIndices {
		total, reserved := h.shown(index), lsf.ShownLoad(index, 0)
		if def, ok := h.Resource(index); ok {
			reserved = lsf.ShownLoad(index, lsf.ShownAmount(def, heldOf(h.Object, def)))
		}
		if slices.Contains(over, index) {
			total = "*" + total
		}
		width := 6
		if index == "io" || index == "ls" {
			width = 5
		}
		totals += fmt.Sprintf(" %*s", width-1, total)
		taken += fmt.Sprintf(" %*s", width-1, reserved)
	}
	fmt.Fprintf(out, " CURRENT LOAD USED FOR SCHEDULING:\n              r15s   r1m  r15m    ut    pg   io   ls    it   tmp   swp   mem\n%s\n%s\n\n", totals, taken)
	longResources(out, h, over)
	out.WriteString(" LOAD THRESHOLD USED FOR SCHEDULING:\n" + thresholds(lsf.ThresholdsText(h.row.Thresholds)) + "\n")
}

// longResources prints what a site has defined of the host, each in a column.
func longResources(out *bufio.Writer, h sighted, over []string) {
	var heads, totals, taken strings.Builder
	for _, def := range h.around.defs {
		v, has := h.Value(def.Name)
		if _, reported := h.load[def.Name]; !has || !reported && !def.AtVnodes() {
			continue
		}
		width := max(len(def.Name), 9)
		total := fmt.Sprintf("%.1f", max(v.Number, 0))
		if slices.Contains(over, def.Name) {
			total = "*" + total
		}
		fmt.Fprintf(&heads, " %*s", width, def.Name)
		fmt.Fprintf(&totals, " %*s", width, total)
		fmt.Fprintf(&taken, " %*.1f", width, lsf.ShownAmount(def, heldOf(h.holder(def), def)))
	}
	if heads.Len() > 0 {
		fmt.Fprintf(out, "              %s\n Total        %s\n Reserved     %s\n\n", heads.String(), totals.String(), taken.String())
	}
}

// An instance of a resource is of one host, or of several that share what one of them has.
type instance struct {
	holder *api.Object
	hosts  []string
}

// instances returns those of a resource of hosts, in the order of the hosts that have the amounts.
func instances(def resource.Def, hosts []offer) []*instance {
	var all []*instance
	byHolder := map[string]*instance{}
	for _, h := range hosts {
		text := amount(h.Object, "resources_available", def.Name)
		if text != "" && text[0] != '@' {
			i := &instance{h.Object, []string{h.Name}}
			byHolder[h.Name] = i
			all = append(all, i)
		}
	}
	for _, h := range hosts {
		if holder, shares := strings.CutPrefix(amount(h.Object, "resources_available", def.Name), "@"); shares && byHolder[holder] != nil {
			byHolder[holder].hosts = append(byHolder[holder].hosts, h.Name)
		}
	}
	return all
}

// sharedResources is bhosts -s: the numeric resources of the site, one row for each instance.
func (s *session) sharedResources(ctx context.Context, names []string) error {
	defs, err := s.resources(ctx)
	if err != nil {
		return err
	}
	_, hosts, err := s.hosts(ctx)
	if err != nil {
		return err
	}
	_, servers, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SERVER})
	if err != nil || len(servers) == 0 {
		return err
	}
	all := make([]string, len(hosts))
	for i, h := range hosts {
		all[i] = h.Name
	}
	wanted := func(def resource.Def) bool {
		return def.Consumable() && (len(names) == 0 || slices.Contains(names, def.Name))
	}
	for _, name := range names {
		if !slices.ContainsFunc(defs, func(d resource.Def) bool { return d.Name == name && wanted(d) }) {
			s.complain("bhosts: " + name + ": No such resource defined")
		}
	}
	var rows strings.Builder
	row := func(def resource.Def, o *api.Object, location string) {
		text := amount(o, "resources_available", def.Name)
		if text == "" {
			return
		}
		held := heldOf(o, def)
		fmt.Fprintf(&rows, "%-20s %8.1f        %7.1f       %s\n", def.Name, lsf.ShownAmount(def, def.Measure(text)-held), lsf.ShownAmount(def, held), location)
	}
	for _, def := range defs {
		switch {
		case !wanted(def):
		case def.AtHost():
			for _, i := range instances(def, hosts) {
				row(def, i.holder, strings.Join(i.hosts, " "))
			}
		default:
			row(def, servers[0], strings.Join(all, " "))
		}
	}
	if rows.Len() == 0 {
		if s.status == 0 {
			return told("No shared resources defined in the cluster")
		}
		return nil
	}
	_, err = fmt.Fprintf(s.env.Stdout, "RESOURCE                 TOTAL       RESERVED       LOCATION\n%s", rows.String())
	return err
}
