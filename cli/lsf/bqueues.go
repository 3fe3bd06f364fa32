package lsf

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/cli"
	"rampart/fsm/lsf"
	"rampart/transport/api"
)

const bqueuesUsage = `bqueues [-h] [-V] [-w | -l | -o "field_name[:[-][output_width]] ... [delimiter='character']" [-json]]
             [-noheader] [-m host_name | -m all] [-u user_name | -u all] [queue_name ...]
`

// queueColumns are the columns of bqueues -o, with LSF's widths.
var queueColumns = []knownColumn{
	{"queue_name", "qname", 15},
	{"description", "desc", 50},
	{"priority", "prio", 10},
	{"status", "stat", 15},
	{"max", "", 10},
	{"jl_u", "jlu", 10},
	{"jl_p", "jlp", 10},
	{"jl_h", "jlh", 10},
	{"njobs", "", 10},
	{"pend", "", 10},
	{"run", "", 10},
	{"susp", "", 10},
	{"rsv", "", 10},
	{"ususp", "", 10},
	{"ssusp", "", 10},
	{"nice", "", 6},
	{"res_req", "", 20},
	{"hosts", "", 50},
	{"users", "", 50},
}

// queueValues returns the columns of a queue.
func queueValues(o *api.Object, t tally) map[string]string {
	all, user := slotLimits(o)
	return map[string]string{
		"queue_name": o.Name, "description": value(o, "comment"), "priority": priorityOf(o), "status": queueStatus(o), "max": all, "jl_u": user,
		"jl_p": limitOf(o, lsf.QueueCPULimit), "jl_h": limitOf(o, lsf.QueueHostLimit), "njobs": strconv.Itoa(t.total), "pend": strconv.Itoa(t.pending),
		"run": strconv.Itoa(t.running), "susp": strconv.Itoa(t.sys + t.user), "rsv": strconv.Itoa(t.reserved), "ususp": strconv.Itoa(t.user), "ssusp": strconv.Itoa(t.sys),
		"nice": "0", "res_req": value(o, lsf.QueueRequirement), "hosts": cmp.Or(value(o, lsf.QueueHosts), "all"), "users": queueUsers(o),
	}
}

// choosesQueue returns whether a queue is one that the options choose: whose jobs may use a host, and that a user may use.
func choosesQueue(ctx context.Context, s *session, opts *cli.Options) (func(*api.Object) bool, error) {
	host, user := opts.Last("m"), opts.Last("u")
	if host == lsf.AllHosts {
		host = ""
	}
	var c lsf.Config
	if host != "" {
		_, hosts, err := s.hosts(ctx)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(hosts, func(h offer) bool { return h.Name == host }) {
			return nil, told(host + ": Bad host name, host group name or cluster name")
		}
		if c, err = s.configuration(ctx); err != nil {
			return nil, err
		}
	}
	return func(o *api.Object) bool { return mayUseHost(o, host, c) && mayBeUsedBy(o, user) }, nil
}

// queueHosts returns the words of HOSTS of a queue; none: all hosts.
func queueHosts(o *api.Object) []string {
	return strings.FieldsFunc(value(o, lsf.QueueHosts), func(r rune) bool { return r == ',' || r == ' ' })
}

// mayUseHost reports whether the jobs of a queue may have a host; empty: no matter which.
func mayUseHost(o *api.Object, host string, c lsf.Config) bool {
	words := queueHosts(o)
	if host == "" || len(words) == 0 {
		return true
	}
	choice := c.HostChoice(words)
	return choice.Has(host)
}

// mayBeUsedBy reports whether the access list of a queue lets a user in; empty, or all: no matter who.
func mayBeUsedBy(o *api.Object, user string) bool {
	if user == "" || user == "all" || value(o, "acl_user_enable") != "True" {
		return true
	}
	for entry := range strings.SplitSeq(value(o, "acl_users"), ",") {
		name, _, _ := strings.Cut(strings.TrimLeft(entry, "+-"), "@")
		if name == user || name == "" || name == "*" {
			return !strings.HasPrefix(entry, "-")
		}
	}
	return false
}

func bqueues() *cli.Command {
	g := cli.Grammar{Letters: "wlm:u:", Dashed: map[string]bool{"r": false, "o": true, "alloc": false, "noheader": false, "json": false}}
	return command("bqueues", "show queues", bqueuesUsage, g,
		func(ctx context.Context, s *session, opts *cli.Options) error {
			if err := refuseOptions(opts, "r", "alloc"); err != nil {
				return err
			}
			if err := sheetOptions("bqueues", opts); err != nil {
				return err
			}
			return s.queues(ctx, opts)
		})
}

// A tally counts the slots of jobs by what they do.
type tally struct{ total, pending, running, sys, user, reserved int }

func (t *tally) add(j job) {
	n := j.slots()
	switch {
	case j.pending():
		kept := min(j.keptSlots(), n) // counts as reserved, and no longer as pending
		t.pending, t.reserved = t.pending+n-kept, t.reserved+kept
	case j.state == lsf.UserSuspended:
		t.user += n
	case j.state == lsf.SysSuspended:
		t.sys += n
	case j.state == lsf.Running:
		t.running += n
	default:
		return
	}
	t.total += n
}

// tallies counts the slots of all jobs that are not finished by what an attribute of theirs says.
func (s *session) tallies(ctx context.Context, attribute string) (map[string]*tally, error) {
	all := map[string]*tally{}
	attributes := jobAttributes
	if !slices.Contains(attributes, attribute) {
		attributes = append(slices.Clone(attributes), attribute)
	}
	_, err := s.list(ctx, &api.ListRequest{
		Kind: api.ObjectKind_OBJECT_KIND_JOB, Subjobs: true, Attributes: attributes,
		Where: []*api.Criterion{{Name: "job_state", Value: lsf.Letters(unfinished...)}},
	}, func(o *api.Object) error {
		j := newJob(o)
		if j.isArray() {
			return nil
		}
		of := j.get(attribute)
		if all[of] == nil {
			all[of] = new(tally)
		}
		all[of].add(j)
		return nil
	})
	return all, err
}

func (s *session) queues(ctx context.Context, opts *cli.Options) error {
	_, all, err := s.objects(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Names: opts.Operands})
	if err != nil {
		return err
	}
	if len(opts.Operands) == 0 {
		slices.SortStableFunc(all, func(a, b *api.Object) int { return number(priorityOf(b)) - number(priorityOf(a)) })
	}
	tallies, err := s.tallies(ctx, "queue")
	if err != nil {
		return err
	}
	turn, err := s.turnOf(ctx, all)
	if err != nil {
		return err
	}
	chooses, err := choosesQueue(ctx, s, opts)
	if err != nil {
		return err
	}
	sheet, err := newSheet("bqueues", "QUEUES", opts, queueColumns)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(s.env.Stdout)
	shownOne := false
	for _, o := range all {
		if o.Refusal != nil {
			_ = out.Flush()
			s.complain(o.Name + ": No such queue")
			continue
		}
		if !chooses(o) {
			continue
		}
		t := tallies[o.Name]
		if t == nil {
			t = new(tally)
		}
		if sheet != nil {
			sheet.add(queueValues(o, *t))
		} else if opts.Has("l") {
			longQueue(out, o, *t, shownOne, turn)
		} else {
			queueRow(out, o, *t, !shownOne && !opts.Has("noheader"), opts.Has("w"))
		}
		shownOne = true
	}
	if !shownOne && s.status == 0 {
		return told("No queue found")
	}
	if sheet != nil {
		sheet.write(out)
	}
	return out.Flush()
}

// turnOf returns the seconds between two dispatch turns, if one of the queues shows them.
func (s *session) turnOf(ctx context.Context, queues []*api.Object) (int64, error) {
	if !slices.ContainsFunc(queues, func(o *api.Object) bool { return value(o, "slot_reserve")+value(o, "resource_reserve") != "" }) {
		return 0, nil
	}
	c, err := s.configuration(ctx)
	return c.Turn(), err
}

// queueStatus is Open or Closed to new jobs, and whether jobs are started.
func queueStatus(o *api.Object) string {
	status := "Closed:"
	if value(o, "enabled") == "True" {
		status = "Open:"
	}
	if value(o, "started") == "True" {
		return status + "Active"
	}
	return status + "Inact"
}

// slotLimits are MAX and JL/U.
func slotLimits(o *api.Object) (all, user string) {
	limits := amount(o, "max_run_res", "ncpus")
	return cmp.Or(lsf.SlotLimit(limits, lsf.Everybody), "-"), cmp.Or(lsf.SlotLimit(limits, lsf.EachUser), "-")
}

func priorityOf(o *api.Object) string { return cmp.Or(value(o, "Priority"), "0") }

func queueRow(out *bufio.Writer, o *api.Object, t tally, head, wide bool) {
	if head {
		out.WriteString("QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP \n")
	}
	name := o.Name
	if !wide {
		name = fmt.Sprintf("%.15s", name)
	}
	all, user := slotLimits(o)
	fmt.Fprintf(out, "%-15s %3s  %-13s %5s %4s %4s %4s %5d %5d %5d %5d \n",
		name, priorityOf(o), queueStatus(o), all, user, limitOf(o, lsf.QueueCPULimit), limitOf(o, lsf.QueueHostLimit), t.total, t.pending, t.running, t.sys+t.user)
}

// longQueue is the form of -l; a dispatch turn has so many seconds.
func longQueue(out *bufio.Writer, o *api.Object, t tally, again bool, turn int64) {
	if again {
		out.WriteString(separator)
	}
	all, user := slotLimits(o)
	fmt.Fprintf(out, "\nQUEUE: %s\n", o.Name)
	if text := value(o, "comment"); text != "" {
		fmt.Fprintf(out, "  -- %s\n", text)
	}
	out.WriteString("\nPARAMETERS/STATISTICS\nPRIO NICE     STATUS       MAX JL/U JL/P JL/H NJOBS  PEND  RUN  SSUSP USUSP  RSV\n")
	fmt.Fprintf(out, "%3s %3d  %-13s %5s %4s %4s %4s %5d %5d %5d %5d %5d %4d\n",
		priorityOf(o), 0, queueStatus(o), all, user, limitOf(o, lsf.QueueCPULimit), limitOf(o, lsf.QueueHostLimit), t.total, t.pending, t.running, t.sys, t.user, t.reserved)
	if minutes := secondsOf(amount(o, "resources_max", "walltime")); minutes > 0 {
		fmt.Fprintf(out, "\nMAXIMUM LIMITS:\n RUNLIMIT\n %.1f min\n", float64(minutes)/60)
	}
	out.WriteString("\nSCHEDULING PARAMETERS\n" + thresholds(value(o, lsf.QueueThresholds)))
	if text := policies(o); text != "" {
		out.WriteString("\nSCHEDULING POLICIES:  " + text + "\n")
	}
	hosts := cmp.Or(strings.Join(queueHosts(o), " "), lsf.AllHosts)
	out.WriteString("\nUSERS:  " + queueUsers(o) + "\nHOSTS:  " + hosts + "\n")
	for _, x := range []struct{ label, attribute string }{
		{"RES_REQ", lsf.QueueRequirement}, {"RESRSV_LIMIT", lsf.QueueLimits}, {"STOP_COND", lsf.QueueStop}, {"RESUME_COND", lsf.QueueResume},
	} {
		if text := value(o, x.attribute); text != "" {
			fmt.Fprintf(out, "%s:  %s\n", x.label, text)
		}
	}
	for _, x := range []struct{ attribute, kind string }{{"resource_reserve", "resource"}, {"slot_reserve", "slot"}} {
		if n := number(value(o, x.attribute)); n > 0 {
			fmt.Fprintf(out, "Maximum %s reservation time: %d seconds\n", x.kind, int64(n)*turn)
			break // of both the first governs
		}
	}
	out.WriteByte('\n')
}

// limitOf returns a limit of a queue's slots, "-" if there is none.
func limitOf(o *api.Object, attribute string) string { return cmp.Or(value(o, attribute), "-") }

// policies names what holds in a queue, in the order of LSF.
func policies(o *api.Object) string {
	var all []string
	if value(o, "backfill") != "False" {
		all = append(all, "BACKFILL")
	}
	if number(value(o, "resource_reserve")) > 0 {
		all = append(all, "RESOURCE_RESERVE")
	}
	return strings.Join(all, "  ")
}

// thresholds returns the table of loadSched and loadStop, of a value of lsf_thresholds.
func thresholds(text string) string {
	if text == "" {
		return noThresholds
	}
	head, _, _ := strings.Cut(noThresholds, "\n")
	starts, stops := map[string]string{}, map[string]string{}
	for t := range strings.FieldsSeq(text) {
		index, bounds, _ := strings.Cut(t, "=")
		starts[index], stops[index], _ = strings.Cut(bounds, "/")
	}
	row := func(name string, bounds map[string]string) string {
		line := fmt.Sprintf(" %-9s", name)
		for index := range strings.FieldsSeq(head) {
			width := strings.Index(head, " "+index) + 1 + len(index)
			line += fmt.Sprintf("%*s", max(width-len(line), 2), cmp.Or(bounds[index], "-"))
		}
		return line + "\n"
	}
	return head + "\n" + row("loadSched", starts) + row("loadStop", stops)
}

// queueUsers says who may use the queue.
func queueUsers(o *api.Object) string {
	if value(o, "acl_user_enable") != "True" {
		return "all users"
	}
	return cmp.Or(strings.ReplaceAll(value(o, "acl_users"), ",", " "), "none")
}
