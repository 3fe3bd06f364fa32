package state

import (
	"fmt"
	"strconv"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Attributes of time are whole seconds since the epoch; commands print them in
// the user's own zone.

// hotJob reads the attributes that are typed fields of the job. An empty text is
// an attribute that is not set.
var hotJob = map[string]func(t *tables, j *Job) string{
	"Job_Name":           func(_ *tables, j *Job) string { return j.Name },
	"Job_Owner":          func(_ *tables, j *Job) string { return j.Owner.String() },
	"job_state":          (*tables).jobLetter,
	"depend":             func(_ *tables, j *Job) string { return j.Depends.Text(j.ID) },
	"Execution_Time":     func(_ *tables, j *Job) string { return seconds(j.ExecAt) },
	"queue":              func(_ *tables, j *Job) string { return string(j.Queue) },
	"server":             func(t *tables, _ *Job) string { return t.cluster.Name },
	"ctime":              func(_ *tables, j *Job) string { return seconds(j.Created) },
	"qtime":              func(_ *tables, j *Job) string { return seconds(j.Queued) },
	"reserve_ID":         func(_ *tables, j *Job) string { return string(j.Reservation) },
	"etime":              func(_ *tables, j *Job) string { return seconds(j.Eligible) },
	"stime":              func(_ *tables, j *Job) string { return seconds(j.Started) },
	"obittime":           func(_ *tables, j *Job) string { return seconds(j.Ended) },
	"mtime":              func(_ *tables, j *Job) string { return seconds(j.Changed) },
	"exec_host":          func(t *tables, j *Job) string { return t.namedHosts(j.LastRun().ExecHost).String() },
	"exec_vnode":         func(_ *tables, j *Job) string { return j.LastRun().ExecVnode.String() },
	"resources_released": func(_ *tables, j *Job) string { return j.LastRun().Released().String() },
	"Hold_Types":         func(_ *tables, j *Job) string { return j.Holds.String() },
	"Priority":           func(_ *tables, j *Job) string { return strconv.Itoa(int(j.Priority)) },
	"Rerunable":          func(_ *tables, j *Job) string { return boolText(!j.NotRerunnable) },
	"schedselect":        func(_ *tables, j *Job) string { return j.SchedSelect },
	"session_id":         func(_ *tables, j *Job) string { return positive(j.LastRun().Session) },
	"substate":           func(_ *tables, j *Job) string { return strconv.Itoa(int(j.Substate)) },
	"queue_type": func(t *tables, j *Job) string {
		if q, ok := t.Queue(j.Queue); ok && q.Routes() {
			return "R"
		}
		return "E"
	},
	"eligible_time": func(t *tables, j *Job) string {
		if j.Accrued == nil {
			return ""
		}
		return resource.Seconds(j.Accrued.Seconds(t.cluster.Time)).String()
	},
	"accrue_type": func(_ *tables, j *Job) string {
		if j.Accrued == nil {
			return ""
		}
		return positive(int64(j.Accrued.Type))
	},
	"comment":     func(_ *tables, j *Job) string { return j.CommentText() },
	"run_count":   func(_ *tables, j *Job) string { return positive(j.Runs()) },
	"run_version": func(_ *tables, j *Job) string { return positive(int64(j.RunCount)) },
	"Exit_status": func(_ *tables, j *Job) string {
		status, ok := j.Exit()
		if !ok {
			return ""
		}
		return strconv.Itoa(int(status))
	},
	"lsf_reserved":       func(_ *tables, j *Job) string { return j.Pending.keptText() },
	"lsf_reserved_since": func(_ *tables, j *Job) string { return j.Pending.sinceText() },
	"lsf_resumed": func(_ *tables, j *Job) string {
		if !j.AskedToGoOn() {
			return ""
		}
		return "True"
	},
	"lsf_unready": func(t *tables, j *Job) string {
		if !t.unready(j) {
			return ""
		}
		return "True"
	},
	"history_timestamp": func(_ *tables, j *Job) string {
		if j.State != pbs.Finished {
			return ""
		}
		return seconds(j.Ended)
	},
}

// hotAttribute returns how an attribute is read that is a typed field of the job.
func hotAttribute(j *Job, name string) (get func(t *tables, j *Job) string, hot bool) {
	if get, hot = hotJob[name]; hot || j.Array == nil && !j.IsSubjob() {
		return get, hot
	}
	get, hot = arrayAttributes[name]
	return get, hot
}

func seconds(t pbs.Time) string { return positive(t.Unix()) }

func positive(n int64) string {
	if n <= 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func boolText(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

// JobAttributes returns every attribute that the job has, in the order of the
// attribute table.
func (t *tables) JobAttributes(j *Job) attr.List {
	out := make(attr.List, 0, 48)
	for _, def := range attr.All(attr.Job) {
		get, hot := hotAttribute(j, def.Name)
		switch {
		case def.Name == "Resource_List":
			out = appendItems(out, def.Name, j.Resources)
		case def.Name == "resources_used":
			out = appendItems(out, def.Name, j.LastRun().Used)
		case def.Name == "resource_released_list":
			out = appendItems(out, def.Name, j.LastRun().releasedList())
		case def.Hidden && j.LastRun().Phases != nil:
			out = append(out, j.LastRun().phaseAttributes(def.Name)...)
		case hot:
			out = appendValue(out, def.Name, get(t, j))
		case def.Name == "estimated":
			out = appendCold(out, def, t.estimates(j))
		default:
			out = appendCold(out, def, j.Attrs)
		}
	}
	return out
}

// JobAttribute returns one attribute of a job, "" if it is not set.
func (t *tables) JobAttribute(j *Job, name, res string) string {
	if get, hot := hotAttribute(j, name); hot {
		return get(t, j)
	}
	switch name {
	case "Resource_List":
		v, _ := j.Resources.Get(res)
		return v
	case "resources_used":
		v, _ := j.LastRun().Used.Get(res)
		return v
	case "resource_released_list":
		v, _ := j.LastRun().releasedList().Get(res)
		return v
	}
	if v, ok := j.LastRun().phaseAttributes(name).Get(name, res); ok {
		return v
	}
	list := j.Attrs
	if name == "estimated" {
		list = t.estimates(j)
	}
	v, _ := list.Get(name, res)
	return v
}

// estimates returns the attributes of a job with those of when and where it is expected to start, or for how long it is to run, as they are now.
func (t *tables) estimates(j *Job) attr.List {
	if t.unready(j) { // the next cycle finds out
		return j.Attrs.Unset("estimated", "start_time").Unset("estimated", "exec_vnode")
	}
	return j.estimates(t.cluster.Time)
}

func appendValue(out attr.List, name, value string) attr.List {
	if value == "" {
		return out
	}
	return append(out, attr.Entry{Name: name, Value: value})
}

func appendItems(out attr.List, name string, items resource.List) attr.List {
	for _, it := range items {
		out = append(out, attr.Entry{Name: name, Resource: it.Name, Value: it.Value})
	}
	return out
}

// appendCold appends the entries of one attribute of a cold list, or its default.
func appendCold(out attr.List, def *attr.Def, list attr.List) attr.List {
	n := len(out)
	for _, e := range list {
		if e.Name == def.Name {
			out = append(out, e)
		}
	}
	if len(out) == n {
		return appendValue(out, def.Name, def.Default)
	}
	return out
}

// SetAttribute sets an attribute of a job whose value was parsed by the attribute
// table. Attributes that only the server writes are refused with ReadOnlyAttribute.
func (j *Job) SetAttribute(e attr.Entry) error {
	switch e.Name {
	case "Job_Name":
		j.Name = e.Value
	case "Priority":
		n, err := strconv.ParseInt(e.Value, 10, 32)
		if err != nil {
			return pbs.Attribute(pbs.BadAttributeValue, e.Name)
		}
		j.Priority = int32(n)
	case "Hold_Types":
		h, err := pbs.ParseHolds(e.Value)
		if err != nil {
			return err
		}
		j.Holds = h
	case "Rerunable":
		j.NotRerunnable = e.Value != "True"
	case "comment":
		j.Comment = e.Value
	case "eligible_time": // Apply sets it, which knows the time
	case "array_indices_submitted":
		return j.setIndices(e)
	case "depend":
		j.Attrs = j.Attrs.Set(e.Name, "", e.Value) // until Apply knows the other jobs
	case "Execution_Time":
		n, err := strconv.ParseInt(e.Value, 10, 64)
		if err != nil {
			return pbs.Attribute(pbs.BadAttributeValue, e.Name)
		}
		j.ExecAt = pbs.Time(n) * pbs.Time(time.Second)
	case "run_count":
		n, err := strconv.ParseUint(e.Value, 10, 31)
		if err != nil {
			return pbs.Attribute(pbs.BadAttributeValue, e.Name)
		}
		j.RunCount = pbs.RunCount(n)
	case "Resource_List":
		j.Resources = j.Resources.Set(e.Resource, e.Value)
	default:
		if _, hot := hotJob[e.Name]; hot {
			return pbs.Attribute(pbs.ReadOnlyAttribute, e.Name)
		}
		j.Attrs = j.Attrs.Set(e.Name, e.Resource, e.Value)
	}
	return nil
}

// UnsetAttribute takes an attribute of a job back to its default.
func (j *Job) UnsetAttribute(name, res string) error {
	switch name {
	case "Job_Name", "Hold_Types", "Rerunable", "Priority", "run_count":
		d, _ := attr.Lookup(attr.Job, name)
		return j.SetAttribute(attr.Entry{Name: name, Value: d.Default})
	case "comment":
		j.Comment = ""
	case "Execution_Time":
		j.ExecAt = 0
	case "Resource_List":
		j.Resources = j.Resources.Unset(res)
	default:
		j.Attrs = j.Attrs.Unset(name, res)
	}
	return nil
}

// ServerAttributes returns every attribute of the server, in the order of the
// attribute table.
func (t *tables) ServerAttributes() attr.List {
	counts := t.AllCounts()
	hot := map[string]string{
		"server_state":  t.serverState(),
		"server_host":   string(t.cluster.LeaderHost),
		"total_jobs":    strconv.Itoa(counts.Total() + counts.Of(pbs.Finished)), // of the history too, unlike a queue's
		"state_count":   counts.String(),
		"pbs_version":   pbs.Version,
		"license_count": t.licenseCount(),
	}
	out := make(attr.List, 0, 48)
	for _, def := range attr.All(attr.Server) {
		switch v, computed := hot[def.Name]; {
		case def.Name == "resources_assigned":
			out = appendItems(out, def.Name, withUsed(t.assignedWhole(), t.server.Used, t))
		case computed:
			out = appendValue(out, def.Name, v)
		default:
			out = appendCold(out, def, t.server.Attrs)
		}
	}
	return out
}

// licenseCount is license_count: there is no end of them.
func (t *tables) licenseCount() string {
	var l Licenses
	if t.cluster.Licenses != nil {
		l = *t.cluster.Licenses
	}
	return "Avail_Global:1000000 Avail_Local:1000000 Used:" + strconv.FormatInt(l.Used, 10) + " High_Use:" + strconv.FormatInt(l.Max, 10)
}

// AssignedToJobs returns the consumables that all jobs together have.
func (t *tables) AssignedToJobs() resource.List { return t.assigned("") }

func (t *tables) serverState() string {
	switch {
	case t.server.HotSince != 0:
		return "Hot_Start"
	case t.server.Scheduling():
		return "Active"
	}
	return "Idle"
}

// String returns the counts as state_count shows them, the blank at the end included.
func (c Counts) String() string {
	return fmt.Sprintf("Transit:0 Queued:%d Held:%d Waiting:%d Running:%d Exiting:%d Begun:%d ",
		c.Of(pbs.Queued), c.Of(pbs.Held), c.Of(pbs.Waiting), c.Of(pbs.Running), c.Of(pbs.Exiting), c.Of(pbs.Begun))
}

// assigned returns what the running jobs of a queue, or of all, were promised.
func (t *tables) assigned(queue pbs.QueueName) resource.List {
	if queue != "" {
		c, ok := t.counts.get(&counted{queue: queue})
		if !ok {
			return nil
		}
		return nonZero(t.stillAssigned(queue, c.assigned), t)
	}
	var sum resource.List
	for c := range t.counts.all() {
		if more, err := resource.Add(sum, c.assigned, t); err == nil {
			sum = more
		}
	}
	return nonZero(t.stillAssigned("", sum), t)
}

func nonZero(list resource.List, t resource.Table) resource.List {
	var out resource.List
	for _, it := range list {
		if def, ok := t.Resource(it.Name); ok {
			if q, err := def.Parse(it.Value); err == nil && !q.IsZero() {
				out = append(out, it)
			}
		}
	}
	return out
}

// QueueAttributes returns every attribute of a queue, in the order of the
// attribute table.
func (t *tables) QueueAttributes(q *Queue) attr.List {
	counts := t.CountsOf(q.Name)
	hot := map[string]string{
		"queue_type":  q.Get("queue_type"),
		"total_jobs":  strconv.Itoa(counts.Total()),
		"state_count": counts.String(),
		"enabled":     boolText(q.Enabled),
		"started":     boolText(q.Started),
		"hasnodes":    t.hasNodes(q.Name),
	}
	out := make(attr.List, 0, 16)
	for _, def := range attr.All(attr.Queue) {
		switch v, computed := hot[def.Name]; {
		case def.Name == "resources_assigned":
			out = appendItems(out, def.Name, withUsed(t.assigned(q.Name), q.Used, t))
		case computed:
			out = appendValue(out, def.Name, v)
		default:
			out = appendCold(out, def, q.Attrs)
		}
	}
	return out
}
