package fsm_test

import (
	"pgregory.net/rapid"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// queue draws a queue, which may not be there.
func (d *drawer) queue() pbs.QueueName {
	return rapid.SampledFrom([]pbs.QueueName{"workq", "workq", "in", "other"}).Draw(d.t, "queue")
}

// manage draws a change of queues and limits.
func (d *drawer) manage() command.Command {
	set := func(name, res, value string) command.AttrChange {
		return command.AttrChange{Entry: attr.Entry{Name: name, Resource: res, Value: value}}
	}
	switch rapid.IntRange(0, 6).Draw(d.t, "what") {
	case 0:
		return &command.ManageQueue{Verb: command.VerbCreate, Queue: "in", Changes: []command.AttrChange{
			set("queue_type", "", "Route"), set("route_destinations", "", "other,workq"), set("route_retry_time", "", "10"),
			set("enabled", "", "True"), set("started", "", "True"),
		}}
	case 1:
		return &command.ManageQueue{Verb: command.VerbCreate, Queue: "other", Changes: []command.AttrChange{
			set("enabled", "", "True"), set("started", "", "True"), set("resources_default", "walltime", "00:10:00"),
		}}
	case 2:
		return &command.ManageQueue{Verb: command.VerbSet, Queue: d.queue(), Changes: []command.AttrChange{
			set("max_queued", "", rapid.SampledFrom([]string{"[u:PBS_GENERIC=1]", "[o:PBS_ALL=5]"}).Draw(d.t, "limit")),
			set("max_run", "", "[u:PBS_GENERIC=2]"), set("max_run_res", "ncpus", "[o:PBS_ALL=9]"),
			set("enabled", "", rapid.SampledFrom([]string{"True", "False"}).Draw(d.t, "enabled")),
		}}
	case 3:
		return &command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{
			set("max_run", "", "[u:PBS_GENERIC=1]"), set("max_run_res", "mem", "[o:PBS_ALL=1gb]"), set("resources_available", "ncpus", "2"),
		}}
	case 4:
		return &command.ManageServer{Verb: command.VerbUnset, Changes: []command.AttrChange{
			{Entry: attr.Entry{Name: "max_run"}, Op: command.OpUnset}, {Entry: attr.Entry{Name: "max_run_res"}, Op: command.OpUnset},
		}}
	case 5:
		return &command.ManageQueue{Verb: command.VerbDelete, Queue: d.queue()}
	default:
		return &command.MoveJob{Job: d.job(), Queue: d.queue(), Privileged: rapid.Bool().Draw(d.t, "privileged")}
	}
}
