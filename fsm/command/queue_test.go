package command

import (
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A queue's name has 15 characters at most, as in PBS: longer ones would not fit into default_queue.
func TestManageQueue_LongName(t *testing.T) {
	w := newWriter(t)
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
