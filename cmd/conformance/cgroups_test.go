package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rampart/cmd/devrun"
)

// hierarchies are where the folders of a job may be, whatever this machine has mounted.
var hierarchies = []string{"/sys/fs/cgroup", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/freezer", "/sys/fs/cgroup/unified"}

// kept is a cluster whose moms keep jobs in cgroups.
type kept struct{ *devrun.Cluster }

func newKept(t *testing.T, args ...string) kept {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root makes cgroups")
	}
	c := kept{newCluster(t, args...)}
	c.must(t, "qmgr", "-c", "set server job_history_enable = True")
	c.must(t, "qmgr", "-c", "set pbshook pbs_cgroups enabled = True")
	waitFor(t, patience, "copies of the hook", func() error {
		for _, host := range []string{"hosta", "hostb"} {
			if !strings.Contains(c.log(host), "pbs_cgroups.HK;copy hook-related file") {
				return errors.New("none at " + host)
			}
		}
		return nil
	})
	return c
}

func (c kept) must(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := c.Output(t.Context(), command, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c kept) log(host string) string {
	files, _ := filepath.Glob(filepath.Join(c.Home(host), "mom_logs", "*"))
	var all strings.Builder
	for _, f := range files {
		text, _ := os.ReadFile(f)
		all.Write(text)
	}
	return all.String()
}

// folders returns those of a job at a host.
func (c kept) folders(t *testing.T, host, job string) []string {
	t.Helper()
	config, err := os.ReadFile(filepath.Join(c.Home(host), "mom_priv", "config"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(config), "$cgroup_parent ")
	if !ok {
		t.Fatalf("%s has no place for cgroups: %s", host, config)
	}
	parent, _, _ := strings.Cut(rest, "\n")
	var all []string
	for _, h := range hierarchies {
		dir := filepath.Join(h, parent, "pbs_jobs.service", "jobid", job)
		if _, err := os.Stat(dir); err == nil {
			all = append(all, dir)
		}
	}
	return all
}

func (c kept) submit(t *testing.T, seconds string, args ...string) string {
	t.Helper()
	return c.must(t, "qsub", append(args, "-o", "/dev/null", "-j", "oe", "--", "/bin/sleep", seconds)...)
}

// has waits until a job has folders at the hosts.
func (c kept) has(t *testing.T, job string, hosts ...string) {
	t.Helper()
	waitFor(t, patience, "cgroups of "+job, func() error {
		for _, host := range hosts {
			if strings.Contains(c.log(host), "jobs get no cgroups") {
				t.Skip("this machine has no cgroups that are ours to make")
			}
			if len(c.folders(t, host, job)) == 0 {
				return errors.New("none at " + host)
			}
		}
		return nil
	})
}

// limited waits until a job's memory at a host is limited to so many bytes.
func (c kept) limited(t *testing.T, host, job, bytes string) {
	t.Helper()
	waitFor(t, patience, "a limit of "+bytes+" for "+job, func() error {
		var seen []string
		for _, dir := range c.folders(t, host, job) {
			for _, file := range []string{"memory.limit_in_bytes", "memory.max"} {
				if text, err := os.ReadFile(filepath.Join(dir, file)); err == nil {
					seen = append(seen, strings.TrimSpace(string(text)))
				}
			}
		}
		if !slices.Equal(seen, []string{bytes}) {
			return fmt.Errorf("it is %v", seen)
		}
		return nil
	})
}

// ends waits until a job is over and has folders at neither host.
func (c kept) ends(t *testing.T, job, state string) {
	t.Helper()
	waitFor(t, patience, "the end of "+job, func() error {
		out, err := c.Output(t.Context(), "qstat", "-xf", job)
		if err == nil && !strings.Contains(out, "job_state = "+state) {
			err = fmt.Errorf("%s", out)
		}
		for _, host := range []string{"hosta", "hostb"} {
			if left := c.folders(t, host, job); len(left) > 0 {
				err = fmt.Errorf("left at %s: %v", host, left)
			}
		}
		return err
	})
}

// TestCgroups plays RG-1 to RG-5.
func TestCgroups(t *testing.T) {
	t.Parallel()
	c := newKept(t, "--replicas", "1", "--mom", "hosta:ncpus=2,mem=2gb", "--mom", "hostb/hostb[0]:ncpus=1,mem=1gb/hostb[1]:ncpus=1,mem=1gb")

	// RG-1, and RG-2, which ends its job by qdel. Nothing that the job has started outlives it.
	two := []string{"-l", "select=2:ncpus=1:mem=100mb", "-l", "place=scatter"}
	job := c.submit(t, "2", two...)
	c.has(t, job, "hosta", "hostb")
	c.ends(t, job, "F")
	job = c.submit(t, "1000", two...)
	c.has(t, job, "hosta", "hostb")
	c.must(t, "qdel", job)
	c.ends(t, job, "F")
	for _, event := range []string{"execjob_begin", "execjob_epilogue", "execjob_end"} {
		if !strings.Contains(c.log("hostb"), "Hook;pbs_python;Event type is "+event) {
			t.Errorf("the sister's log tells nothing of %s", event)
		}
	}

	// What vnodes of a host had leaves the cgroup with them, and the cgroup the host with the last.
	job = c.submit(t, "1000", "-l", "select=1:ncpus=1:host=hosta+2:ncpus=1:mem=100mb", "-l", "place=vscatter")
	c.has(t, job, "hosta", "hostb")
	c.limited(t, "hostb", job, "209715200")
	waitFor(t, patience, "the job to run", func() error {
		if out := c.must(t, "qstat", "-f", job); !strings.Contains(out, "substate = 42") {
			return fmt.Errorf("%s", out)
		}
		return nil
	})
	c.must(t, "pbs_release_nodes", "-j", job, "hostb[1]")
	c.limited(t, "hostb", job, "104857600")
	c.must(t, "pbs_release_nodes", "-j", job, "hostb[0]")
	waitFor(t, patience, "the released host to have no cgroup", func() error {
		if left := c.folders(t, "hostb", job); len(left) > 0 {
			return fmt.Errorf("%v", left)
		}
		return nil
	})
	c.must(t, "qdel", job)
	c.ends(t, job, "F")

	// RG-3: the end removes what the epilogue did not.
	c.must(t, "qmgr", "-c", "set pbshook pbs_cgroups event -= execjob_epilogue")
	c.must(t, "qmgr", "-c", "set pbshook pbs_cgroups event -= exechost_periodic")
	job = c.submit(t, "1", "-l", "select=1:ncpus=1:mem=100mb")
	c.ends(t, job, "F")

	// RG-4: an array has folders for the subjobs that run only.
	array := c.submit(t, "1000", "-J", "1-4", "-l", "select=1:ncpus=1:mem=300mb", "-l", "place=pack:excl")
	sub := func(i int) string { return strings.Replace(array, "[]", fmt.Sprintf("[%d]", i), 1) }
	c.has(t, sub(1), "hosta")
	c.has(t, sub(2), "hostb")
	for _, other := range []string{array, sub(4)} {
		if found := append(c.folders(t, "hosta", other), c.folders(t, "hostb", other)...); len(found) > 0 {
			t.Errorf("%s has %v", other, found)
		}
	}
	c.must(t, "qdel", sub(1))
	c.ends(t, sub(1), "X")
	c.must(t, "qdel", "-W", "force", sub(2))
	c.ends(t, sub(2), "X")
	c.must(t, "qdel", array)
	c.ends(t, sub(3), "F")

	// RG-5: a vnode for each NUMA node.
	numa := filepath.Join(t.TempDir(), "cgroups.json")
	text := `{"vnode_per_numa_node": true, "run_only_on_hosts": ["hosta"], "cgroup": {"cpuset": {"enabled": true}, "memory": {"enabled": true, "reserve_amount": "64mb"}}}`
	if err := errors.Join(os.WriteFile(numa, []byte(text), 0o644), os.Remove(filepath.Join(c.Home("hosta"), "mom_priv", "config.d", "dev"))); err != nil {
		t.Fatal(err)
	}
	c.must(t, "qmgr", "-c", "import hook pbs_cgroups application/x-config default "+numa)
	var kb int64
	waitFor(t, patience, "a vnode for NUMA node 0", func() error {
		out, err := c.Output(t.Context(), "pbsnodes", "-v", "hosta[0]")
		if err == nil {
			_, rest, _ := strings.Cut(out, "resources_available.mem = ")
			_, err = fmt.Sscanf(rest, "%dkb", &kb)
		}
		return err
	})
	job = c.submit(t, "1", "-l", fmt.Sprintf("select=1:ncpus=1:mem=%dkb:host=hosta", kb-2048))
	big := c.submit(t, "1", "-l", fmt.Sprintf("select=1:ncpus=1:mem=%dkb:host=hosta", kb-2048+1<<20))
	c.ends(t, job, "F")
	waitFor(t, patience, "the comment of the job that is too big", func() error {
		out := c.must(t, "qstat", "-fw", big)
		if !strings.Contains(out, "job_state = Q") || !strings.Contains(out, "Insufficient amount of resource: mem") {
			return fmt.Errorf("%s", out)
		}
		return nil
	})
}

// TestGPUs shares out GPUs, which need no cgroups: no two jobs have the same one, and who asked for
// none sees none.
func TestGPUs(t *testing.T) {
	t.Parallel()
	c := kept{newCluster(t, "--replicas", "1", "--mom", "hosta:ncpus=4,mem=2gb,ngpus=2")}
	says := filepath.Join(c.Dir, "gpus")
	submit := func(name, ask string) {
		c.must(t, "qsub", "-o", "/dev/null", "-j", "oe", "-v", "CUDA_VISIBLE_DEVICES=7", "-l", ask, "--", "/bin/sh", "-c",
			fmt.Sprintf(`echo "%s=$CUDA_VISIBLE_DEVICES" >>%s; sleep 1000`, name, says))
	}
	submit("one", "select=1:ncpus=1:ngpus=1")
	submit("two", "select=1:ncpus=1:ngpus=1")
	submit("none", "select=1:ncpus=1")
	waitFor(t, patience, "what the jobs see", func() error {
		text, err := os.ReadFile(says)
		lines := strings.Fields(string(text))
		slices.Sort(lines)
		got := strings.Join(lines, " ")
		if got != "none= one=0 two=1" && got != "none= one=1 two=0" {
			err = errors.Join(err, fmt.Errorf("%q", got))
		}
		return err
	})
}
