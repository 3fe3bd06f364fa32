package command

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// Once an hour a record tells how many cpus were in use at most.
func TestLicenses_HourByHour(t *testing.T) {
	s := state.NewStore()
	at, index := pbs.Time(time.Date(2027, 11, 21, 22, 30, 0, 0, time.UTC).UnixNano()), uint64(0)
	var told []string
	do := func(later time.Duration, c Command) {
		t.Helper()
		at, index = at+pbs.Time(later), index+1
		out, events := Run(s, index, 1, Entry{Time: at, Proposals: []Proposal{{Commands: []Command{c}}}})
		s.Publish()
		if err := out[0].Err(); err != nil {
			t.Fatalf("%T: %v", c, err)
		}
		for _, e := range events {
			if e.Kind == state.LicensesCounted {
				told = append(told, e.Text)
			}
		}
	}
	do(0, &InitCluster{ID: "c", Name: "srv"})
	do(0, &HostUp{Host: "h", Address: "h:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "h", Available: resource.List{{Name: "ncpus", Value: "8"}}}}})
	do(time.Second, &TimeTick{})
	do(0, &SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
	do(0, &StartJob{Job: "0.srv", ExecVnode: "(h:ncpus=1)"})
	do(time.Second, &TimeTick{})
	do(0, &DeleteJob{Job: "0.srv", Force: true})
	for range 3 {
		do(50*time.Minute, &TimeTick{})
	}
	want := []string{
		"floating license hour:1 day:1 month:1 max:1", "floating license hour:0 day:1 month:1 max:1",
		"floating license hour:0 day:0 month:1 max:1",
	}
	if len(told) != len(want) || told[0] != want[0] || told[1] != want[1] || told[2] != want[2] {
		t.Errorf("told %q", told)
	}
}
