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
		{"mem", "100kb", proc.Usage{RSS: 123 << 10}, -27, "mem 123kb exceeded limit 100kb"},
		{"pmem", "100kb", proc.Usage{RSS: 150 << 10, Largest: 123 << 10}, -27, "pmem 123kb exceeded limit 100kb"},
		{"vmem", "100kb", proc.Usage{VSize: 123 << 10}, -26, "vmem 123kb exceeded limit 100kb"},
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
