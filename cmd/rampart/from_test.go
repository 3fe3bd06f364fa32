package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"rampart/cli/admin"
	"rampart/cluster/store"
	"rampart/cmd/rampart/server"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/build"
	"rampart/transport/memnet"
)

// accounting returns the day files and sidecars of a replica.
func (s *site) accounting(name string) map[string]string {
	s.t.Helper()
	all := map[string]string{}
	days, err := filepath.Glob(filepath.Join(s.home(name).Accounting(), "[0-9.]*"))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, path := range days {
		if strings.HasPrefix(filepath.Base(path), ".l") { // what only this replica notes
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			s.t.Fatal(err)
		}
		all[filepath.Base(path)] = string(text)
	}
	return all
}

// foundFrom makes a new site with one replica that begins with a backup.
func foundFrom(t *testing.T, s *site, name, backup string) {
	d := s.add(name)
	d.server = server.Default(name, d.host.IP().String())
	d.server.Home, d.disk = s.home(name), store.NewMemory()
	if err := server.InitFrom(t.Context(), d.server, backup, true); err != nil {
		t.Fatal(err)
	}
	var err error
	if d.server, err = server.Load(d.server.Home); err != nil {
		t.Fatal(err)
	}
	s.start(name)
	s.until("a leader", time.Minute, func() bool { return s.leader() != nil })
}

// TestFrom_Drill loses everything but a backup: the jobs that waited are there and run, those
// that ran are queued again when their host is back without them, accounting goes on behind
// that of before, and is the same on all replicas.
func TestFrom_Drill(t *testing.T) {
	backup := t.TempDir()
	var old map[string]string
	var ran, waits pbs.JobID
	var oldID string
	var records uint64
	onSite(t, func(t *testing.T, s *site) {
		s.ready()
		f := files{}
		env, _ := s.env("s1", "root", f)
		ran, waits = s.job("sleep 3000"), s.job("sleep 5", "Hold_Types=u")
		s.runs(ran)
		if err := admin.Save(t.Context(), env, "", "state"); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Second) // the ledger is synced
		old, oldID, records = s.accounting("s1"), s.view().Cluster().ID, s.view().Cluster().LastRecord
		if err := os.WriteFile(filepath.Join(backup, "state.snapshot"), f["state"].Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(backup, "accounting"), 0o750); err != nil {
			t.Fatal(err)
		}
		for name, text := range old {
			if err := os.WriteFile(filepath.Join(backup, "accounting", name), []byte(text), 0o640); err != nil {
				t.Fatal(err)
			}
		}
	})
	newSite(t, func(t *testing.T, s *site) {
		foundFrom(t, s, "s1", backup)
		s.joinReplica("s2")
		s.joinReplica("s3")
		c := s.view().Cluster()
		if c.ID == oldID || c.Name != "srv" || c.NextJob < command.EpochSkip || c.LastRecord < records {
			t.Errorf("founded %+v", c)
		}
		if got := s.jobState(ran) + s.jobState(waits); got != "RH" {
			t.Errorf("the jobs are %s", got)
		}
		if v, ok := s.view().Vnode("hosta"); !ok || v.Usable() {
			t.Error("a vnode whose host has not enrolled is up")
		}
		s.mustJoinMom("hosta", "mom")
		s.mustJoinMom("hostb", "mom")
		s.mustJoinMom("login", "submit")
		s.until("replicas that vote, moms that are up", time.Minute, s.whole)
		again := s.runs(ran)
		if again.RunCount != 2 {
			t.Errorf("the job that ran has run count %d", again.RunCount)
		}
		s.release(waits)
		s.until("the end of the job that waited", time.Minute, func() bool { return s.jobState(waits) == "gone" })
		next := s.job("sleep 1")
		s.until("the end of a new job", time.Minute, func() bool { return s.jobState(next) == "gone" })
		<-time.After(5 * time.Second)
		mine := s.accounting("s1")
		for _, name := range []string{"s2", "s3"} {
			if theirs := s.accounting(name); !maps.Equal(mine, theirs) {
				t.Errorf("the accounting of %s differs:\n%q\n%q", name, theirs, mine)
			}
		}
		for name, text := range old {
			if !strings.HasPrefix(mine[name], text) {
				t.Errorf("%s of before is not there", name)
			}
		}
		if _, err := os.Stat(filepath.Join(s.home("s1").ServerPriv(), "founding.snapshot")); err == nil {
			t.Error("the file that the cluster began with is still there")
		}
	})
}

// TestFrom_TheFounderDies: whatever it has done by then, the next start makes it whole.
func TestFrom_TheFounderDies(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("minutes of the bubble are long under the race detector: make test plays them without")
	}
	backup := filepath.Join(t.TempDir(), "state")
	onSite(t, func(t *testing.T, s *site) {
		s.ready()
		f := files{}
		env, _ := s.env("s1", "root", f)
		s.job("sleep 5", "Hold_Types=u")
		if err := admin.Save(t.Context(), env, "", "state"); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(backup, f["state"].Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	newSite(t, func(t *testing.T, s *site) {
		d := s.add("s1")
		d.server = server.Default("s1", d.host.IP().String())
		d.server.Home, d.disk = s.home("s1"), store.NewMemory()
		if err := server.InitFrom(t.Context(), d.server, backup, true); err != nil {
			t.Fatal(err)
		}
		var err error
		if d.server, err = server.Load(d.server.Home); err != nil {
			t.Fatal(err)
		}
		index := uint64(0)
		for range 40 { // one entry later each time
			s.start("s1")
			s.until("one entry more", time.Minute, func() bool { return d.machine.View().Index() > index || s.leader() != nil })
			index = d.machine.View().Index()
			s.kill("s1")
		}
		s.start("s1")
		s.until("a leader", time.Minute, func() bool { return s.leader() != nil })
		if got := s.jobState("0.srv"); got != "H" || s.view().Cluster().NextJob != 1+command.EpochSkip || s.view().Cluster().Staging != nil {
			t.Errorf("job 0.srv is %s, %+v", got, s.view().Cluster())
		}
	})
}

// newSite runs a test in a bubble with nothing in it.
func newSite(t *testing.T, test func(t *testing.T, s *site)) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{t: t, net: memnet.New(2), dir: t.TempDir(), daemons: map[string]*daemon{}}
		defer s.end()
		test(t, s)
	})
}

// TestFrom_Refused: nothing is made of a file that cannot be put back.
func TestFrom_Refused(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, bytes.Repeat([]byte("x"), 100), 0o600); err != nil {
		t.Fatal(err)
	}
	c := server.Default("s1", "127.0.0.1")
	c.Home = "unused"
	for from, want := range map[string]string{bad: "corrupt", filepath.Join(dir, "none"): "no such file", dir: "no such file"} {
		if err := server.InitFrom(t.Context(), c, from, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", from, err)
		}
	}
}

// release takes the user's hold from a job.
func (s *site) release(id pbs.JobID) {
	s.t.Helper()
	_, err := s.client("login", "ann").Batch().Release(s.t.Context(), connect.NewRequest(&api.ReleaseRequest{Job: string(id), Holds: "u"}))
	if err != nil {
		s.t.Fatal(err)
	}
}
