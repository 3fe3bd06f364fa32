package real

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"rampart/chaos/fault"
	"rampart/cmd/devrun"
	"rampart/fsm/pbs"
)

// strikeWithin bounds the wait for a cluster that is whole again before its leader dies.
const strikeWithin = time.Minute

// Strike makes a fault happen, and tells to whom; not ok if there is nobody that it could
// hit, or no signal that does it. A leader dies only when all replicas are level, so that
// each death is one and not half of the next.
func (w *World) Strike(s fault.Step) (text string, ok bool) {
	switch s.Kind {
	case fault.Restart:
		return s.String(), w.restart()
	case fault.Thaw:
		return s.String(), w.thaw()
	case fault.Crash, fault.Freeze:
	default:
		return s.String(), false
	}
	name, err := w.target(s.Target)
	if err != nil {
		w.failed("%s: %v", s, err)
		return s.String(), false
	}
	if name == "" {
		return s.String(), false
	}
	return s.String() + ": " + name, w.hit(name, s)
}

// target returns the process that a fault hits, "" if none runs.
func (w *World) target(t fault.Target) (string, error) {
	switch t.Role {
	case fault.Mom:
		return w.nth(w.moms, t.N), nil
	case fault.Mother, fault.Sister:
		return w.busiest(t.Role)
	}
	var leader string
	err := await(w.life, strikeWithin, func(ctx context.Context) (err error) {
		if t.Role == fault.Leader {
			err = w.level(ctx)
		}
		if err == nil {
			leader, err = w.cluster.Leader(ctx)
		}
		return err
	})
	if err != nil || t.Role == fault.Leader {
		return leader, err
	}
	var others []string
	for _, r := range w.replicas {
		if r.name != leader {
			others = append(others, r.name)
		}
	}
	return w.nth(others, t.N), nil
}

// busiest returns the mom that runs and has most to do with jobs over several hosts, in that role.
func (w *World) busiest(role fault.Role) (name string, err error) {
	n := map[string]int{}
	err = await(w.life, strikeWithin, func(ctx context.Context) error {
		v, err := w.saved(ctx, 0)
		if err != nil {
			return err
		}
		clear(n)
		for j := range v.Running() {
			hosts := j.LastRun().LiveSisters()
			if role == fault.Mother && len(hosts) > 0 {
				hosts = []pbs.HostName{j.LastRun().MS}
			}
			for _, h := range hosts {
				n[string(h)]++
			}
		}
		name = ""
		for _, m := range w.moms { // in their order
			if w.nth([]string{m}, 0) != "" && n[m] > n[name] {
				name = m
			}
		}
		if name == "" {
			return errors.New("no job runs on several hosts")
		}
		return nil
	})
	return name, err
}

// nth returns one of those that run.
func (w *World) nth(names []string, n int) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return w.pids[name] == 0 || slices.Contains(w.frozen, name)
	})
	if len(names) == 0 {
		return ""
	}
	return names[n%len(names)]
}

func (w *World) hit(name string, s fault.Step) bool {
	sig := syscall.SIGKILL
	if s.Kind == fault.Freeze {
		sig = syscall.SIGSTOP
	}
	at := time.Now()
	if err := w.cluster.Signal(name, sig); err != nil {
		w.failed("%s: %v", s, err)
		return false
	}
	if s.Kind == fault.Freeze {
		w.frozen = append(w.frozen, name)
		return true
	}
	delete(w.pids, name)
	if s.Target.Role == fault.Leader {
		w.kills = append(w.kills, Kill{At: at, Replica: name})
	}
	return true
}

// restart starts what is down; not ok if nothing was.
func (w *World) restart() bool {
	var down []string
	for _, name := range w.names() {
		if w.pids[name] == 0 {
			down = append(down, name)
		}
	}
	if len(down) == 0 {
		return false
	}
	w.outlast(down)
	return w.start(down...)
}

func (w *World) start(names ...string) bool {
	if err := w.cluster.Restart(w.life, names...); err != nil {
		w.failed("start %v again: %v", names, err)
		return false
	}
	for i, r := range w.replicas {
		if slices.Contains(names, r.name) {
			w.replicas[i].starts++
		}
	}
	if err := w.notePids(names...); err != nil {
		w.failed("start %v again: %v", names, err)
	}
	return true
}

func (w *World) thaw() bool {
	any := len(w.frozen) > 0
	w.outlast(w.frozen)
	for _, name := range w.frozen {
		w.wake(name)
	}
	w.frozen = nil
	return any
}

// outlast waits, in a world with a short fence, until that of each mom has fallen and a job
// of it runs elsewhere.
func (w *World) outlast(names []string) {
	for _, name := range names {
		if w.config.Fence == 0 || !slices.Contains(w.moms, name) {
			continue
		}
		if err := await(w.life, 6*w.config.Fence, func(context.Context) error { return w.moved(name) }); err != nil {
			w.failed("wait for the fence of %s: %v", name, err)
		}
	}
}

// moved wants a job that ran on a host and was started on another one after.
func (w *World) moved(host string) error {
	runs, err := w.book.read(w.begun)
	if err != nil {
		return err
	}
	was := make(map[string]uint32)
	for _, r := range runs {
		if r.Host == host {
			was[r.Job] = max(was[r.Job], r.Count)
		}
	}
	for _, r := range runs {
		if before, ok := was[r.Job]; ok && r.Host != host && r.Count > before {
			return nil
		}
	}
	return fmt.Errorf("no job of %s was started elsewhere", host)
}

func (w *World) wake(name string) {
	if err := w.cluster.Signal(name, syscall.SIGCONT); err != nil {
		w.failed("wake: %v", err)
	}
}

// startAgain is the status with which a replica ends that wants to be started again: a
// write of its log was not done within a second.
const startAgain = "exit status 74"

// supervise starts again what ended by itself and may.
func (w *World) supervise() {
	for _, r := range w.replicas {
		_, err := w.cluster.Pid(r.name)
		how := w.cluster.Ended(r.name)
		if w.pids[r.name] == 0 || err == nil || len(how) == 0 || how[len(how)-1] != startAgain {
			continue
		}
		w.sick++
		w.start(r.name)
	}
}

// far is how many entries a replica may lack that is level with the others.
const far = 50

// level tells why not all replicas are there with nearly the same state, and looks at
// what they have.
func (w *World) level(ctx context.Context) error {
	w.supervise()
	all, err := w.cluster.Status(ctx)
	if err != nil {
		return err
	}
	var most uint64
	leaders, up := 0, 0
	for _, r := range all {
		switch r.Role {
		case "leader":
			leaders, up = leaders+1, up+1
		case "follower":
			up++
		}
		most = max(most, r.Applied)
	}
	behind := func(r devrun.Replica) bool { return r.Applied+far < most }
	if leaders != 1 || up != len(w.replicas) || slices.ContainsFunc(all, behind) {
		return fmt.Errorf("the replicas are not level: %+v", all)
	}
	w.notice(all)
	return nil
}

// await asks until check has nothing to say; else the error is its last word.
func await(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for began := time.Now(); ; {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil || last == nil { // else it is only that the time is over
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", limit, last)
		case <-time.After(devrun.Pause(time.Since(began))):
		}
	}
}

// failed notes what must not happen.
func (w *World) failed(format string, args ...any) {
	w.fatal = append(w.fatal, fmt.Sprintf("after %.3fs ", time.Since(w.begun).Seconds())+fmt.Sprintf(format, args...))
}
