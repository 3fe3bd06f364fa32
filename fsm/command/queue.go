package command

import (
	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// ManageQueue creates, deletes and changes a queue: qmgr.
type ManageQueue struct {
	Verb    Verb          `cbor:"1,keyasint"`
	Queue   pbs.QueueName `cbor:"2,keyasint"`
	Changes []AttrChange  `cbor:"3,keyasint,omitempty"`
}

// Apply changes the queue; one with jobs cannot be deleted.
func (c *ManageQueue) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	q, ok := tx.Queue(c.Queue)
	switch c.Verb {
	case VerbCreate:
		if ok {
			return pbs.Refuse(pbs.QueueExists)
		}
		if len(c.Queue) > pbs.MaxQueueName {
			return pbs.Refuse(pbs.LongQueueName)
		}
		if !c.Queue.Valid() {
			return pbs.Refuse(pbs.BadAttributeValue)
		}
		q = &state.Queue{Name: c.Queue, Seq: tx.NextSeq()}
	case VerbSet, VerbUnset:
		if !ok {
			return pbs.Refuse(pbs.UnknownQueue)
		}
	case VerbDelete:
		if !ok {
			return pbs.Refuse(pbs.UnknownQueue)
		}
		if err := deleteQueue(tx, c.Queue); err != nil {
			return err
		}
		tell(tx, m, "queue "+string(c.Queue), c.Verb, nil)
		return nil
	default:
		return pbs.Refuse(pbs.InvalidRequest)
	}
	next := *q
	for _, ch := range c.Changes {
		if err := editQueue(tx, &next, ch); err != nil {
			return err
		}
	}
	if err := limitable(tx, next.Attrs, c.Changes); err != nil {
		return err
	}
	if err := complete(tx, &next); err != nil {
		return err
	}
	if err := partition(tx, q, &next); err != nil {
		return err
	}
	tx.PutQueue(&next)
	tell(tx, m, "queue "+string(c.Queue), c.Verb, c.Changes)
	return nil
}

func editQueue(tx *state.Tx, q *state.Queue, ch AttrChange) error {
	on := ch.Op != OpUnset && ch.Entry.Value == "True"
	switch ch.Entry.Name {
	case "enabled":
		q.Enabled = on
	case "started":
		q.Started = on
	case "queue_type":
		return editQueueType(tx, q, ch)
	default:
		if err := checkQueueRequirement(tx, ch); err != nil {
			return err
		}
		list, err := editOne(tx, attr.Queue, q.Attrs, ch)
		if err != nil {
			return err
		}
		q.Attrs = list
	}
	return nil
}

// editQueueType makes a queue an execution or a routing queue. Jobs do not bear that: those
// of the one run from it, those of the other are on their way.
func editQueueType(tx *state.Tx, q *state.Queue, ch AttrChange) error {
	before := q.Routes()
	q.Attrs = q.Attrs.Unset(ch.Entry.Name, "")
	if ch.Op != OpUnset && ch.Entry.Value != q.Get(ch.Entry.Name) {
		q.Attrs = q.Attrs.Set(ch.Entry.Name, "", ch.Entry.Value)
	}
	if counts := tx.CountsOf(q.Name); q.Routes() != before && counts.Total() > 0 {
		return pbs.Refuse(pbs.BusyObject)
	}
	return nil
}

// complete refuses a routing queue that would take jobs and has nowhere to bring them.
func complete(tx *state.Tx, q *state.Queue) error {
	if !q.Routes() || !q.Enabled || len(q.List("route_destinations")) > 0 {
		return nil
	}
	return pbs.Refuse(pbs.QueueIncomplete)
}

// partition refuses one of a routing queue, whose jobs run from others; one that is not that of the queue's own vnodes; and the name
// that stands for none.
func partition(tx *state.Tx, old, q *state.Queue) error {
	part, _ := q.Attrs.Get("partition", "")
	had, _ := old.Attrs.Get("partition", "")
	switch {
	case part == "" || part == had && q.Routes() == old.Routes():
		return nil
	case q.Routes() && part == had:
		return pbs.Refuse(pbs.PartitionedRoute)
	case q.Routes():
		return pbs.Refuse(pbs.RoutePartition)
	case part == state.DefaultPartition && part != had:
		return pbs.Refuse(pbs.DefaultPartition)
	}
	for v := range tx.Vnodes() {
		if own := v.Partition(); own != "" && own != part && pbs.QueueName(v.Get("queue")) == q.Name {
			return pbs.Refuse(pbs.VnodesApart)
		}
	}
	return nil
}

func deleteQueue(tx *state.Tx, name pbs.QueueName) error {
	counts := tx.CountsOf(name)
	if counts.Total() > 0 {
		return pbs.Refuse(pbs.BusyObject)
	}
	tx.DeleteQueue(name)
	if tx.Server().DefaultQueue() == name {
		server := *tx.Server()
		server.Attrs = server.Attrs.Unset("default_queue", "")
		tx.PutServer(&server)
	}
	return nil
}
