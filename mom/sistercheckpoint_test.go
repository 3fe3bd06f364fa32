package mom

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/transport/api"
)

// site gives all moms of a party scripts that save and restart programs; who is in the folder
// that it returns, by the number of its node, refuses to save as soon as all files are there that its file names.
func (p *party) site(restart string) (refuse string) {
	p.t.Helper()
	refuse = p.t.TempDir()
	snap := filepath.Join(refuse, "snap")
	text := "#!/bin/sh\nwait=" + refuse + "/$PBS_NODENUM\n" + `if test -e $wait; then
	for n in $(seq 1000); do
		ls -d $wait $(cat $wait) >/dev/null 2>&1 && exit 1
		sleep 0.02
	done
	exit 1
fi
echo $1 $PBS_TASKNUM > $2
`
	if err := os.WriteFile(snap, []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for host, w := range p.moms {
		config := fmt.Sprintf("$action checkpoint 30 !%s %%sid %%path\n%s\n", snap, restart)
		path := filepath.Join(w.home, "mom_priv", "config")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			p.t.Fatal(err)
		}
		if err := w.mom.Reload(); err != nil {
			p.t.Fatalf("%s: %v", host, err)
		}
	}
	return refuse
}

const restartBySleep = "$action restart 0 !/bin/sleep 5000"

// hold has the job checkpointed and ended.
func (p *party) hold() {
	p.t.Helper()
	a := p.moms[hostOf(0)]
	o := a.next(released, 1)
	o.What = &api.Order_Checkpoint{Checkpoint: &api.CheckpointJob{}}
	if got := a.deliver(o)[0].GetRefusal(); got != nil {
		p.t.Errorf("refused: %v", got)
	}
}

// held tells how many checkpoints have failed, and whether the run has ended with one.
func (p *party) held(failed int, done bool) {
	p.t.Helper()
	synctest.Wait()
	a := p.moms[hostOf(0)]
	a.servers.mu.Lock()
	got := 0
	for _, f := range a.servers.facts {
		if f.GetNotCheckpointed() != nil {
			got++
		}
	}
	a.servers.mu.Unlock()
	ended := a.servers.ended(released)
	if got != failed || ended.GetCheckpointed() != done {
		p.t.Errorf("%d checkpoints failed, want %d; the end is %v", got, failed, ended)
	}
	if done && strings.Join(ended.GetKeepers(), " ") != "hostb hostc" {
		p.t.Errorf("kept by %q", ended.GetKeepers())
	}
	for n := range 3 {
		p.programs(hostOf(n), map[bool]int{false: 1}[done])
	}
}

// goOn starts the next run from the checkpoint.
func (p *party) goOn(run uint32) {
	p.t.Helper()
	a := p.moms[hostOf(0)]
	o := a.run(released, "sleep 1000", p.assignment(hostOf(0), hostOf(1), hostOf(2))...)
	o.RunCount, o.GetRun().Restart = run, &api.Restart{Session: 1}
	for n := range 3 {
		o.GetRun().Hosts = append(o.GetRun().Hosts, &api.RunHost{Name: hostOf(n), Address: hostOf(n) + ":15002"})
	}
	if got := a.deliver(o)[0].GetRefusal(); got != nil {
		p.t.Errorf("refused: %v", got)
	}
	sleep(3 * time.Second)
}

// parts returns the checkpoints that a host keeps: of which programs, by the names of the files.
func (p *party) parts(host string) string {
	p.t.Helper()
	var all []string
	found, _ := filepath.Glob(filepath.Join(p.moms[host].home, "checkpoint", "*", "*"))
	for _, path := range found {
		if name := filepath.Base(path); name != "task.json" {
			all = append(all, strings.TrimPrefix(filepath.Base(filepath.Dir(path)), released+".CK")+"/"+name)
		}
	}
	return strings.Join(all, " ")
}

// A job over several hosts is saved on all of them before any of its programs ends; it goes on with
// all of them, under their old numbers, and an end removes nothing that the servers know of.
func TestJointCheckpoint_HeldAndRestarted(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		p.site(restartBySleep)
		p.hold()
		sleep(time.Second)
		p.held(0, true)
		p.logs("hosta", "req_holdjob: Checkpoint initiated.", 1)
		p.logs("hosta", "checkpointed to "+filepath.Join(p.moms["hosta"].home, "checkpoint", released+".CK"), 1)
		for host, want := range map[string]string{"hosta": "/00000001", "hostb": "/00020002", "hostc": "/00040002"} {
			if got := p.parts(host); got != want {
				t.Errorf("%s keeps %q, want %q", host, got, want)
			}
		}
		p.moms["hostb"].wants(released, "1 ended 265")
		p.goOn(2)
		for n := range 3 {
			p.programs(hostOf(n), 1)
		}
		for host, want := range map[string]string{"hostb": "task 00020002 started, /bin/sleep", "hostc": "task 00040002 started, /bin/sleep"} {
			p.logs(host, want, 2)
		}
		for n := range 3 { // a restart of any mom leaves them alone
			p.again(hostOf(n))
			p.programs(hostOf(n), 1)
		}
		a := p.moms["hosta"]
		kill := a.kill(released, 0, false)
		kill.RunCount = 2
		a.deliver(kill)
		sleep(20 * time.Second)
		for n := range 3 {
			p.programs(hostOf(n), 0)
			if p.parts(hostOf(n)) == "" {
				t.Errorf("%s has dropped what the servers know of", hostOf(n))
			}
			w := p.moms[hostOf(n)]
			o := w.next(released, 2)
			o.What = &api.Order_Checkpoint{Checkpoint: &api.CheckpointJob{Discard: true}}
			w.deliver(o)
			if got := p.parts(hostOf(n)); got != "" {
				t.Errorf("%s still keeps %q", hostOf(n), got)
			}
		}
	})
}

// Whatever refuses, is silent or dies while a checkpoint is made, the job runs on with all its programs or
// is saved on all hosts; what was whole before counts until then.
func TestJointCheckpoint_Deaths(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(p *party, refuse string) // hostc is cut off
		failed    int
		done      bool
	}{
		"a host comes back":           {func(p *party, _ string) { sleep(10 * time.Second) }, 0, true},
		"a host stays away":           {func(p *party, _ string) { sleep(14 * time.Second) }, 1, false},
		"the mother superior dies":    {func(p *party, _ string) { p.again("hosta") }, 1, false},
		"a sister that is done dies":  {func(p *party, _ string) { p.again("hostb") }, 0, true},
		"a sister that is asked dies": {func(p *party, _ string) { p.again("hostc") }, 0, true},
		"a sister refuses": {func(p *party, refuse string) {
			if err := os.WriteFile(filepath.Join(refuse, "2"), nil, 0o600); err != nil {
				p.t.Fatal(err)
			}
		}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			together(t, func(t *testing.T, p *party) {
				refuse := p.site(restartBySleep)
				p.cutOff(true, "hostc")
				p.hold()
				sleep(2 * time.Second)
				p.held(0, false)
				c.meanwhile(p, refuse)
				p.cutOff(false, "hostc")
				sleep(15 * time.Second)
				p.held(c.failed, c.done)
				if err := os.RemoveAll(filepath.Join(refuse, "2")); err != nil {
					t.Fatal(err)
				}
				if !c.done {
					p.hold()
					sleep(15 * time.Second)
					p.held(c.failed, true)
				}
				p.goOn(2)
				for n := range 3 {
					p.programs(hostOf(n), 1)
					if got := p.parts(hostOf(n)); strings.Contains(got, " ") {
						t.Errorf("%s keeps %q", hostOf(n), got)
					}
				}
			})
		})
	}
}

// A job that ends while it is being checkpointed leaves nothing behind that nobody knows of.
func TestJointCheckpoint_DeletedMeanwhile(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		p.site(restartBySleep)
		p.cutOff(true, "hostc")
		p.hold()
		sleep(2 * time.Second)
		p.cutOff(false, "hostc")
		a := p.moms["hosta"]
		a.deliver(a.kill(released, 0, false))
		sleep(20 * time.Second)
		for n := range 3 {
			p.programs(hostOf(n), 0)
			if got := p.parts(hostOf(n)); got != "" {
				t.Errorf("%s keeps %q", hostOf(n), got)
			}
		}
		if a.servers.ended(released).GetCheckpointed() {
			t.Error("the job was deleted and checkpointed")
		}
	})
}

// A part that is missing or cannot be started anywhere ends the start, for good; nothing of it lives.
func TestJointCheckpoint_BadRestart(t *testing.T) {
	for name, c := range map[string]struct {
		restart string
		lose    string
		want    string
	}{
		"a part is gone":  {restartBySleep, "hostb", "2 never -7"},
		"no script there": {"", "", "2 never -7"},
	} {
		t.Run(name, func(t *testing.T) {
			together(t, func(t *testing.T, p *party) {
				p.site(c.restart)
				p.hold()
				sleep(time.Second)
				p.held(0, true)
				if c.lose != "" {
					if err := os.RemoveAll(filepath.Join(p.moms[c.lose].home, "checkpoint")); err != nil {
						t.Fatal(err)
					}
				}
				p.goOn(2)
				sleep(20 * time.Second)
				p.moms["hosta"].wants(released, "1 started", "1 ended -12", c.want)
				for n := range 3 {
					p.programs(hostOf(n), 0)
				}
			})
		})
	}
}

// A periodic checkpoint of a job over several hosts leaves it as it was; when a host's part is lost
// later, the checkpoint before that counts.
func TestJointCheckpoint_Periodic(t *testing.T) {
	together(t, func(t *testing.T, p *party) {
		refuse := p.site(restartBySleep)
		a := p.moms["hosta"]
		made := func(want int) {
			t.Helper()
			sleep(5*time.Minute + 10*time.Second)
			if got := a.servers.snapped(); got != want {
				t.Errorf("%d checkpoints, want %d", got, want)
			}
			for n := range 3 {
				p.programs(hostOf(n), 1)
			}
		}
		made(1)
		// A refusal that comes first spares the others their parts.
		part := filepath.Join(p.moms["hostc"].home, "checkpoint", released+".CK")
		newer := part + ".old/00040002\n" + part + "/00040002\n"
		if err := os.WriteFile(filepath.Join(refuse, "1"), []byte(newer), 0o600); err != nil {
			t.Fatal(err)
		}
		made(1) // hostc has a newer part, which counts for nothing
		if got := p.parts("hostc"); got != "/00040002 .old/00040002" {
			t.Errorf("hostc keeps %q", got)
		}
		a.config.Adopt = false
		p.again("hosta")
		sleep(20 * time.Second)
		a.config.Adopt = true
		a.wants(released, "1 started", "1 ended 0", "1 lost -4")
		p.goOn(2)
		for n := range 3 {
			p.programs(hostOf(n), 1)
		}
		if got := p.parts("hostc"); got != "/00040002" {
			t.Errorf("hostc keeps %q", got)
		}
	}, &api.Attribute{Name: "Checkpoint", Value: "w=5"}, &api.Attribute{Name: "periodic_checkpoints", Value: "True"})
}
