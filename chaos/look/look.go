// Package look turns what replicas hold into evidence: a view of the state and the files of
// a ledger, wherever they were read. It judges nothing, and knows no world, so that the
// bubble and real processes are seen by the same eyes. It starts nothing; a Watcher is
// safe for any number of goroutines.
package look

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// farOff is how long before its start a reservation does nothing for sure.
const farOff = pbs.Time(10 * time.Minute)

// Busy tells what still goes on: jobs that have not ended, reservations that are not far off and orders that are open;
// empty if nothing does.
func Busy(v *state.View) string {
	var busy []string
	for j := range v.Jobs() {
		if j.State != pbs.Finished {
			busy = append(busy, fmt.Sprintf("%s is in state %s, substate %d, run %d on %q: %s", j.ID, j.State, j.Substate, j.RunCount, j.LastRun().MS, j.CommentText()))
		}
	}
	for r := range v.Reservations() {
		next := r.Start // when it becomes something else
		if r.State == pbs.ResvRunning {
			next = r.End
		}
		if r.State != pbs.ResvConfirmed && r.State != pbs.ResvRunning || next-v.Cluster().Time < farOff {
			busy = append(busy, fmt.Sprintf("reservation %s is in state %s, from %d to %d", r.ID, r.State.Short(), r.Start.Unix(), r.End.Unix()))
		}
	}
	for h := range v.Hosts() {
		for o := range v.Orders(h.Name) {
			busy = append(busy, fmt.Sprintf("order %d for %s about run %d of %s is open", o.ID, o.Host, o.RunCount, o.Job))
		}
	}
	return strings.Join(busy, "; ")
}

// Days returns the accounting files of a folder, the oldest first.
func Days(accounting string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(accounting, "[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]"))
	slices.Sort(all)
	return all, err
}

// Ledger reads the accounting files of a folder, by day.
func Ledger(accounting string) (map[string][]byte, error) {
	days, err := Days(accounting)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]byte)
	for _, path := range days {
		if all[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
	}
	return all, nil
}

// Unwritten tells what a ledger lacks of the records that the state has numbered; empty
// if nothing.
func Unwritten(ledger map[string][]byte, v *state.View) string {
	lines := 0
	for _, text := range ledger {
		lines += bytes.Count(text, []byte("\n"))
	}
	if want := v.Cluster().LastRecord; uint64(lines) < want {
		return fmt.Sprintf("the ledger has %d of %d records", lines, want)
	}
	return ""
}

// Replica returns the evidence of a replica at the end of a run; its Sum is the sum of v, which is
// written to a snapshot and read again for the other one (L7).
func Replica(name string, v *state.View, ledger map[string][]byte) (check.Replica, error) {
	r := check.Replica{
		Name: name, Index: v.Index(), Sum: uint64(v.Digest()), Records: v.Cluster().LastRecord, Ledger: ledger, Level: v.Cluster().FeatureLevel,
	}
	for j := range v.Jobs() {
		r.Jobs = append(r.Jobs, check.Job{ID: string(j.ID), Name: j.Name, State: j.State.Letter(), Run: uint32(j.RunCount)})
	}
	for h := range v.Reservations() {
		r.Holds = append(r.Holds, check.Reservation{ID: string(h.ID), Name: h.Name(), State: h.State.Short(), Period: check.Period{Start: h.Start.Unix(), End: h.End.Unix()}, Nodes: h.Nodes().String(), Taken: len(h.Taken()) > 0})
	}
	var file bytes.Buffer
	if err := snapshot.Write(&file, v); err != nil {
		return r, fmt.Errorf("write a snapshot of %s: %w", name, err)
	}
	s, _, err := snapshot.Read(&file)
	if err != nil {
		return r, fmt.Errorf("read a snapshot of %s: %w", name, err)
	}
	r.Reread = uint64(s.View().Digest())
	return r, nil
}

// A Watcher writes down what the states of replicas become.
type Watcher struct {
	mu    sync.Mutex
	views []check.Digest
	moves []check.Move
	seen  map[key]last // of each start of a replica
}

type key struct {
	replica string
	start   int
}

type last struct {
	index uint64
	jobs  map[pbs.JobID]check.Move
}

// Note writes down a view of a replica in its nth start, unless a later one was noted.
func (w *Watcher) Note(replica string, start int, v *state.View) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := key{replica, start}
	before := w.seen[k]
	if v.Index() <= before.index {
		return
	}
	w.views = append(w.views, check.Digest{Replica: replica, Index: v.Index(), Sum: uint64(v.Digest())})
	if before.jobs == nil {
		before.jobs = make(map[pbs.JobID]check.Move)
	}
	for j := range v.Jobs() {
		if j.Modified <= before.index && before.index > 0 {
			continue
		}
		m := check.Move{
			Replica: replica, Start: start, Index: v.Index(), Job: string(j.ID), State: j.State.Letter(), Run: uint32(j.RunCount),
		}
		if old := before.jobs[j.ID]; old.State != m.State || old.Run != m.Run {
			before.jobs[j.ID] = m
			w.moves = append(w.moves, m)
		}
	}
	if w.seen == nil {
		w.seen = make(map[key]last)
	}
	w.seen[k] = last{v.Index(), before.jobs}
}

// Digest writes down what a replica said that its state sums up to.
func (w *Watcher) Digest(d check.Digest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views = append(w.views, d)
}

// Forget drops what a replica came to above an index: it was no part of the past that went on.
func (w *Watcher) Forget(replica string, above uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views = slices.DeleteFunc(w.views, func(d check.Digest) bool { return d.Replica == replica && d.Index > above })
	w.moves = slices.DeleteFunc(w.moves, func(m check.Move) bool { return m.Replica == replica && m.Index > above })
}

// Seen returns all that was written down.
func (w *Watcher) Seen() ([]check.Digest, []check.Move) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.views), slices.Clone(w.moves)
}
