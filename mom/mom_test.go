package mom

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/transport/api"
)

func TestLife_FromOrderToForget(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		if a := w.deliver(w.run("1.srv", "echo hello\nsleep 90\nexit 5")); a[0].GetRefusal() != nil {
			t.Fatalf("refused: %v", a)
		}
		w.wants("1.srv", "1 started")
		if nodes, err := os.ReadFile(filepath.Join(w.home, "aux", "1.srv")); err != nil || string(nodes) != "hosta\n" {
			t.Errorf("node file %q, %v", nodes, err)
		}
		sleep(95 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 5")
		if out, err := os.ReadFile(filepath.Join(w.user, "work.o1")); err != nil || string(out) != "hello\n" {
			t.Errorf("output %q, %v", out, err)
		}
		var used []string
		for _, u := range w.servers.ended("1.srv").GetUsed() {
			used = append(used, u.GetResource()+"="+u.GetValue())
		}
		want := "cpupercent=100 cput=00:01:30 mem=1024kb ncpus=2 vmem=2048kb walltime=00:01:30"
		if got := strings.Join(used, " "); got != want {
			t.Errorf("used %s, want %s", got, want)
		}
		w.deliver(w.forget("1.srv"))
		left, _ := filepath.Glob(filepath.Join(w.home, "mom_priv", "jobs", "*"))
		if len(left) != 0 {
			t.Errorf("left after forgetting: %v", left)
		}
		w.servers.set(func(s *servers) {
			if s.leases < 15 {
				t.Errorf("%d leases", s.leases)
			}
		})
		for _, text := range []string{
			";0008;pbs_mom;Job;1.srv;Started, pid = ", ";0008;pbs_mom;Job;1.srv;task 00000001 started, ",
			";0008;pbs_mom;Job;1.srv;kill_job", ";0100;pbs_mom;Job;1.srv;Obit sent",
			";0080;pbs_mom;Job;1.srv;copy file request received",
		} {
			if !strings.Contains(w.log(), text) {
				t.Errorf("log lacks %q:\n%s", text, w.log())
			}
		}
	})
}

func TestRegister_TellsHostVnodesAndTasks(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		defs := Definitions{filepath.Join(w.home, "mom_priv", "config.d")}
		text := "$configversion 2\nhosta: resources_available.ncpus = 0\nhosta[0]: resources_available.ncpus = 1\nhosta[0]: sharing = default_excl\n"
		if err := defs.Insert("v", []byte(text)); err != nil {
			t.Fatal(err)
		}
		w.servers.set(func(s *servers) { s.away = true })
		w.up()
		sleep(10 * time.Second)
		if _, err := w.tryDeliver(1, 0); connect.CodeOf(err) != connect.CodeUnavailable {
			t.Errorf("an order before the registration: %v", err)
		}
		w.servers.set(func(s *servers) { s.away = false })
		sleep(2 * time.Second)
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.servers.set(func(s *servers) { s.again = true })
		sleep(6 * time.Second)
		w.servers.set(func(s *servers) {
			last := s.regs[len(s.regs)-1]
			if len(last.GetTasks()) != 1 || last.GetPcpus() != 4 || last.GetBootId() != "boot-1" || last.GetSpoolId() == "" {
				t.Errorf("last registration %v", last)
			}
			var all []string
			for _, v := range last.GetVnodes() {
				for _, a := range v.GetAttributes() {
					all = append(all, fmt.Sprintf("%s:%s.%s=%s", v.GetName(), a.GetName(), a.GetResource(), a.GetValue()))
				}
			}
			for _, want := range []string{
				"hosta:resources_available.ncpus=0", "hosta:resources_available.mem=8388608kb", "hosta:resources_available.arch=linux",
				"hosta[0]:resources_available.ncpus=1", "hosta[0]:resources_available.host=hosta", "hosta[0]:sharing.=default_excl",
			} {
				if !slices.Contains(all, want) {
					t.Errorf("registration lacks %s: %q", want, all)
				}
			}
		})
	})
}

func TestDeliver_RepeatsGetTheOldAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		run := w.run("1.srv", "sleep 10")
		bad := w.next("9.srv", 1)
		bad.What = &api.Order_Signal{Signal: &api.SignalJob{Signal: "TERM"}}
		first := w.deliver(run, bad)
		w.down()
		w.up()
		again := w.deliver(run, bad)
		for i := range first {
			if first[i].String() != again[i].String() {
				t.Errorf("answer %d: %v, then %v", i, first[i], again[i])
			}
		}
		if pbs.Code(again[1].GetRefusal().GetCode()) != pbs.UnknownJob {
			t.Errorf("signal to an unknown job: %v", again[1])
		}
		if n := w.host.Starts("1.srv"); n != 1 {
			t.Errorf("started %d times", n)
		}
		// What is below the lowest open order is refused for ever, also after the job.
		w.term++
		if _, err := w.tryDeliver(w.term, 5); err != nil {
			t.Fatal(err)
		}
		if a := w.deliver(run); a[0].GetRefusal() == nil {
			t.Error("an order that was confirmed before is obeyed")
		}
		if _, err := w.tryDeliver(w.term-1, 9, w.kill("1.srv", 0, false)); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("an order of an earlier term: %v", err)
		}
		sleep(11 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
	})
}

func TestDeliver_NewEpochRegistersFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "sleep 1000"))
		w.servers.set(func(s *servers) { s.epoch = 8 })
		kill := w.kill("1.srv", 0, false)
		kill.Id = 1 // a number that an order of the old epoch had
		if _, err := w.tryDeliver(1, 0, kill); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Fatalf("order of an unknown epoch: %v", err)
		}
		sleep(time.Second)
		if a := w.deliver(kill); a[0].GetRefusal() != nil {
			t.Errorf("refused: %v", a)
		}
		sleep(time.Second)
		w.wants("1.srv", "1 started", "1 ended 265")
	})
}

func TestKill_TermThenKill(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.host = proc.NewFake(func(s proc.Spec) proc.Program {
			return proc.Program{Runs: time.Hour, IgnoresTerm: strings.HasPrefix(s.Job, "2")}
		})
		w.config.System = w.host
		w.up()
		w.deliver(w.run("1.srv", "x"), w.run("2.srv", "x"), w.run("3.srv", "x"))
		w.deliver(w.kill("1.srv", 10*time.Second, false), w.kill("2.srv", 10*time.Second, false), w.kill("3.srv", 0, true))
		w.wants("1.srv", "1 started", "1 ended 271")
		w.wants("2.srv", "1 started")
		w.wants("3.srv", "1 started", "1 ended -11")
		sleep(10 * time.Second)
		w.wants("2.srv", "1 started", "1 ended 265")
		if got := w.host.Signals("2.srv"); !slices.Equal(got, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}) {
			t.Errorf("signals %v", got)
		}
		if _, err := os.Stat(filepath.Join(w.user, "work.o3")); err == nil {
			t.Error("the output of a requeued run was delivered")
		}
		w.deliver(w.kill("4.srv", 0, false))
		sleep(time.Second)
		w.wants("4.srv", "1 never -4")
	})
}

func TestWalltime_Enforced(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		limit := &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: "00:01:00"}
		w.deliver(w.run("1.srv", "sleep 1000", limit), w.run("2.srv", "sleep 100", limit))
		longer := w.next("2.srv", 1)
		longer.What = &api.Order_Alter{Alter: &api.AlterJob{Attributes: []*api.Attribute{{Name: "Resource_List", Resource: "walltime", Value: "01:00:00"}}}}
		w.deliver(longer)
		sleep(61*time.Second + time.Millisecond)
		w.wants("1.srv", "1 started", "1 ended -29")
		note, err := os.ReadFile(filepath.Join(w.user, "work.e1"))
		if want := "=>> PBS: job killed: walltime 61 exceeded limit 60\n"; err != nil || string(note) != want {
			t.Errorf("stderr %q, %v; want %q", note, err, want)
		}
		w.wants("2.srv", "1 started")
		sleep(time.Minute)
		w.wants("2.srv", "1 started", "1 ended 0")
	})
}

func TestWalltime_HeedsTheKillDelayOfTheQueue(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.host = proc.NewFake(func(proc.Spec) proc.Program { return proc.Program{Runs: time.Hour, IgnoresTerm: true} })
		w.config.System = w.host
		w.up()
		limit := &api.Attribute{Name: "Resource_List", Resource: "walltime", Value: "00:01:00"}
		delay := &api.Attribute{Name: "kill_delay", Value: "3"}
		w.deliver(w.run("1.srv", "x", limit, delay))
		sleep(65 * time.Second)
		w.wants("1.srv", "1 started", "1 ended -29")
	})
}

func TestRunJob_FullDisk(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.setFull(true)
		run := w.run("1.srv", "sleep 1")
		reply, err := w.tryDeliver(w.term, 0, run)
		if err != nil || !strings.Contains(reply.GetAnswers()[0].GetRefusal().GetMessage(), "no space left on device") {
			t.Fatalf("order on a full disk: %v, %v", reply, err)
		}
		if !strings.Contains(w.log(), "cannot save job") || !strings.Contains(w.log(), "no space left on device") {
			t.Errorf("log:\n%s", w.log())
		}
		left, _ := filepath.Glob(filepath.Join(w.home, "mom_priv", "jobs", "*"))
		if len(left) != 0 {
			t.Errorf("half saved: %v", left)
		}
		w.setFull(false)
		if a := w.deliver(run); a[0].GetRefusal() == nil {
			t.Error("the same order got another answer")
		}
		if a := w.deliver(w.run("1.srv", "sleep 1")); a[0].GetRefusal() != nil {
			t.Errorf("with space again: %v", a)
		}
		w.setFull(true) // the job ends while nothing can be saved
		sleep(10 * time.Second)
		w.setFull(false)
		sleep(10 * time.Second)
		w.wants("1.srv", "1 started", "1 ended 0")
	})
}

// An order that a full disk leaves undone does not hold up the refusals of the runs behind it: their jobs go elsewhere (L14).
func TestDeliver_FullDiskRefusesRunsBehindAnother(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		kill, run, later := w.kill("1.srv", 0, true), w.run("2.srv", "sleep 1"), w.kill("3.srv", 0, true)
		w.setFull(true)
		reply, err := w.tryDeliver(w.term, kill.GetId(), kill, run, later)
		if err != nil || len(reply.GetAnswers()) != 1 {
			t.Fatalf("answers %v, %v", reply, err)
		}
		if a := reply.GetAnswers()[0]; a.GetOrder() != run.GetId() || a.GetRefusal() == nil {
			t.Errorf("answer %v", a)
		}
		w.setFull(false)
		a := w.deliver(kill, run, later)
		if a[0].GetRefusal() != nil || a[1].GetRefusal() == nil || a[2].GetRefusal() != nil {
			t.Errorf("with space again: %v", a)
		}
		w.wants("1.srv", "1 never -4")
		w.wants("3.srv", "1 never -4")
	})
}

// A delivery that was held up arrives after the one that ended its run (L2).
func TestDeliver_OvertakenRunStartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		first, late := w.run("1.srv", "sleep 9"), w.run("2.srv", "sleep 9")
		kill := w.kill("2.srv", 0, true)
		deliver := func(orders ...*api.Order) *api.DeliverReply {
			t.Helper()
			r, err := w.tryDeliver(w.term, first.GetId(), orders...)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		deliver(first, kill)
		w.wants("2.srv", "1 never -4")
		r := deliver(first, late)
		if a := r.GetAnswers(); len(a) != 2 || a[0].GetRefusal() != nil || a[1].GetRefusal() == nil {
			t.Errorf("answers %v", a)
		}
		sleep(20 * time.Second)
		w.wants("2.srv", "1 never -4")
	})
}

func TestOutput_Undelivered(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.up()
		w.deliver(w.run("1.srv", "echo precious", &api.Attribute{Name: "Join_Path", Value: "oe"}))
		w.deliver(w.run("2.srv", "echo elsewhere"))
		sleep(time.Second)
		w.host.SetFull(true)
		w.deliver(w.run("3.srv", "echo kept\nsleep 1", &api.Attribute{Name: "Join_Path", Value: "oe"}))
		sleep(2 * time.Second)
		e := w.servers.ended("3.srv")
		if e.GetStageoutStatus() >= 0 || !strings.Contains(e.GetComment(), "not delivered") || e.GetExitStatus() != 0 {
			t.Errorf("end %v", e)
		}
		if b, err := os.ReadFile(filepath.Join(w.home, "undelivered", "3.srv.OU")); err != nil || string(b) != "kept\n" {
			t.Errorf("undelivered %q, %v", b, err)
		}
		if _, err := os.Stat(filepath.Join(w.user, "work.e1")); err == nil {
			t.Error("a joined job has a file for stderr")
		}
	})
}

func TestRunJob_NoAccount(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.config.SwitchUser = true
		w.up()
		run := w.run("1.srv", "sleep 1")
		for _, a := range run.GetRun().GetAttributes() {
			if a.GetName() == "euser" {
				a.Value = "nobody-here"
			}
		}
		w.deliver(run)
		sleep(time.Second)
		w.wants("1.srv", "1 never -1")
	})
}
