package command

import (
	"slices"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageSched creates, deletes and changes a scheduler: qmgr. What the default one shares with the server (scheduling,
// scheduler_iteration) is the server's.
type ManageSched struct {
	Verb    Verb         `cbor:"1,keyasint"`
	Changes []AttrChange `cbor:"2,keyasint,omitempty"`
	Name    string       `cbor:"3,keyasint,omitempty"` // empty: the default one
}

// Apply makes all the changes or none.
func (c *ManageSched) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	next := *tx.Server()
	edit, object := c.editDefault, "sched "+state.DefaultScheduler
	if c.Name != "" && c.Name != state.DefaultScheduler {
		edit, object = c.editFurther, "sched "+c.Name
	}
	if err := edit(tx, &next); err != nil {
		return err
	}
	if err := oneFormula(tx, &next, c.Changes); err != nil {
		return err
	}
	tx.PutServer(&next)
	tell(tx, m, object, c.Verb, c.Changes)
	return nil
}

func (c *ManageSched) editDefault(tx *state.Tx, next *state.Server) error {
	switch c.Verb {
	case VerbSet, VerbUnset:
	case VerbCreate:
		return pbs.Refuse(pbs.SchedulerExists)
	case VerbDelete:
		return pbs.Refuse(pbs.LastingScheduler)
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	for _, ch := range c.Changes {
		o, list := attr.Sched, &next.Sched
		if SharedWithServer(ch.Entry.Name) {
			o, list = attr.Server, &next.Attrs
		}
		edited, err := editOne(tx, o, *list, ch)
		if err != nil {
			return err
		}
		*list = inStep(tx, edited, ch)
	}
	return nil
}

// editFurther changes a scheduler beside the default one.
func (c *ManageSched) editFurther(tx *state.Tx, next *state.Server) error {
	at := slices.IndexFunc(next.Scheds, func(s state.Scheduler) bool { return s.Name == c.Name })
	if c.Verb != VerbCreate && at < 0 {
		return pbs.Refuse(pbs.UnknownScheduler)
	}
	next.Scheds = slices.Clone(next.Scheds)
	switch c.Verb {
	case VerbCreate:
		switch {
		case at >= 0:
			return pbs.Refuse(pbs.SchedulerExists)
		case len(c.Name) > pbs.MaxSchedName:
			return pbs.Refuse(pbs.LongSchedulerName)
		case !pbs.QueueName(c.Name).Valid(): // it is part of the names of folders
			return pbs.Refuse(pbs.BadAttributeValue)
		}
		next.Scheds = append(next.Scheds, state.Scheduler{Name: c.Name})
		at = len(next.Scheds) - 1
	case VerbDelete:
		next.Scheds = slices.Delete(next.Scheds, at, at+1)
		tx.DropShares(c.Name)
		return nil
	case VerbSet, VerbUnset:
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	s := &next.Scheds[at]
	for _, ch := range c.Changes {
		if err := editSched(tx, s, ch); err != nil {
			return err
		}
	}
	return c.apartFrom(next.Scheds, s)
}

// editSched changes one attribute. Whether it is down is all of its state that can be set: whether it plans at the moment follows from
// what it does.
func editSched(tx *state.Tx, s *state.Scheduler, ch AttrChange) (err error) {
	if ch.Entry.Name == "state" {
		if ch.Op != OpUnset && (ch.Op != OpSet || ch.Entry.Value == "scheduling") {
			return pbs.Attribute(pbs.BadAttributeValue, "state")
		}
		s.Started = ch.Op == OpSet && ch.Entry.Value == "idle"
		return nil
	}
	edited, err := editOne(tx, attr.Sched, s.Attrs, ch)
	if err == nil {
		s.Attrs = inStep(tx, edited, ch)
	}
	return err
}

// inStep sets job_run_wait with throughput_mode, its older name, and the other way round: throughput_mode is False where the
// scheduler waits for hooks of execjob_begin.
func inStep(tx *state.Tx, list attr.List, ch AttrChange) attr.List {
	const wait, mode = "job_run_wait", "throughput_mode"
	other := map[string]string{wait: mode, mode: wait}[ch.Entry.Name]
	value, set := list.Get(ch.Entry.Name, "")
	switch {
	case other == "":
		return list
	case !set:
		return list.Unset(other, "")
	case other == mode && value == "execjob_hook":
		value = "False"
	case other == mode:
		value = "True"
	case value == "False":
		value = "execjob_hook"
	default:
		value = "runjob_hook"
	}
	return list.Set(other, "", value)
}

// apartFrom refuses what two schedulers cannot both have: a partition, and the folders of their files.
func (c *ManageSched) apartFrom(all []state.Scheduler, s *state.Scheduler) error {
	changed := func(name string) bool {
		return slices.ContainsFunc(c.Changes, func(ch AttrChange) bool { return ch.Entry.Name == name })
	}
	for i := range all {
		o := &all[i]
		same := func(name string) bool { return changed(name) && s.Get(name) != "" && s.Get(name) == o.Get(name) }
		switch {
		case o.Name == s.Name:
		case same("sched_priv"):
			return pbs.Refuse(pbs.SchedPrivExists)
		case same("sched_log"):
			return pbs.Refuse(pbs.SchedLogExists)
		case changed("partition") && slices.ContainsFunc(s.Partitions(), func(p string) bool { return slices.Contains(o.Partitions(), p) }):
			return pbs.Refuse(pbs.PartitionTaken)
		}
	}
	if changed("partition") && slices.Contains(s.Partitions(), state.DefaultPartition) {
		return pbs.Refuse(pbs.DefaultPartition)
	}
	return nil
}

// SharedWithServer reports whether the default scheduler's attribute is the server's of that name.
func SharedWithServer(name string) bool {
	return name == "scheduling" || name == "scheduler_iteration"
}
