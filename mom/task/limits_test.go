package task

import (
	"testing"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
)

// A job that was ended for a limit has PBS's exit status, whatever its program made of the signal; one that
// goes back to its queue all the same has not.
func TestExceeded_ExitStatus(t *testing.T) {
	all := PBSEnforce()
	all.Mem, all.VMem, all.PMem, all.Average, all.Burst = true, true, true, true, true
	for _, c := range []struct {
		resource, limit string
		used            proc.Usage
		want            int
		words           string
	}{
		{"walltime", "10", proc.Usage{Wall: 11 * time.Second}, -29, "walltime 11 exceeded limit 10"},
		{"cput", "10", proc.Usage{CPU: 12 * time.Second}, -28, "cput 12 exceeded limit 10"},
		{"mem", "100kb", proc.Usage{RSS: 123 << 10, Wall: firstLook}, -27, "mem 123kb exceeded limit 100kb"},
		{"pmem", "100kb", proc.Usage{RSS: 150 << 10, Largest: 123 << 10, Wall: firstLook}, -27, "pmem 123kb exceeded limit 100kb"},
		{"vmem", "100kb", proc.Usage{VSize: 123 << 10, Wall: firstLook}, -26, "vmem 123kb exceeded limit 100kb"},
		{"ncpus", "1", proc.Usage{CPU: 400 * time.Second, Wall: 200 * time.Second}, -25, "ncpus 2.0 exceeded limit 1 (sum)"},
		{"ncpus", "1", proc.Usage{CPU: 40 * time.Second, Wall: 20 * time.Second}, -24, "ncpus 2.0 exceeded limit 1 (burst)"},
	} {
		over, actions, err := step(in(Running, limited(c.resource, c.limit)), Sampled{c.used, all})
		if err != nil || actions[0] != (Action{Do: Note, Text: c.words}) || over.Life.Breach != c.want {
			t.Errorf("%s: %q, %d, %v", c.resource, words(actions), over.Life.Breach, err)
		}
		ended, _, err := step(over, Exited{Exit: proc.Exit{Status: 256 + 15}})
		if err != nil || ended.Result == nil || ended.Result.ExitStatus != c.want || pbs.Exceeded(int32(c.want)) == "" {
			t.Errorf("%s: %+v, %v", c.resource, ended.Result, err)
		}
		over.Life.Kill = KillOrder{KillOrdered, Killing{Requeue: true}}
		if ended, _, _ = step(over, Exited{}); ended.Result.ExitStatus != pbs.ExitRerun {
			t.Errorf("%s, requeued: %+v", c.resource, ended.Result)
		}
	}
}

// What a job is while it begins is a matter of the moment in which it is measured.
func TestExceeded_MemoryOfTheBeginning(t *testing.T) {
	all := PBSEnforce()
	all.Mem, all.VMem, all.PMem = true, true, true
	large := proc.Usage{RSS: 1 << 30, VSize: 1 << 30, Largest: 1 << 30, Wall: firstLook - time.Second}
	run := in(Running, limited("mem", "1mb"), limited("vmem", "1mb"), limited("pmem", "1mb"))
	next, _, err := step(run, Sampled{large, all})
	if err != nil || next.Life.Breach != 0 {
		t.Errorf("a job of %s is ended with %d, %v", large.Wall, next.Life.Breach, err)
	}
	large.Wall += time.Second
	if next, _, err = step(next, Sampled{large, all}); err != nil || next.Life.Breach == 0 {
		t.Errorf("a job of %s goes on, %v", large.Wall, err)
	}
}

// A process counts while it has so much, on hosts that the run has: what was seen before a limit was lowered, or on a host that was given back
// since, does not.
func TestExceeded_LargestProcess(t *testing.T) {
	all := PBSEnforce()
	all.PMem = true
	run := in(Running, asked, limited("pmem", "100kb"), running(ProgramRunning))
	run.Peak.Wall = firstLook
	told := func(largest int64) Event {
		return Polled{Shares: map[pbs.HostName]Share{"hostb": {Peak: Peak{RSS: 200 << 10, Largest: largest}}}}
	}
	pmem := func(value string) Attrs { return Attrs{{Name: "Resource_List", Resource: "pmem", Value: value}} }
	for _, c := range []struct {
		name string
		what []Event
		over bool
	}{
		{"together they have more", []Event{told(60 << 10), Sampled{proc.Usage{RSS: 90 << 10, Largest: 90 << 10}, all}}, false},
		{"a sister's", []Event{told(101 << 10), Sampled{proc.Usage{}, all}}, true},
		{"a sister's before", []Event{told(101 << 10), told(50 << 10), Sampled{proc.Usage{}, all}}, false},
		{"its own before", []Event{Sampled{proc.Usage{Largest: 200 << 10}, PBSEnforce()}, Sampled{proc.Usage{Largest: 20 << 10}, all}}, false},
		{"a lower limit", []Event{Sampled{proc.Usage{Largest: 90 << 10}, all}, Alter{pmem("80kb")}, Sampled{proc.Usage{Largest: 81 << 10}, all}}, true},
		{"no limit any more", []Event{Alter{pmem("")}, Sampled{proc.Usage{Largest: 90 << 20}, all}}, false},
		{"nobody minds", []Event{Sampled{proc.Usage{Largest: 90 << 20}, PBSEnforce()}}, false},
	} {
		next := run
		for _, ev := range c.what {
			var err error
			if next, _, err = step(next, ev); err != nil {
				t.Fatal(err)
			}
		}
		if over := next.Life.Breach == pbs.ExitMem; over != c.over {
			t.Errorf("%s: %v", c.name, over)
		}
	}
	run.Shares = map[pbs.HostName]Share{"gone": {Peak: Peak{Largest: 1 << 30}}}
	if next, _, err := step(run, Sampled{proc.Usage{}, all}); err != nil || next.Life.Breach != 0 {
		t.Errorf("of a host that has left the run: %d, %v", next.Life.Breach, err)
	}
}
