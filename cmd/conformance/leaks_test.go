package conformance

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rampart/cmd/devrun"
	"rampart/transport"
)

// holding is what a mom has of its machine.
type holding struct{ goroutines, descriptors, children, files int }

// none of these grows with the jobs that were run.
func (h holding) over(before holding) bool {
	const slack = 10 // connections come and go
	return h.goroutines > before.goroutines+slack || h.descriptors > before.descriptors+slack ||
		h.children > before.children || h.files > before.files+slack
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)$`)

func holdingOf(t *testing.T, c *devrun.Cluster, hc *http.Client, mom string) (h holding, err error) {
	t.Helper()
	code, text, err := page(hc, "https://"+momAddress(t, c, mom)+"/metrics")
	if err != nil || code != http.StatusOK {
		return h, fmt.Errorf("metrics of %s: %d, %w", mom, code, err)
	}
	found := goroutines.FindStringSubmatch(text)
	if found == nil {
		return h, fmt.Errorf("%s tells no goroutines", mom)
	}
	h.goroutines, _ = strconv.Atoi(found[1])
	pid, err := c.Pid(mom)
	if err != nil {
		return h, err
	}
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return h, err
	}
	h.descriptors = len(open)
	for _, stat := range everyProcess("stat") {
		_, rest, _ := strings.Cut(stat, ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(pid) {
			h.children++
		}
	}
	err = filepath.WalkDir(c.Home(mom), func(_ string, _ fs.DirEntry, err error) error {
		if err == nil { // else it has just gone
			h.files++
		}
		return nil
	})
	return h, err
}

// everyProcess reads a file of each process.
func everyProcess(file string) (texts []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil {
			texts = append(texts, string(text))
		}
	}
	return texts
}

// TestHosts_NothingLeaks: jobs over three hosts, each of which leaves a daemon on every host and
// talks between hosts, leave nothing behind: no processes, files, descriptors or goroutines.
func TestHosts_NothingLeaks(t *testing.T) {
	t.Parallel()
	jobs := 100
	if testing.Short() {
		jobs = 20
	}
	moms := []string{"borg", "federer", "nadal"}
	var args []string
	for _, m := range moms {
		args = append(args, "--mom", m+":ncpus=4")
	}
	c := newCluster(t, args...)
	id, err := c.Issue(transport.RoleSubmit, "prometheus")
	if err != nil {
		t.Fatal(err)
	}
	tr := transport.NewTransport(transport.System{}, id.ClientTLS(transport.RoleMom))
	t.Cleanup(tr.CloseIdleConnections)
	hc := &http.Client{Transport: tr}
	daemon := fmt.Sprintf("%d.%d", 1000+os.Getpid(), os.Getpid()) // seconds, and known by them
	script := filepath.Join(c.Dir, "job")
	says := filepath.Join(c.Dir, "says")
	text := "#!/bin/sh\npbsdsh -- /bin/sh -c 'setsid sleep " + daemon + " >/dev/null 2>&1 & echo started >>" + says + "'\n"
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	row := func(n int) {
		t.Helper()
		array, err := c.Output(t.Context(), "qsub", "-J", fmt.Sprintf("1-%d", n), "-l", "select=3:ncpus=1", "-l", "place=scatter", "-o", "/dev/null", "-j", "oe", "--", script)
		if err != nil {
			t.Fatal(err)
		}
		number, _, _ := strings.Cut(array, "[")
		waitFor(t, 4*patience, array+" to be over", jobGone(t, c, number+"[]"))
	}
	rested := func(ok func(mom string, h holding) error) {
		t.Helper()
		waitFor(t, patience, "the moms to be at rest", func() error {
			for _, line := range everyProcess("cmdline") {
				if strings.Contains(line, "sleep\x00"+daemon) {
					return fmt.Errorf("a daemon lives: %q", line)
				}
			}
			for _, m := range moms {
				h, err := holdingOf(t, c, hc, m)
				if err == nil {
					err = ok(m, h)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	row(10) // what is made once is there then
	before := map[string]holding{}
	rested(func(m string, h holding) error {
		last := before[m]
		before[m] = h
		if h.children != last.children || h.files != last.files {
			return fmt.Errorf("%s had %+v, has %+v", m, last, h)
		}
		return nil
	})
	row(jobs)
	if text, _ := os.ReadFile(says); strings.Count(string(text), "started") != len(moms)*(10+jobs) {
		t.Errorf("%d daemons were started, want %d", strings.Count(string(text), "started"), len(moms)*(10+jobs))
	}
	rested(func(m string, h holding) error {
		if h.over(before[m]) {
			return fmt.Errorf("%s had %+v, has %+v", m, before[m], h)
		}
		t.Logf("%s had %+v, has %+v", m, before[m], h)
		return nil
	})
}
