package mom

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/mom/cgroup"
	"rampart/mom/proc"
	"rampart/transport/api"
	"rampart/transport/build"
)

// keep gives the mom cgroups of its own, when it is up, and returns the folders that jobs have
// theirs below; none if this machine lets us make none.
func (r *real) keep() {
	parent := fmt.Sprintf("rampart-test-%d", os.Getpid())
	r.config.Cgroups = &cgroup.Options{Find: func() (cgroup.Tree, error) { return cgroup.FindTree("/", parent) }}
	r.t.Cleanup(func() {
		if err := proc.RemoveCgroup(folders(parent)); err != nil {
			r.t.Errorf("cgroups left: %v", err)
		}
	})
}

func folders(parent string) []string {
	tree, err := cgroup.FindTree("/", "")
	if err != nil {
		return nil
	}
	var all []string
	for _, top := range tree.Tops() {
		all = append(all, filepath.Join(top, parent))
	}
	return all
}

// enable switches pbs_cgroups on.
func (r *real) enable() {
	r.t.Helper()
	_, err := r.mom.SetHooks(context.Background(), connect.NewRequest(&api.SetHooksRequest{
		Epoch: r.servers.epoch, Term: r.term, Generation: 1, Server: "srv",
		Hooks: []*api.Hook{{Name: cgroupsHook, Seq: 1, Attributes: []*api.Attribute{
			{Name: "type", Value: "pbs"},
			{Name: "enabled", Value: "true"},
			{Name: "event", Value: "execjob_begin,execjob_launch,execjob_attach,execjob_resize,execjob_epilogue,execjob_end,execjob_abort"},
		}}},
	}))
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *real) kept(job string) []string {
	return r.mom.config.keeper.Room(job, 1).Folders
}

// A daemon that has left session, environment and, with the shim, its parents, is still in the
// job's cgroup, and ends with the job.
func TestReal_DaemonsDoNotEscape(t *testing.T) {
	r := newReal(t)
	r.keep()
	r.up()
	r.enable()
	r.order(r.run("1.srv", "env -i setsid sh -c 'echo $$ >"+r.user+"/daemon; exec sleep 1000' & sleep 1000\n"))
	r.untilTold("1.srv", "1 started")
	if len(r.kept("1.srv")) == 0 {
		t.Skip("this machine lets us make no cgroups")
	}
	var pid int
	r.until("the daemon is there", func() bool {
		text, err := os.ReadFile(filepath.Join(r.user, "daemon"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && pid > 0
	})
	shim, _, err := r.config.System.Find(filepath.Join(r.home, "mom_priv", "jobs", "1.srv@1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(shim.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.untilTold("1.srv", "1 started", "1 lost -4")
	// Nobody may have taken its status yet.
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("the daemon lives when the run is told to be over: %s", stat)
	}
}

// The address space of a job is no matter of its cgroup: the mom ends it, also for a process that has left the job's
// session and environment.
func TestReal_VmemWithACgroup(t *testing.T) {
	if testing.Short() {
		t.Skip("takes until processes are measured")
	}
	r := newReal(t)
	r.keep()
	r.up()
	r.enable()
	limit := &api.Attribute{Name: "Resource_List", Resource: "vmem", Value: "1gb"}
	const large = `python3 -c 'import mmap, time; m = mmap.mmap(-1, 2 << 30); time.sleep(1000)'`
	r.order(
		r.run("1.srv", large+"\n", limit),
		r.run("2.srv", "env -i setsid "+large+" & sleep 1000\n", limit),
		r.run("3.srv", "sleep 1000\n", limit),
	)
	r.untilTold("3.srv", "1 started")
	if len(r.kept("1.srv")) == 0 {
		t.Skip("this machine lets us make no cgroups")
	}
	r.untilTold("1.srv", "1 started", "1 ended -26")
	r.untilTold("2.srv", "1 started", "1 ended -26")
	r.untilTold("3.srv", "1 started")
	if text := r.output("work.e1"); !strings.HasPrefix(text, "=>> PBS: job killed: vmem ") || !strings.HasSuffix(text, "kb exceeded limit 1048576kb\n") {
		t.Errorf("stderr %q", text)
	}
	r.order(r.kill("3.srv", 20*time.Second, false))
	r.untilTold("3.srv", "1 started", "1 ended 271")
}

// The owner and the administrator read why the kernel has killed a process of a job; how the job ends says its script.
func TestReal_MemoryOfTheCgroup(t *testing.T) {
	r := newReal(t)
	r.keep()
	r.up()
	r.enable()
	large := r.run("1.srv", "python3 -c 'bytes(1) * (400 << 20)'\n")
	for _, a := range large.GetRun().GetAttributes() {
		if a.GetName() == "exec_vnode" {
			a.Value = "(hosta:ncpus=1:mem=102400kb)"
		}
	}
	r.order(large, r.run("2.srv", "sleep 1\n"))
	r.untilTold("2.srv", "1 started")
	if len(r.kept("2.srv")) == 0 {
		t.Skip("this machine lets us make no cgroups")
	}
	r.untilTold("1.srv", "1 started", "1 ended 137")
	r.untilTold("2.srv", "1 started", "1 ended 0")
	if text := r.output("work.e1"); !strings.Contains(text, "Cgroup memory limit exceeded\n") {
		t.Errorf("stderr %q", text)
	}
	if text := r.output("work.e2"); text != "" {
		t.Errorf("stderr of another job %q", text)
	}
}

// A mom that comes back without its jobs removes what they had.
func TestReal_CgroupsOfAnEarlierMom(t *testing.T) {
	r := newReal(t)
	r.keep()
	r.up()
	r.enable()
	r.order(r.run("1.srv", "sleep 1000\n"))
	r.untilTold("1.srv", "1 started")
	had := r.kept("1.srv")
	if len(had) == 0 {
		t.Skip("this machine lets us make no cgroups")
	}
	r.down()
	r.config.Adopt = false
	r.up()
	r.untilTold("1.srv", "1 started", "1 lost -4")
	r.until("its cgroup is gone", func() bool {
		_, err := os.Stat(had[0])
		return errors.Is(err, fs.ErrNotExist)
	})
}

// holdings is what a mom has of its host.
type holdings struct{ goroutines, descriptors, processes, files, cgroups int }

func (r *real) holds() (h holdings) {
	h.goroutines = runtime.NumGoroutine()
	open, _ := os.ReadDir("/proc/self/fd")
	h.descriptors = len(open)
	statuses, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range statuses {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			h.processes++
		}
	}
	count := func(n *int) fs.WalkDirFunc {
		return func(_ string, _ fs.DirEntry, err error) error {
			if err == nil {
				*n++
			}
			return nil
		}
	}
	_ = filepath.WalkDir(r.home, count(&h.files))
	_ = filepath.WalkDir(r.tmp, count(&h.files))
	for _, dir := range folders(fmt.Sprintf("rampart-test-%d", os.Getpid())) {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				h.cgroups++
			}
			return nil
		})
	}
	return h
}

// rowOf is how many jobs TestReal_NothingLeaks runs; make test-long says 1000.
var rowOf = flag.Int("jobs", 20, "`number` of jobs that are run in a row to see whether they leak")

// TestReal_NothingLeaks runs many jobs in a row, each of which leaves a daemon behind.
func TestReal_NothingLeaks(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	jobs := *rowOf
	r := newReal(t)
	r.keep()
	r.up()
	r.enable()
	one := func(i int) {
		job := fmt.Sprintf("%d.srv", i)
		r.order(r.run(job, "setsid sleep 1000 &\nexit 0\n"))
		r.untilTold(job, "1 started", "1 ended 0")
		if reply, err := r.tryDeliver(r.term, 0, r.forget(job)); err != nil || reply.GetAnswers()[0].GetRefusal() != nil {
			t.Fatalf("forget %s: %v, %v", job, err, reply)
		}
	}
	for i := range 10 { // what is made once is there then
		one(i)
	}
	settled := func() holdings {
		last := r.holds()
		r.until("the mom is at rest", func() bool {
			now := r.holds()
			same := now == last
			last = now
			return same
		})
		return last
	}
	before, began := settled(), time.Now()
	for i := range jobs {
		one(10 + i)
	}
	t.Logf("%d jobs, %v each", jobs, (time.Since(began) / time.Duration(jobs)).Round(time.Millisecond))
	var after holdings
	defer func() { t.Logf("before %+v, after %+v", before, after) }()
	r.until("nothing more is held than before", func() bool { // the last shim may still be on its way out
		after = r.holds()
		return after.goroutines <= before.goroutines+5 && after.descriptors <= before.descriptors+5 && after.processes <= before.processes &&
			after.files <= before.files+5 && after.cgroups <= before.cgroups
	})
}
