package dropin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/transport/own"
)

// PBS's words about a scheduler whose folders cannot be used.
const (
	badPriv = "PBS failed validation checks for sched_priv directory"
	badLogs = "PBS failed validation checks for sched_log directory"
)

// further reports whether the process stands for a scheduler beside the default one.
func (c *call) further() bool { return c.has("I") && c.options["I"] != state.DefaultScheduler }

// furtherOne makes it the process of a scheduler beside the default one, which has folders of its own, made if they are missing:
// those that the server tells, else those below the home of -d.
func (s *scheduler) furtherOne(ctx context.Context) (logs string, err error) {
	c := s.call
	s.name = c.options["I"]
	if s.name == "" || !pbs.QueueName(s.name).Valid() {
		return "", fmt.Errorf("%w: -I %q: no name of a scheduler", ErrUsage, s.name)
	}
	s.priv, logs = c.home.SchedPriv()+"_"+s.name, c.home.SchedLogs()+"_"+s.name
	now, err := s.server.attributes(ctx)
	switch {
	case pbs.CodeOf(err) == pbs.UnknownScheduler:
		return "", fmt.Errorf("%s %s: qmgr -c 'create sched %s' makes it", pbs.UnknownScheduler.Text(), s.name, s.name)
	case err == nil:
		s.priv, logs = now["sched_priv"], now["sched_log"]
	}
	for _, folder := range []string{s.priv, logs} {
		if err := own.Folder(folder, 0o755); err != nil {
			return "", fmt.Errorf("the folders of scheduler %s: %w", s.name, err)
		}
	}
	return logs, nil
}

// rise has the scheduler plan from now on.
func (s *scheduler) rise(ctx context.Context) {
	if s.name != state.DefaultScheduler {
		_ = s.server.set(ctx, "state", "idle") // look tries again
	}
}

// end has it plan no more.
func (s *scheduler) end() {
	if s.name != state.DefaultScheduler {
		_ = s.server.set(context.Background(), "state", "down") // else the replica of this host sees that the process is gone
	}
}

// furtherNow has a scheduler that is shown as down, although this process runs, plan again, and follows its folders. It plans no more
// where they cannot be used: what is wrong is its comment then.
func (s *scheduler) furtherNow(ctx context.Context, now map[string]string) {
	if s.name == state.DefaultScheduler {
		return
	}
	if now["state"] == "down" {
		s.rise(ctx)
	}
	said := ""
	if logs := now["sched_log"]; usable(logs) != nil {
		said = badLogs
	} else if logs != s.log.folder {
		_ = s.log.Close()
		s.log = newJournal(logs, "pbs_sched", "Sched", s.log.mask)
	}
	if priv := now["sched_priv"]; priv != s.priv {
		if err := s.move(ctx, priv); err != nil {
			said = badPriv
		}
	}
	switch {
	case said != "" && (said != now["comment"] || now["scheduling"] != "False"):
		s.log.say(pbs.LogError, "pbs_sched", said)
		_ = s.server.set(ctx, "comment", said)
		_ = s.server.set(ctx, "scheduling", "False")
	case said == "" && (now["comment"] == badPriv || now["comment"] == badLogs):
		_ = s.server.set(ctx, "comment", "")
	}
}

// move goes on with the files of another folder.
func (s *scheduler) move(ctx context.Context, priv string) error {
	if err := usable(priv); err != nil {
		return err
	}
	var lock *os.File
	if priv != s.first { // a second descriptor of this process could not lock that one
		var err error
		if lock, err = s.call.lock(filepath.Join(priv, filepath.Base(s.call.home.SchedLock()))); err != nil {
			return err
		}
	}
	if s.lock != nil {
		_ = s.lock.Close()
	}
	s.priv, s.lock = priv, lock
	s.reconfigure(ctx)
	return nil
}

// usable refuses a folder that is none, or that others may write to.
func usable(folder string) error {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", folder)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("%s can be written to by everybody", folder)
	}
	return unix.Access(folder, unix.W_OK)
}
