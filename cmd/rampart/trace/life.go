package trace

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A life is a job of the workload in the cluster.
type life struct {
	job     *Job
	id      pbs.JobID
	cpus    int64 // that it has asked for
	since   pbs.Time
	begun   pbs.Time // its first start
	started pbs.Time // its present run
	run     pbs.RunCount
	runs    int   // that have begun
	held    int64 // cpus that it has now
	goes    pbs.Time
	ran     time.Duration // of this run, before goes
	on      bool          // its program goes on since goes
	due     int           // number of the event that ends its program
	fills   bool          // it was started past a job for which room was kept
	times   int           // it was preempted
}

// samples returns what the hosts tell of the usage of their jobs.
func (e *engine) samples(at pbs.Time) []command.Proposal {
	of := map[pbs.HostName]*command.UsageSample{}
	var hosts []pbs.HostName
	ids := make([]pbs.JobID, 0, len(e.lives))
	for id, l := range e.lives {
		if l.on {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		j, ok := e.view().Job(id)
		if !ok || !j.Live() {
			continue
		}
		s := of[j.Run.MS]
		if s == nil {
			s = &command.UsageSample{Host: j.Run.MS}
			of[j.Run.MS], hosts = s, append(hosts, j.Run.MS)
		}
		s.Jobs = append(s.Jobs, command.JobUsage{Job: id, RunCount: j.RunCount, Used: e.lives[id].used(at)})
	}
	var all []command.Proposal
	for _, h := range hosts {
		all = append(all, command.Proposal{Commands: []command.Command{of[h]}})
	}
	return all
}

// so long a program has run by then.
func (l *life) time(at pbs.Time) time.Duration {
	if !l.on {
		return l.ran
	}
	return l.ran + time.Duration(at-l.goes)
}

// used returns what its run has used by then: the cpus that it has asked for are busy all the time.
func (l *life) used(at pbs.Time) resource.List {
	wall := int64(l.time(at) / time.Second)
	return resource.List{
		{Name: "cpupercent", Value: strconv.FormatInt(100*l.cpus, 10)},
		{Name: "cput", Value: resource.Seconds(wall * l.cpus).String()},
		{Name: "mem", Value: strconv.FormatInt(l.job.Mem*l.cpus, 10) + "kb"},
		{Name: "ncpus", Value: strconv.FormatInt(l.cpus, 10)},
		{Name: "vmem", Value: strconv.FormatInt(l.job.Mem*l.cpus, 10) + "kb"},
		{Name: "walltime", Value: resource.Seconds(wall).String()},
	}
}

// submission returns the command that queues a job.
func (e *engine) submission(j *Job) *command.SubmitJob {
	list := attr.List{}.Set("Mail_Points", "", "n").Set("euser", "", j.User).Set("egroup", "", cmp.Or(j.Group, "users"))
	add := func(name, res, value string) {
		if value != "" {
			list = list.Set(name, res, value)
		}
	}
	add("project", "", j.Project)
	add("Account_Name", "", j.Account)
	sel, place := e.shape.request(j)
	add("Resource_List", "select", sel)
	add("Resource_List", "place", place)
	if j.Limit > 0 {
		add("Resource_List", "walltime", resource.Seconds(int64(j.Limit/time.Second)).String())
	}
	for _, it := range j.Others {
		// What a record tells beside the select follows from it, but for what is the job's as a whole.
		switch def, known := e.view().Resource(it.Name); {
		case it.Name == "place", it.Name == "nodect":
		case !known:
			e.troubles.add(j.File, j.Line, "unknown resource "+it.Name, ", which is left out", false)
		case j.Select == "" || !def.AtHost():
			add("Resource_List", it.Name, it.Value)
		}
	}
	if j.Eligible > j.Submit {
		add("Execution_Time", "", strconv.FormatInt(j.Eligible.Unix(), 10))
	}
	name := "job" + j.Name
	add("Job_Name", "", name[:min(len(name), 230)])
	queue := pbs.QueueName(j.Queue)
	if _, ok := e.view().Queue(queue); j.Queue != "" && !ok {
		e.tally.noQueue[j.Queue]++
		queue = ""
	}
	return &command.SubmitJob{Owner: pbs.User{Name: j.User, Host: serverName}, Queue: queue, Attributes: list}
}

func (e *engine) submitted(j *Job, out command.Outcome) {
	e.tally.submitted++
	if out.Refusal != nil {
		e.tally.refused++
		e.troubles.add(j.File, j.Line, "refused: "+out.Refusal.Message, "", true)
		return
	}
	l := &life{job: j, id: out.Result.Job, since: max(j.Submit, j.Eligible)}
	if q, ok := e.view().Job(l.id); ok {
		l.cpus = cpusOf(q)
		e.lives[l.id] = l
		e.tally.queued(l, q, e.machine.at)
		for _, a := range j.Altered {
			if !a.Running {
				e.later(max(e.at, a.At), func() []command.Proposal { return e.alter(l, a) })
			}
		}
	}
	e.wantPlan()
}

// cpusOf returns how many cpus a job has asked for.
func cpusOf(j *state.Job) int64 {
	text, _ := j.Resources.Get("ncpus")
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
