package conf

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
)

// A Named is one file of a configuration, by the name that it has in LSF.
type Named struct{ Name, Text string }

// Dump writes a configuration as files that Read makes it of again. Values of keywords that mean what is the default, and comments, are lost.
func Dump(c Configuration) []Named {
	d := dumper{c}
	var all []Named
	for _, f := range []struct {
		name  string
		write func(*strings.Builder)
	}{
		{"lsf.conf", d.mainFile},
		{"lsf.shared", d.shared},
		{"lsf.cluster", d.cluster},
		{"lsb.params", d.params},
		{"lsb.hosts", d.hosts},
		{"lsb.queues", d.queues},
		{"lsb.resources", d.resources},
		{"lsb.modules", d.modules},
		{"lsb.applications", d.applications},
	} {
		var b strings.Builder
		f.write(&b)
		all = append(all, Named{f.name, b.String()})
	}
	return all
}

type dumper struct{ Configuration }

// keywords writes KEY = value where there is a value, in a section.
func keywords(b *strings.Builder, section string, pairs ...string) {
	fmt.Fprintf(b, "Begin %s\n", section)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			fmt.Fprintf(b, "%-16s = %s\n", pairs[i], pairs[i+1])
		}
	}
	fmt.Fprintf(b, "End %s\n\n", section)
}

// rows writes a section in the vertical form, nothing without rows.
func rows(b *strings.Builder, section string, keys []string, all [][]string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "Begin %s\n%s\n", section, strings.Join(keys, "  "))
	for _, row := range all {
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(cell)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "End %s\n\n", section)
}

// cell returns a value of a row: in parentheses when it has blanks, or is missing.
func cell(text string) string {
	if text == "" || strings.ContainsAny(text, " \t()") {
		return "(" + text + ")"
	}
	return text
}

func yes(on bool) string {
	if on {
		return "Y"
	}
	return "N"
}

// given returns a number, nothing for 0.
func given(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// minutesOf writes seconds, nothing for 0.
func minutesOf(seconds int64) string { return given(seconds / 60) }

// both writes a default and a maximum.
func both(standard, most string) string { return strings.TrimSpace(standard + " " + most) }

func (n dumper) mainFile(b *strings.Builder) {
	if n.Config.TimeReserveJobs > 0 {
		fmt.Fprintf(b, "LSB_TIME_RESERVE_NUMJOBS=%d\n", n.Config.TimeReserveJobs)
	}
	fmt.Fprintf(b, "LSF_STRICT_RESREQ=%s\n", yes(n.Config.Strict))
}

func (n dumper) shared(b *strings.Builder) {
	factors := map[string]bool{}
	var models, all [][]string
	for _, h := range n.Config.Hosts {
		if h.Model != "" && h.Factor > 0 && !factors[h.Model] {
			factors[h.Model] = true
			models = append(models, []string{h.Model, decimals(h.Factor)})
		}
	}
	rows(b, "HostModel", []string{"MODELNAME", "CPUFACTOR"}, models)
	words := map[resreq.Kind]string{resreq.Boolean: "Boolean", resreq.Text: "String", resreq.Numeric: "Numeric"}
	for _, r := range n.Config.Resources {
		all = append(all, []string{r.Name, words[r.Kind], cell(given(r.Interval)), yes(r.Increasing), yes(r.Consumable), yes(!r.Kept), "(" + r.Description + ")"})
	}
	rows(b, "Resource", []string{"RESOURCENAME", "TYPE", "INTERVAL", "INCREASING", "CONSUMABLE", "RELEASE", "DESCRIPTION"}, all)
}

func decimals(n lsf.Thousandths) string { return resreq.Amount(n).Print("") }

func (n dumper) cluster(b *strings.Builder) {
	var hosts, where [][]string
	for _, h := range n.Config.Hosts {
		if h.Model != "" || h.Type != "" || len(h.Has) > 0 {
			hosts = append(hosts, []string{h.Name, cmp.Or(h.Model, "!"), cmp.Or(h.Type, "!"), "1", "(" + strings.Join(h.Has, " ") + ")"})
		}
	}
	rows(b, "Host", []string{"HOSTNAME", "model", "type", "server", "RESOURCES"}, hosts)
	var names []string
	groups := map[string][]string{}
	for _, i := range n.Config.Instances {
		if len(groups[i.Resource]) == 0 {
			names = append(names, i.Resource)
		}
		text := "[" + strings.Join(i.Hosts, " ") + "]"
		if i.Value != "" {
			text = i.Value + "@" + text
		}
		groups[i.Resource] = append(groups[i.Resource], text)
	}
	for _, name := range names {
		where = append(where, []string{name, "(" + strings.Join(groups[name], " ") + ")"})
	}
	rows(b, "ResourceMap", []string{"RESOURCENAME", "LOCATION"}, where)
}

func (n dumper) params(b *strings.Builder) {
	c := n.Config
	paging := ""
	if c.PagingIdle != nil {
		paging = strconv.FormatInt(*c.PagingIdle, 10)
	}
	standard, _ := n.Server.Get("default_queue", "")
	keywords(b, "Parameters",
		"DEFAULT_QUEUE", standard,
		"MBD_SLEEP_TIME", given(c.SleepTime),
		"JOB_ACCEPT_INTERVAL", given(c.AcceptInterval),
		"PG_SUSP_IT", paging,
		"RESOURCE_RESERVE_PER_SLOT", yes(c.PerSlot),
		"ABS_RUNLIMIT", yes(c.AbsRunlimit),
		"DEFAULT_HOST_SPEC", c.HostSpec,
		"DEFAULT_APPLICATION", c.DefaultApplication,
		"COMPUTE_UNIT_TYPES", strings.Join(c.UnitTypes, " "))
}

func (n dumper) hosts(b *strings.Builder) {
	var indices []string
	for _, h := range n.Config.Hosts {
		for _, t := range h.Thresholds {
			if !slices.Contains(indices, t.Index) {
				indices = append(indices, t.Index)
			}
		}
	}
	var all, units, groups [][]string
	for _, h := range n.Config.Hosts {
		if !h.Listed {
			continue
		}
		row := []string{h.Name, "!", "()"}
		if h.Slots != nil {
			row[1] = strconv.FormatInt(*h.Slots, 10)
		}
		if h.UserSlots != nil {
			row[2] = strconv.FormatInt(*h.UserSlots, 10)
		}
		for _, index := range indices {
			i := slices.IndexFunc(h.Thresholds, func(t lsf.Threshold) bool { return t.Index == index })
			text := ""
			if i >= 0 {
				_, text, _ = strings.Cut(h.Thresholds[i].String(), "=")
			}
			row = append(row, cell(text))
		}
		all = append(all, row)
	}
	rows(b, "Host", append([]string{"HOST_NAME", "MXJ", "JL/U"}, indices...), all)
	for _, g := range n.Config.HostGroups {
		groups = append(groups, []string{g.Name, "(" + strings.Join(g.Members, " ") + ")"})
	}
	rows(b, "HostGroup", []string{"GROUP_NAME", "GROUP_MEMBER"}, groups)
	for _, u := range n.Config.Units {
		units = append(units, []string{u.Name, u.Type, "(" + strings.Join(u.Members, " ") + ")"})
	}
	rows(b, "ComputeUnit", []string{"NAME", "TYPE", "MEMBER"}, units)
}

func (n dumper) queues(b *strings.Builder) {
	for _, q := range n.Queues {
		get := func(name string) string {
			value, _ := q.Attrs.Get(name, "")
			return value
		}
		turns := func(name string) string {
			if n := get(name); n != "" {
				return "MAX_RESERVE_TIME[" + n + "]"
			}
			return ""
		}
		limit := func(name string) string {
			seconds := func(list string) int64 {
				value, _ := q.Attrs.Get(list, name)
				t, err := resource.Parse(resource.Time, value)
				if err != nil {
					return 0
				}
				return t.Int()
			}
			return both(minutesOf(seconds("resources_default")), minutesOf(seconds("resources_max")))
		}
		backfill := "N"
		if get("backfill") == "True" {
			backfill = "Y"
		}
		users := ""
		if get("acl_user_enable") == "True" {
			users = strings.ReplaceAll(get("acl_users"), ",", " ")
		}
		slots, _ := q.Attrs.Get("max_run_res", "ncpus")
		pairs := []string{
			"QUEUE_NAME", q.Name, "DESCRIPTION", get("comment"), "PRIORITY", get("Priority"), "RES_REQ", get(lsf.QueueRequirement),
			"RESRSV_LIMIT", get(lsf.QueueLimits), "STOP_COND", get(lsf.QueueStop), "RESUME_COND", get(lsf.QueueResume), "RESOURCE_RESERVE", turns("resource_reserve"), "SLOT_RESERVE", turns("slot_reserve"),
			"BACKFILL", backfill, "RUNLIMIT", limit("walltime"), "CPULIMIT", limit("cput"),
			"QJOB_LIMIT", lsf.SlotLimit(slots, lsf.Everybody), "UJOB_LIMIT", lsf.SlotLimit(slots, lsf.EachUser),
			"PJOB_LIMIT", get(lsf.QueueCPULimit), "HJOB_LIMIT", get(lsf.QueueHostLimit),
			"HOSTS", strings.ReplaceAll(get(lsf.QueueHosts), ",", " "), "USERS", users,
		}
		for t := range strings.FieldsSeq(get(lsf.QueueThresholds)) {
			index, bounds, _ := strings.Cut(t, "=")
			pairs = append(pairs, index, bounds)
		}
		keywords(b, "Queue", pairs...)
	}
}

func (n dumper) resources(b *strings.Builder) {
	var usage [][]string
	for _, row := range n.Config.Usage {
		usage = append(usage, []string{row.Resource, row.Method.String()})
	}
	rows(b, "ReservationUsage", []string{"RESOURCE", "METHOD"}, usage)
	for _, l := range n.Config.Limits {
		WriteLimit(b, l)
	}
}

// WriteLimit writes a section Limit.
func WriteLimit(b *strings.Builder, l lsf.Limit) {
	pairs := []string{"NAME", l.Name}
	for _, of := range []struct {
		word string
		lsf.Consumers
	}{{"USER", l.Users}, {"QUEUE", l.Queues}, {"HOST", l.Hosts}, {"PROJECT", l.Projects}} {
		key := of.word + "S"
		if of.Each {
			key = "PER_" + of.word
		}
		pairs = append(pairs, key, strings.Join(of.Names, " "))
	}
	if l.Slots != nil {
		pairs = append(pairs, "SLOTS", strconv.FormatInt(*l.Slots, 10))
	}
	if l.PerCPU != nil {
		pairs = append(pairs, "SLOTS_PER_PROCESSOR", decimals(*l.PerCPU))
	}
	var groups []string
	for _, q := range l.Quantities {
		groups = append(groups, "["+q.Resource+","+q.Amount.Print(q.Resource)+"]")
	}
	keywords(b, "Limit", append(pairs, "RESOURCE", strings.Join(groups, " "))...)
}

func (n dumper) modules(b *strings.Builder) {
	var all [][]string
	for _, m := range n.Config.Modules {
		all = append(all, []string{m, "()", "()"})
	}
	rows(b, "PluginModule", []string{"SCH_PLUGIN", "RB_PLUGIN", "SCH_DISABLE_PHASES"}, all)
}

func (n dumper) applications(b *strings.Builder) {
	for _, a := range n.Config.Applications {
		keywords(b, "Application", "NAME", a.Name, "DESCRIPTION", a.Description, "RES_REQ", a.Requirement, "RUNTIME", minutesOf(a.Runtime),
			"RUNLIMIT", both(minutesOf(a.RunDefault), minutesOf(a.RunMax)), "CPULIMIT", minutesOf(a.CPULimit))
	}
}

// Said returns the part of a queue's attributes that lsb.queues can say.
func Said(list attr.List) attr.List {
	return slices.DeleteFunc(slices.Clone(list), func(e attr.Entry) bool {
		switch e.Name {
		case "comment", "Priority", lsf.QueueRequirement, lsf.QueueLimits, "resource_reserve", "slot_reserve", "backfill",
			lsf.QueueCPULimit, lsf.QueueHostLimit, lsf.QueueHosts, "acl_users", "acl_user_enable", lsf.QueueThresholds, lsf.QueueStop, lsf.QueueResume:
			return false
		case "resources_default", "resources_max":
			return e.Resource != "walltime" && e.Resource != "cput"
		case "max_run_res":
			return e.Resource != "ncpus"
		}
		return true
	})
}
