package command

import (
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// A vnode is of the partition of its queue, if both have one, whichever is set last.
func TestManageVnode_OnePartition(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "h", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
	w.must(&ManageQueue{Verb: VerbSet, Queue: "workq", Changes: []AttrChange{{Entry: attr.Entry{Name: "partition", Value: "foo"}}}})
	w.must(&ManageQueue{Verb: VerbCreate, Queue: "free", Changes: []AttrChange{{Entry: attr.Entry{Name: "queue_type", Value: "Execution"}}}})
	for _, c := range []struct {
		before, set string // queue/partition
		code        pbs.Code
		text        string
	}{
		{"", "workq/bar", pbs.PartitionApart, "Partition bar is not part of queue for node"},
		{"/bar", "workq", pbs.PartitionApart, "Partition bar is not part of queue for node"},
		{"workq", "/bar", pbs.QueueApart, "Queue workq is not part of partition for node"},
		{"", "workq/foo", pbs.CodeOf(nil), ""},
		{"workq", "/foo", pbs.CodeOf(nil), ""},
		{"/bar", "free", pbs.CodeOf(nil), ""},
		{"free/bar", "workq/foo", pbs.CodeOf(nil), ""},
	} {
		set := func(text string) error {
			changes := []AttrChange{}
			queue, part, _ := strings.Cut(text, "/")
			for _, e := range []attr.Entry{{Name: "queue", Value: queue}, {Name: "partition", Value: part}} {
				if e.Value != "" {
					changes = append(changes, AttrChange{Entry: e})
				}
			}
			return w.run(&ManageVnode{Verb: VerbSet, Vnode: "h", Changes: changes})
		}
		w.must(&ManageVnode{Verb: VerbUnset, Vnode: "h", Changes: []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "queue"}}, {Op: OpUnset, Entry: attr.Entry{Name: "partition"}}}})
		if err := set(c.before); err != nil {
			t.Fatal(err)
		}
		if err := set(c.set); pbs.CodeOf(err) != c.code || err != nil && err.Error() != c.text {
			t.Errorf("%q after %q: %v", c.set, c.before, err)
		}
		if v, _ := w.View().Vnode("h"); c.before == "" && c.text != "" && v.Get("queue") != "" {
			t.Error("half of the change was made")
		}
	}
}

// A vnode with jobs, or with a reservation to come, stays in its partition.
func TestManageVnode_BusyPartition(t *testing.T) {
	w := hookedHosts(t)
	id := w.running("a")
	move := func(part string) error {
		return w.run(&ManageVnode{Verb: VerbSet, Vnode: "a", Changes: settings("partition=" + part)})
	}
	if err := move("P1"); pbs.CodeOf(err) != 15227 || err.Error() != "Node is busy" {
		t.Errorf("with a job: %v", err)
	}
	w.must(&DeleteJob{Job: id, Force: true})
	if err := move("P1"); err != nil {
		t.Errorf("without: %v", err)
	}
}

// A queue has nodes while there are vnodes of its own.
func TestQueue_HasNodes(t *testing.T) {
	w := newWriter(t)
	w.must(&ManageQueue{Verb: VerbCreate, Queue: "q2"})
	for _, name := range []pbs.VnodeName{"h1", "h2"} {
		w.must(&ManageVnode{Verb: VerbCreate, Vnode: name})
	}
	unset := []AttrChange{{Op: OpUnset, Entry: attr.Entry{Name: "queue"}}}
	for i, c := range []struct {
		vnode pbs.VnodeName
		verb  Verb
		what  []AttrChange
		has   string
	}{
		{"h1", VerbSet, settings("queue=q2"), "True"},
		{"h2", VerbSet, settings("queue=q2"), "True"},
		{"h1", VerbUnset, unset, "True"},
		{"h2", VerbDelete, nil, ""},
		{"h1", VerbSet, settings("queue=workq"), ""},
	} {
		w.must(&ManageVnode{Verb: c.verb, Vnode: c.vnode, Changes: c.what})
		q, _ := w.View().Queue("q2")
		got := ""
		for _, e := range w.View().QueueAttributes(q) { // in the order of the table
			if e.Name == "hasnodes" {
				got = e.Value
			}
		}
		if got != c.has {
			t.Errorf("after command %d hasnodes is %q, want %q", i, got, c.has)
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
	}
}
