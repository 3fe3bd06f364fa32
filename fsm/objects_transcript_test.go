package fsm_test

import (
	"strconv"
	"strings"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// changes reads NAME[.RESOURCE]=VALUE; no value takes the attribute away.
func changes(args map[string]string) []command.AttrChange {
	var all []command.AttrChange
	for _, name := range sortedKeys(args) {
		base, res, _ := strings.Cut(name, ".")
		ch := command.AttrChange{Entry: attr.Entry{Name: base, Resource: res, Value: args[name]}}
		if args[name] == "" {
			ch.Op = command.OpUnset
		}
		all = append(all, ch)
	}
	return all
}

// manageQueue makes a queue that is not there yet, else it sets attributes.
func manageQueue(s *stage, name string, args map[string]string) command.Command {
	verb := command.VerbSet
	if _, ok := s.store.View().Queue(pbs.QueueName(name)); !ok {
		verb = command.VerbCreate
	}
	return &command.ManageQueue{Verb: verb, Queue: pbs.QueueName(name), Changes: changes(args)}
}

func createResource(_ *stage, name string, args map[string]string) command.Command {
	return &command.ManageResource{Verb: command.VerbCreate, Name: name, Changes: changes(args)}
}

func unsetServer(_ *stage, name string, _ map[string]string) command.Command {
	return &command.ManageServer{Verb: command.VerbUnset, Changes: changes(map[string]string{name: ""})}
}

// submitAs queues a job of USER@HOST, with the group that the asker's account has.
func submitAs(_ *stage, who string, args map[string]string) command.Command {
	c := &command.SubmitJob{Owner: pbs.ParseUser(who)}
	c.Attributes = c.Attributes.Set("euser", "", string(c.Owner.Name))
	for _, name := range sortedKeys(args) {
		switch {
		case name == "queue":
			c.Queue = pbs.QueueName(args[name])
		case name == "group":
			c.Attributes = c.Attributes.Set("egroup", "", args[name])
		case name == "project" || name == "Hold_Types":
			c.Attributes = c.Attributes.Set(name, "", args[name])
		default:
			c.Attributes = c.Attributes.Set("Resource_List", name, args[name])
		}
	}
	return c
}

// schedule starts a job as the scheduler does, which keeps to the limits.
func schedule(_ *stage, id string, args map[string]string) command.Command {
	return &command.StartJob{Job: jobID(id), ExecVnode: args["on"], Comment: "Job run", WithinLimits: true}
}

func moveJob(_ *stage, id string, args map[string]string) command.Command {
	return &command.MoveJob{Job: jobID(id), Queue: pbs.QueueName(args["to"]), Privileged: args["operator"] != ""}
}

// tick moves the clock on by so many seconds.
func tick(s *stage, seconds string, _ map[string]string) command.Command {
	n, _ := strconv.Atoi(seconds)
	s.now += pbs.Time(n) * pbs.Time(time.Second)
	return &command.TimeTick{}
}
