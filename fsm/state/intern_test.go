package state

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Jobs that say the same have one text of it, and what they say stays what it was.
func TestIntern(t *testing.T) {
	make1 := func(n string) *Job { // every text anew
		c := strings.Clone
		return &Job{
			Name: c("STDIN"), Owner: pbs.User{Name: c("ann"), Host: pbs.HostName(c("hosta"))}, Queue: pbs.QueueName(c("workq")), SchedSelect: c("1:ncpus=1"),
			Attrs:     attr.List{{Name: c("Output_Path"), Value: "hosta:/home/ann/o" + n}, {Name: c("Variable_List"), Value: c(strings.Repeat("X=1,", 99))}},
			Resources: resource.List{{Name: c("ncpus"), Value: c("1")}, {Name: c("select"), Value: c("1:ncpus=1")}},
			Defaults:  []string{c("ncpus")},
		}
	}
	tx := NewStore().Tx()
	a, b := make1("1"), make1("2")
	tx.Intern(a)
	tx.Intern(b)
	for i, j := range []*Job{a, b} {
		if want := make1(string(rune('1' + i))); !reflect.DeepEqual(j, want) {
			t.Errorf("%+v, want %+v", j, want)
		}
	}
	same := func(x, y string) bool { return unsafe.StringData(x) == unsafe.StringData(y) }
	if !same(a.Attrs[1].Value, b.Attrs[1].Value) || !same(a.Attrs[0].Name, b.Attrs[0].Name) || !same(a.Owner.Name, b.Owner.Name) {
		t.Error("equal texts are there twice")
	}
	if &a.Resources[0] != &b.Resources[0] || &a.Defaults[0] != &b.Defaults[0] {
		t.Error("equal lists are there twice")
	}
	empty := &Job{}
	tx.Intern(empty)
	if len(empty.Attrs) != 0 || empty.Resources != nil || empty.Defaults != nil {
		t.Errorf("%+v", empty)
	}
}

// Jobs of a sweep have one copy of their script, and requests one of their askers, also when
// they come from a snapshot; a long script is nobody else's.
func TestIntern_ScriptsAndRequests(t *testing.T) {
	ann := func() pbs.User {
		return pbs.User{Name: strings.Clone("ann"), Host: pbs.HostName(strings.Clone("hosta"))}
	}
	s := NewStore()
	s.Begin(1, 1, 1)
	tx := s.Tx()
	for _, id := range []string{"1", "2"} {
		tx.PutScript(Script{Job: pbs.JobID(id), Body: []byte("#!/bin/sh\nsleep 10\n")})
		tx.PutScript(Script{Job: pbs.JobID(id + ".long"), Body: make([]byte, longestBody+1)})
		tx.Remember(&Request{ID: pbs.RequestID(id), Asker: ann()})
	}
	s.Commit(tx)
	for _, v := range []*View{s.Publish(), s.View().Copy().View()} {
		body := func(id pbs.JobID) *byte {
			b, ok := v.Script(id)
			if !ok {
				t.Fatalf("%s has no script", id)
			}
			return &b.Body[0]
		}
		if body("1") != body("2") {
			t.Error("equal scripts are there twice")
		}
		if body("1.long") == body("2.long") {
			t.Error("long scripts are kept for others")
		}
		a, _ := v.Request(ann(), "1")
		b, _ := v.Request(ann(), "2")
		if a == nil || b == nil || unsafe.StringData(a.Asker.Name) != unsafe.StringData(b.Asker.Name) {
			t.Error("equal askers are there twice")
		}
	}
}
