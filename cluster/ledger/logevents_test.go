package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/daylog"
)

// The server log takes the classes of event that log_events names as of each entry: LG-3,
// with other lines than those of a release. One file begins at each midnight of the zone,
// for log and accounting alike (specification: logs sections 1 and 4, accounting section 1).
func TestLG3_LogEventsAndMidnight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records, logs := t.TempDir(), t.TempDir()
		log := daylog.New(logs, "Server@s1", daylog.Options{Mask: daylog.ServerMask, Location: time.UTC})
		l, stop := start(t, records, log)
		midnight := time.Date(2027, 11, 22, 0, 0, 0, 0, time.UTC)
		at := func(d time.Duration) pbs.Time { return pbs.Time(midnight.Add(d).UnixNano()) }
		event := func(n uint64, d time.Duration) state.Event {
			j := &state.Job{ID: pbs.NewJobID(n, "srv"), Seq: n, Queue: "workq", State: pbs.Queued, Name: "x"}
			return state.Event{Kind: state.JobQueued, Record: n, At: at(d), Job: j, By: pbs.User{Name: "ann", Host: "h"}}
		}
		for n, mask := range []uint16{0, 511, 0x0008, 0x0100, 0} {
			l.Append(Batch{Index: uint64(n + 1), Zone: "UTC", LogEvents: mask, Events: []state.Event{event(uint64(n+1), time.Duration(2*n-3)*time.Second)}})
		}
		if err := l.WaitSynced(t.Context(), 5); err != nil {
			t.Fatal(err)
		}
		stop()
		for day, want := range map[string][]string{
			"20271121": {"0100;2.srv", "0008;2.srv"}, // 511, the last second of the day
			"20271122": {"0008;3.srv", "0100;4.srv"},
		} {
			data, err := os.ReadFile(filepath.Join(logs, day))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(string(data)) {
				if f := strings.SplitN(line, ";", 6); len(f) == 6 && f[3] == "Job" {
					got = append(got, f[1]+";"+f[4])
				}
			}
			if strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("the log of %s has %q, want %q", day, got, want)
			}
		}
		for day, want := range map[string]int{"20271121": 2, "20271122": 3} {
			data, err := os.ReadFile(filepath.Join(records, day))
			if n := strings.Count(string(data), ";Q;"); err != nil || n != want {
				t.Errorf("%d accounting records on %s, want %d: whatever log_events says; %v", n, day, want, err)
			}
		}
	})
}

// What moms' hooks do of vnodes and files is in the log.
func TestLines_Objects(t *testing.T) {
	for want, e := range map[string]state.Event{
		"0100;Node;a;set_vnode_state;vnode.state=0x1":           {Kind: state.VnodeChanged, Object: "a", Text: "set_vnode_state;vnode.state=0x1"},
		"0100;Node;hosta;autocreated vnode v1":                  {Kind: state.HookVnodeChanged, Object: "hosta", Text: "autocreated vnode v1"},
		"0080;Req;;successfully deleted hook file h1.PY from a": {Kind: state.HookFileDeleted, Object: "h1.PY", Text: "a"},
	} {
		all := lines(e, "/home")
		if len(all) != 1 || fmt.Sprintf("%04x;%s;%s;%s", all[0].event, all[0].class, all[0].object, all[0].text) != want {
			t.Errorf("%+v, want %s", all, want)
		}
	}
}

// What qmgr does is told as a PBS tells it: who did it to which object, and each attribute by itself. The server's object is the
// daemon, which is empty here.
func TestLines_Managed(t *testing.T) {
	by := pbs.User{Name: "root", Host: "s1"}
	for _, c := range []struct {
		object, text string
		attributes   []string
		want         string
	}{
		{"server", state.AttributesSet, []string{"scheduling = True", "managers + ann@*"}, `
0004;Svr;;attributes set:  at request of root@s1
0004;Svr;;attributes set: scheduling = True
0004;Svr;;attributes set: managers + ann@*
`},
		{"server", state.AttributesSet, []string{"max_job_sequence_id = 10000000"}, `
0004;Svr;;attributes set:  at request of root@s1
0004;Svr;;attributes set: max_job_sequence_id = 10000000
0004;Svr;;svr_max_job_sequence_id set to val 10000000
`},
		{"server", state.AttributesUnset, []string{"max_job_sequence_id = "}, `
0004;Svr;;attributes unset:  at request of root@s1
0004;Svr;;attributes unset: max_job_sequence_id = 
0004;Svr;;svr_max_job_sequence_id reverting back to default val 9999999
`},
		{"queue q2", "created", []string{"queue_type = Execution"}, `
0004;Que;q2;created at request of root@s1
0004;Que;q2;attributes set: queue_type = Execution
`},
		{"queue q2", "deleted", nil, "\n0004;Que;q2;deleted at request of root@s1\n"},
		{"node v[1]", state.AttributesSet, []string{"state + offline"}, `
0004;Node;v[1];attributes set:  at request of root@s1
0004;Node;v[1];attributes set: state + offline
`},
		{"resource foo", "created", nil, "\n0004;Resc;foo;created at request of root@s1\n"},
		{"sched sc1", "deleted", nil, "\n0004;Sched;sc1;deleted at request of root@s1\n"},
		{"hook h1", "mgr_hook_import", nil, "\n0004;Hook;h1;mgr_hook_import at request of root@s1\n"},
		{"queue server", "created", nil, "\n0004;Que;server;created at request of root@s1\n"},
		{"node server", "deleted", nil, "\n0004;Node;server;deleted at request of root@s1\n"},
		{"backups", "daily", nil, "\n0004;Svr;backups;daily at request of root@s1\n"},
	} {
		got := "\n"
		for _, l := range lines(state.Event{Kind: state.ObjectChanged, Object: c.object, By: by, Text: c.text, Attributes: c.attributes}, "/home") {
			got += fmt.Sprintf("%04x;%s;%s;%s\n", l.event, l.class, l.object, l.text)
		}
		if got != c.want {
			t.Errorf("%s: %swant %s", c.object, got, c.want)
		}
	}
}
