package snapshot_test

import (
	"bytes"
	"testing"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// A vnode that shares the amount of another one does so in what is read back.
func TestRead_Shared(t *testing.T) {
	_, file := applied(t, state.NewStore(), []command.Command{
		&command.InitCluster{ID: "c", Name: "srv", Epoch: 3},
		&command.HostUp{Host: "a", SpoolID: "s", Vnodes: []command.ReportedVnode{
			{Name: "a", Available: resource.List{{Name: "mem", Value: "4gb"}}},
			{Name: "a[0]", Available: resource.List{{Name: "mem", Value: "@a"}}},
		}},
		&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}, Script: []byte("echo")},
		&command.StartJob{Job: "0.srv", ExecVnode: "(a[0]:mem=3gb)"},
	})
	s, _, err := snapshot.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	v := s.View()
	if err := v.Check(); err != nil {
		t.Error(err)
	}
	vn, _ := v.Vnode("a")
	if used, _ := v.InUse(vn).Get("mem"); used != "3gb" {
		t.Errorf("a has %q in use", used)
	}
}
