package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReliable_Waits plays RS-2 and RS-14: sisters that are silent, and waits that last their
// full time.
func TestReliable_Waits(t *testing.T) {
	if testing.Short() {
		t.Skip("RS-2 and RS-14 take minutes")
	}
	t.Parallel()
	w := newStartup(t, 1, "$sister_join_job_alarm 45\n$job_launch_delay 40\n", "queuejob", "execjob_begin", "execjob_prologue", "execjob_launch")
	w.sub("RS-2", (*startup).silentAtJoin)
	w.sub("RS-14", (*startup).silentAtPrologue)
}

// at returns when a mom has logged a line about a job first.
func (w *startup) at(host, id, text string) time.Time {
	w.t.Helper()
	files, _ := filepath.Glob(filepath.Join(w.Home(host), "mom_logs", "*"))
	line := regexp.MustCompile(`(?m)^([^;]*);.*;` + quoted(id) + ";" + text + "$")
	for _, f := range files {
		data, _ := os.ReadFile(f)
		if found := line.FindSubmatch(data); found != nil {
			at, err := time.Parse("01/02/2006 15:04:05", string(found[1]))
			if err != nil {
				w.t.Fatal(err)
			}
			return at
		}
	}
	w.t.Fatalf("the log of %s does not say of %s: %s", host, id, text)
	return time.Time{}
}

// took expects so many seconds between two lines of the mother superior.
func (w *startup) took(id, from, to string, least, most int) {
	w.t.Helper()
	d := w.at("hosta", id, to).Sub(w.at("hosta", id, from))
	w.t.Logf("from %q to %q: %s", from, to, d)
	if d < time.Duration(least)*time.Second || d > time.Duration(most+1)*time.Second { // the log may have whole seconds
		w.t.Errorf("from %q to %q it took %s, want %d to %d s", from, to, d, least, most)
	}
}

// begins waits until a job runs that is started slowly.
func (w *startup) begins(id string) {
	w.t.Helper()
	waitFor(w.t, 8*patience, "the start of "+id, func() error {
		if text := w.look(id); !strings.Contains(text, "substate = 42") {
			return errors.New(text)
		}
		return nil
	})
}

func (w *startup) silentAtJoin() {
	signalTo(w.t, w.Cluster, "hostb", syscall.SIGSTOP)
	id := w.submit(r1, "prologue-hostc")
	w.begins(id)
	w.starts(id, ade, "hosta hostd hoste", w.hosts["hostb"]...)
	w.took(id, "Executing begin", "Executing prolo", 45, 50)
	w.took(id, "Executing prolo", "Executing launch", 40, 43)
	w.tells("hosta", id, "sister_join_job_alarm wait time 45 secs exceeded$",
		"job reliable startup job_launch_delay=40 secs$",
		"not all prologue hooks to sister moms completed, but job will proceed to execute$")
	w.failed(id, "IM_EXEC_PROLOGUE", "hostc")
	w.vnode("hostb", "state = down")
	signalTo(w.t, w.Cluster, "hostb", syscall.SIGCONT)
	w.vnodes(w.busy(id, ade.ev, false))
	w.forgot(id, "hostb", "hostc")
	w.done(id, padding, ade)
}

func (w *startup) silentAtPrologue() {
	w.sets("execjob_prologue", "alarm = 60")
	w.configure("hosta", "$job_launch_delay 120\n")
	id := w.submit(r1, "sleeps")
	silent := []string{"hostc", "hoste"}
	for _, h := range silent {
		w.logged(h, quoted(id)+";sleeping for 30 secs$")
	}
	for _, h := range silent {
		signalTo(w.t, w.Cluster, h, syscall.SIGSTOP)
	}
	w.begins(id)
	x := startsA("hostb/0*0+hostd/0*2", evB+"+(hostd:ncpus=2:mem=2097152kb)")
	w.starts(id, x, "hosta hostb hostd", slices.Concat(w.hosts["hostc"], w.hosts["hoste"])...)
	w.chose(id, x)
	w.saw(id, "launch", "hostc hoste hoste[0]")
	w.took(id, "Executing prolo", "Executing launch", 120, 124)
	for _, h := range silent {
		signalTo(w.t, w.Cluster, h, syscall.SIGCONT)
	}
	w.vnodes(w.busy(id, x.ev, false))
	w.forgot(id, silent...)
	w.done(id, padding, x)
}
