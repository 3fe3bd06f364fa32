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
