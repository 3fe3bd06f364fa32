package conformance

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestHooks_LongerThanARequest: a queuejob hook takes longer than any request does, and the leader is
// killed meanwhile. Each qsub is answered, and each job is there once (L1, L8).
func TestHooks_LongerThanARequest(t *testing.T) {
	if testing.Short() {
		t.Skip("a hook of 35 s, twice: see make test-long")
	}
	t.Parallel()
	h := newUsingHooks(t, "borg:ncpus=8")
	h.hook("slow", "event=queuejob,alarm=60", "import pbs, time\npbs.logmsg(pbs.LOG_DEBUG, 'the slow one begins')\ntime.sleep(35)\n")
	const jobs = 4
	ids, errs := make([]string, jobs), make([]error, jobs)
	var asked sync.WaitGroup
	for n := range jobs {
		asked.Go(func() {
			ids[n], errs[n] = h.Output(t.Context(), "qsub", "-N", fmt.Sprintf("slow%d", n), "-o", "/dev/null", "-j", "oe", "--", "/bin/true")
		})
	}
	waitFor(t, patience, "the hook to begin", func() error {
		out, err := h.Output(t.Context(), "sh", "-c", "cat $RAMPART_DEV/homes/s?/server_logs/*")
		if err == nil && strings.Count(out, "the slow one begins") < jobs {
			err = fmt.Errorf("%d of %d have begun", strings.Count(out, "the slow one begins"), jobs)
		}
		return err
	})
	killLeader(t, h.Cluster)
	asked.Wait()
	for n := range jobs {
		if errs[n] != nil {
			t.Errorf("qsub %d: %v", n, errs[n])
			continue
		}
		waitFor(t, patience, ids[n]+" to be over", func() error {
			out, err := h.Output(t.Context(), "qselect", "-x", "-N", fmt.Sprintf("slow%d", n))
			if err == nil && strings.TrimSpace(out) != ids[n] {
				err = fmt.Errorf("jobs %q, want %s", out, ids[n])
			}
			if err == nil {
				out, err = h.Output(t.Context(), "qstat", "-xf", ids[n])
			}
			if err == nil && !strings.Contains(out, "job_state = F") {
				err = fmt.Errorf("%s", out)
			}
			return err
		})
	}
}
