package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/cli/admin"
	"rampart/cluster/member"
	"rampart/cmd/rampart/server"
	"rampart/transport/api"
	"rampart/transport/build"
)

// backups returns the folders of a replica's backups, the oldest first.
func (s *site) backups(dir string) []string {
	s.t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "backup-*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// TestBackups_OnSchedule: every replica makes backups that are whole and keeps as many as it
// was told, through a change of leaders, and a new cluster can begin with each of them.
func TestBackups_OnSchedule(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("hours of the bubble are long under the race detector: make test plays them without")
	}
	kept := t.TempDir()
	onSite(t, func(t *testing.T, s *site) {
		s.ready()
		env, out := s.env(s.followers()[0], "root", files{})
		held := s.job("sleep 1", "Hold_Types=u")
		s.until("the end of a job", time.Minute, func() bool { return s.jobState(s.job("sleep 1")) != "" })
		if err := admin.Schedule(t.Context(), env, "", &api.BackupPlan{EverySeconds: 60, Keep: 2}); err != nil {
			t.Fatal(err)
		}
		<-time.After(3 * time.Minute)
		lead := s.leader().name
		s.kill(lead)
		<-time.After(3 * time.Minute)
		s.start(lead)
		<-time.After(2 * time.Minute)
		for _, name := range []string{"s1", "s2", "s3"} {
			all := s.backups(filepath.Join(string(s.home(name)), "backups"))
			if len(all) != 2 {
				t.Fatalf("%s has %q", name, all)
			}
			for _, dir := range all {
				_, records, err := server.VerifyBackup(t.Context(), dir)
				if err != nil || records < 2 {
					t.Errorf("%s: accounting up to %d, %v", dir, records, err)
				}
			}
		}
		if err := admin.ListBackups(t.Context(), env, "", false); err != nil {
			t.Fatal(err)
		}
		if told := out.String(); !strings.Contains(told, "schedule: every 1m0s in PBS_HOME/backups, the last 2 are kept") || strings.Count(told, "backup-20") != 2 {
			t.Errorf("told:\n%s", told)
		}
		from := s.backups(filepath.Join(string(s.home("s2")), "backups"))[1]
		if err := os.CopyFS(filepath.Join(kept, "backup"), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
		if s.jobState(held) != "H" {
			t.Error("the job is not there")
		}
	})
	newSite(t, func(t *testing.T, s *site) {
		foundFrom(t, s, "s1", filepath.Join(kept, "backup"))
		if s.jobState("0.srv") != "H" || s.view().Cluster().Backups == nil {
			t.Errorf("job %s, %v", s.jobState("0.srv"), s.view().Cluster().Backups)
		}
	})
}

// TestBackups_TroubleIsTold until a backup can be made again.
func TestBackups_TroubleIsTold(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("hours of the bubble are long under the race detector: make test plays them without")
	}
	onSite(t, func(t *testing.T, s *site) {
		s.ready()
		env, out := s.env("s1", "root", files{})
		dir := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // nobody makes a folder in a file
			t.Fatal(err)
		}
		if err := admin.Schedule(t.Context(), env, "", &api.BackupPlan{EverySeconds: 60, Keep: 2, Dir: dir}); err != nil {
			t.Fatal(err)
		}
		asker := s.root().Cluster()
		alarmed := func() int {
			reply, err := asker.Status(t.Context(), connect.NewRequest(&api.StatusRequest{}))
			if err != nil {
				return -1
			}
			n := 0
			for _, r := range reply.Msg.GetReplicas() {
				for _, a := range r.GetAlarmDetails() {
					if a.GetKind() == string(member.AlarmBackup) && a.GetServes() && a.GetAdvice() != "" {
						n++
					}
				}
			}
			return n
		}
		s.until("an alarm of each replica", time.Minute, func() bool { return alarmed() == 3 })
		if err := admin.ListBackups(t.Context(), env, "", false); err != nil || !strings.Contains(out.String(), "trouble: the last backup could not be made") {
			t.Errorf("%v, told:\n%s", err, out)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		s.until("backups and no alarm", 10*time.Minute, func() bool { return alarmed() == 0 && len(s.backups(filepath.Join(dir, "s3"))) > 0 })
	})
}
