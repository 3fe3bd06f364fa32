package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
)

// A queue's name has 15 characters at most, as in PBS: longer ones would not fit into default_queue.
func TestManageQueue_LongName(t *testing.T) {
	w := newWriter(t)
	w.must(&RaiseLevel{Level: LevelObjects})
	name := strings.Repeat("q", 15)
	w.must(&ManageQueue{Verb: VerbCreate, Queue: pbs.QueueName(name)})
	err := w.run(&ManageQueue{Verb: VerbCreate, Queue: pbs.QueueName(name + "q")})
	if pbs.CodeOf(err) != pbs.LongQueueName || errorText(err) != "Queue name too long" {
		t.Errorf("16 characters: %v", err)
	}
	err = w.run(&ManageQueue{Verb: VerbDelete, Queue: pbs.QueueName(name + "q")})
	if pbs.CodeOf(err) != pbs.UnknownQueue {
		t.Errorf("delete: %v", err)
	}
}

// Clusters of an older level may have made such queues; their logs must yield them again.
func TestManageQueue_LongNameOfOlderLevel(t *testing.T) {
	w := newWriter(t)
	name := pbs.QueueName(strings.Repeat("q", 16))
	w.must(&RaiseLevel{Level: LevelObjects - 1})
	w.must(&ManageQueue{Verb: VerbCreate, Queue: name})
	w.must(&RaiseLevel{Level: LevelObjects})
	w.must(&ManageQueue{Verb: VerbSet, Queue: name, Changes: []AttrChange{{Entry: attr.Entry{Name: "Priority", Value: "5"}}}})
	w.must(&ManageQueue{Verb: VerbDelete, Queue: name})
}
