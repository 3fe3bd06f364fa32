package world

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/hashicorp/raft"

	"rampart/cluster/store"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A Met tells of a command of the log for which Meet waited. The leader waits until Done, or its death.
type Met struct {
	Hosts []string // of the job that it is about, its mother superior first, or the host that it is about; none: it is about neither
	Done  func()
}

// meeting waits for a command of a kind.
type meeting struct {
	kind     string
	of       string // the host that reports it; empty: whoever, and of a job's end its mother superior
	proposed bool
	after    uint64 // index: what was there before is only replayed
	met      chan Met
}

// Meet tells of the next command of a kind: when the leader of a plain world has applied it, and nobody has heard that it is committed,
// or, of one that is proposed, when the leader alone has it in its log. With a host, of the next one that this host reports. Without,
// JobEnded is the end of a run: the sisters' reports that their parts of it are over have the same name, and mostly come before.
func (w *World) Meet(kind, of string, proposed bool) (<-chan Met, error) {
	if !slices.Contains(command.Names(), kind) {
		return nil, fmt.Errorf("%q is no command of the log", kind)
	}
	if of != "" {
		if _, err := w.momNamed(of); err != nil {
			return nil, err
		}
	}
	m := &meeting{kind: kind, of: of, proposed: proposed, met: make(chan Met, 1)}
	for _, r := range w.servers {
		if r.machine != nil {
			m.after = max(m.after, r.machine.View().Index())
		}
	}
	w.order.Lock()
	defer w.order.Unlock()
	w.meetings = append(w.meetings, m)
	return m.met, nil
}

// take returns the meetings that an entry's command is for, which wait no more; before is the state before the entry.
func (w *World) take(index uint64, c command.Command, proposed bool, before *state.View) (due []*meeting) {
	w.order.Lock()
	defer w.order.Unlock()
	w.meetings = slices.DeleteFunc(w.meetings, func(m *meeting) bool {
		switch {
		case m.kind != command.NameOf(c) || m.proposed != proposed || index <= m.after:
			return false
		case m.of == "" && isPart(before, c), m.of != "" && m.of != reporter(c):
			return false
		}
		due = append(due, m)
		return true
	})
	return due
}

// meets has a replica that leads stand still at a command, as long as whoever waited for it wants it to. Of a job that it has
// ended, the state before knows.
func (r *replica) meets(ctx context.Context, index uint64, c command.Command, proposed bool, before *state.View) {
	if r.w.leader() != r {
		return
	}
	for _, m := range r.w.take(index, c, proposed, before) {
		done := make(chan struct{})
		hosts := hostsOf(r.machine.View(), c)
		if hosts == nil {
			hosts = hostsOf(before, c)
		}
		m.met <- Met{hosts, func() { close(done) }}
		select {
		case <-done:
		case <-ctx.Done():
		}
	}
}

// isPart reports whether a command tells of the end of something else than a run: of a sister's part of it, or of an earlier run's.
func isPart(before *state.View, c command.Command) bool {
	end, ok := c.(*command.JobEnded)
	if !ok {
		return false
	}
	j, ok := before.Job(end.Job)
	return !ok || !j.Live() || !j.Is(end.RunCount) || j.Run.MS != end.Source.Host
}

// reporter returns the host that a command is a report of; empty: it is none.
func reporter(c command.Command) string {
	about := reflect.ValueOf(c).Elem()
	if source := about.FieldByName("Source"); source.IsValid() && source.Type() == reflect.TypeFor[command.Source]() {
		about = source
	}
	if host := about.FieldByName("Host"); host.IsValid() && host.Type() == reflect.TypeFor[pbs.HostName]() {
		return host.String()
	}
	return ""
}

// hostsOf returns those of Met.
func hostsOf(v *state.View, c command.Command) (hosts []string) {
	about := reflect.ValueOf(c).Elem()
	if job := about.FieldByName("Job"); job.IsValid() && job.Type() == reflect.TypeFor[pbs.JobID]() {
		if j, ok := v.Job(pbs.JobID(job.String())); ok && j.LastRun().MS != "" {
			for _, h := range append([]pbs.HostName{j.LastRun().MS}, j.LastRun().Sisters...) {
				hosts = append(hosts, string(h))
			}
		}
		return hosts
	}
	if host := reporter(c); host != "" {
		hosts = append(hosts, host)
	}
	return hosts
}

// met is the disk of a replica of a plain world, with an eye on what comes into its log.
type met struct {
	store.Backend
	r   *replica
	ctx context.Context
}

// Log implements store.Backend.
func (m met) Log() raft.LogStore { return metLog{m.Backend.Log(), m} }

type metLog struct {
	raft.LogStore
	met
}

// StoreLog implements raft.LogStore.
func (l metLog) StoreLog(e *raft.Log) error { return l.StoreLogs([]*raft.Log{e}) }

// StoreLogs implements raft.LogStore. Raft sends others what it has on its own disk.
func (l metLog) StoreLogs(logs []*raft.Log) error {
	if err := l.LogStore.StoreLogs(logs); err != nil || !l.r.w.expects() {
		return err
	}
	for _, e := range logs {
		if e.Type != raft.LogCommand {
			continue
		}
		entry, err := command.Decode(e.Data)
		if err != nil {
			continue // the state machine will say so
		}
		for _, p := range entry.Proposals {
			for _, c := range p.Commands {
				l.r.meets(l.ctx, e.Index, c, true, l.r.machine.View())
			}
		}
	}
	return nil
}

// expects reports whether somebody waits for a command that is proposed.
func (w *World) expects() bool {
	w.order.Lock()
	defer w.order.Unlock()
	return slices.ContainsFunc(w.meetings, func(m *meeting) bool { return m.proposed })
}
