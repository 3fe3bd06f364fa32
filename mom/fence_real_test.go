package mom

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rampart/mom/proc"
	"rampart/transport/api/apiconnect"
)

// stoppableMom is what the test binary is called when it is a mom in a process of its
// own. Its arguments are the home, the user's home, the folder for TMPDIR and the URL of
// the servers; it prints where it takes orders, and runs until it is killed.
const stoppableMom = "stoppable-mom"

func runStoppable(args []string) int {
	r := &real{&world{home: args[0], user: args[1]}, args[2]}
	if err := r.configure(http.DefaultTransport, args[3]); err != nil {
		return 1
	}
	m, err := New(r.config)
	if err != nil {
		return 1
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	_, handler := m.Handler()
	go func() { _ = http.Serve(listener, handler) }() //nolint:gosec // of a test
	_, _ = os.Stdout.WriteString("http://" + listener.Addr().String() + "\n")
	if m.Run(context.Background()) != nil {
		return 1
	}
	return 0
}

// apart starts a mom in a process of its own and waits until it obeys.
func (r *real) apart() *os.Process {
	r.t.Helper()
	_, handler := apiconnect.NewReportHandler(r.servers)
	server := httptest.NewServer(handler)
	r.t.Cleanup(server.Close)
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	c := exec.CommandContext(r.t.Context(), self)
	c.Args = []string{stoppableMom, r.home, r.user, r.tmp, server.URL}
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	r.agent = apiconnect.NewAgentClient(http.DefaultClient, strings.TrimSpace(line))
	r.until("the mom obeys", func() bool {
		_, err := r.tryDeliver(r.term, 0)
		return err == nil
	})
	return c.Process
}

// shorten stands for a short fence: the deadline passes after d.
func (r *real) shorten(d time.Duration) time.Duration {
	r.t.Helper()
	path := filepath.Join(r.home, "mom_priv", "deadline")
	now, err := proc.ReadDeadline(path)
	if err != nil {
		r.t.Fatal(err)
	}
	now.At, now.Fence = proc.SinceBoot()+d, d
	if err := proc.WriteDeadline(path, now); err != nil {
		r.t.Fatal(err)
	}
	return now.At
}

// pid returns what the job has written down of itself.
func (r *real) pid(name string) int {
	r.t.Helper()
	var pid int
	r.until(name+" is written", func() bool {
		text, err := os.ReadFile(filepath.Join(r.user, name))
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	return pid
}

func gone(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(text), ") Z ")
}

const detaching = "setsid sleep 4711 & echo $! >pid\nwait\n"

func TestFence_RealMomDeadShimAlive(t *testing.T) {
	r := newReal(t)
	r.up()
	r.order(r.run("1.srv", detaching))
	r.untilTold("1.srv", "1 started")
	pid := r.pid("pid")
	r.down()
	r.shorten(200 * time.Millisecond)
	r.until("the shim has ended the job by itself", func() bool { return gone(pid) })
	r.up()
	r.untilTold("1.srv", "1 started", "1 lost -4")
}

// Mom and shim are stopped across the deadline. The mom wakes first and renews: the
// shim finds no deadline that has passed, and ends the job all the same.
func TestFence_RealMomAndShimStoppedAcrossIt(t *testing.T) {
	r := newReal(t)
	mom := r.apart()
	r.order(r.run("1.srv", detaching))
	r.untilTold("1.srv", "1 started")
	pid := r.pid("pid")
	system := r.config.System
	dir := filepath.Join(r.home, "mom_priv", "jobs", "1.srv@1")
	shim, found, err := system.Find(dir)
	if err != nil || !found {
		t.Fatalf("shim: %v, %v", found, err)
	}
	signal := func(pid int, sig syscall.Signal) {
		t.Helper()
		if err := syscall.Kill(pid, sig); err != nil {
			t.Fatal(err)
		}
	}
	signal(shim.PID, syscall.SIGSTOP)
	signal(mom.Pid, syscall.SIGSTOP)
	at := r.shorten(100 * time.Millisecond)
	r.until("the deadline passes", func() bool { return proc.SinceBoot() > at })
	if gone(pid) {
		t.Fatal("the job has ended before anybody could end it")
	}
	signal(mom.Pid, syscall.SIGCONT)
	r.until("the mom has renewed", func() bool {
		d, err := proc.ReadDeadline(filepath.Join(r.home, "mom_priv", "deadline"))
		return err == nil && !d.Passed(proc.SinceBoot())
	})
	signal(shim.PID, syscall.SIGCONT)
	r.untilTold("1.srv", "1 started", "1 lost -4")
	if !gone(pid) {
		t.Error("a process of the job lives")
	}
}
