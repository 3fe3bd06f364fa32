package task

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/spool"
	"rampart/transport/pause"
)

// neighbours are the moms of a run's other hosts.
type neighbours struct {
	Peers // what is not asked for here

	mu    sync.Mutex
	heard map[pbs.HostName][]string
	away  map[pbs.HostName]bool
}

func (n *neighbours) Join(context.Context, Host, Task) error { return nil }

func (n *neighbours) End(context.Context, Host, spool.TaskKey, bool, KeptPart) (Share, error) {
	return Share{}, nil
}

func (n *neighbours) Prologue(context.Context, Host, spool.TaskKey) error { return nil }

func (n *neighbours) Leave(context.Context, Host, spool.TaskKey, bool) (Share, bool, error) {
	return Share{}, true, nil
}

func (n *neighbours) Update(context.Context, Host, Task) error { return nil }

func (n *neighbours) Poll(context.Context, Host, spool.TaskKey) (Share, error) { return Share{}, nil }

func (n *neighbours) Signal(_ context.Context, to Host, _ spool.TaskKey, signal string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away[to.Name] {
		return errors.New("nobody answers")
	}
	n.heard[to.Name] = append(n.heard[to.Name], signal)
	return nil
}

func (n *neighbours) leave(host pbs.HostName, away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away[host] = away
}

func (n *neighbours) signals(host pbs.HostName) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.heard[host])
}

// notes are the lines of a mom's log.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) Job(_ uint16, _ pbs.JobID, text string)  { n.add(text) }
func (n *notes) File(_ uint16, _ pbs.JobID, text string) { n.add(text) }
func (n *notes) Server(_ uint16, object, text string)    { n.add(object + ", " + text) }
func (n *notes) Node(_ uint16, _ pbs.JobID, text string) { n.add(text) }

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

// Signals reach each sister in the order in which they were sent, even if one does not answer to
// the first: else a job that was resumed would stay suspended there. No sister waits for another,
// and the last signal for none before it.
func TestRunner_PassesSignalsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &neighbours{heard: map[pbs.HostName][]string{}, away: map[pbs.HostName]bool{"hostb": true}}
		s, _, _ := stageSite(t)
		s.Peers = all
		r := NewRunner(s, in(Running, asked))
		ctx, cancel := context.WithCancel(t.Context())
		r.send(ctx, Action{Do: Send, Signal: syscall.SIGSTOP})
		time.Sleep(100 * time.Millisecond)
		all.leave("hostb", false)
		r.send(ctx, Action{Do: Send, Signal: syscall.SIGCONT})
		synctest.Wait()
		if got := all.signals("hostc"); !slices.Equal(got, []string{"19", "18"}) {
			t.Errorf("the sister that answers got %v at once", got)
		}
		time.Sleep(5 * time.Second)
		if got := all.signals("hostb"); !slices.Equal(got, []string{"19", "18"}) {
			t.Errorf("the sister that was away got %v", got)
		}
		all.leave("hostb", true)
		r.send(ctx, Action{Do: Send, Signal: syscall.SIGSTOP})
		time.Sleep(100 * time.Millisecond)
		all.leave("hostb", false)
		r.send(ctx, Action{Do: Send, Signal: syscall.SIGKILL})
		synctest.Wait()
		if got := all.signals("hostb"); !slices.Equal(got, []string{"19", "18", "9"}) {
			t.Errorf("the end waits for what came before it: %v", got)
		}
		cancel()
		r.wg.Wait()
	})
}

// A sister that has not answered for $max_poll_downtime ends the run, in the words of the
// specification (reliable-startup section 11). The silence begins when it is heard, so that a mom
// that was stopped does not take its own for that of its sisters.
func TestRunner_CountsSilence(t *testing.T) {
	for _, c := range []struct {
		set, longest time.Duration
		line         string
	}{
		{0, 300 * time.Second, "im_eof, lost communication with hostc for > 300 secs, killing job now"},
		{10 * time.Second, 10 * time.Second, "im_eof, lost communication with hostc for > 10 secs, killing job now"},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := new(notes)
			s := &Site{Lines: log, Logger: slog.New(slog.DiscardHandler), Settings: func() Settings { return Settings{PollDowntime: c.set} }}
			r := NewRunner(s, in(Running, asked))
			silent := Polled{Shares: map[pbs.HostName]Share{"hostb": {}}, Silent: []pbs.HostName{"hostc"}}
			r.quiet.listened(r.task, Polled{Shares: map[pbs.HostName]Share{"hostb": {}, "hostc": {}}})
			time.Sleep(time.Hour) // it was stopped
			for _, wait := range []time.Duration{0, c.longest} {
				time.Sleep(wait)
				if p := r.quiet.listened(r.task, silent); p.Lost != "" {
					t.Errorf("lost after %s", wait)
				}
			}
			r.quiet.listened(r.task, Polled{Shares: map[pbs.HostName]Share{"hostc": {}}})
			r.quiet.listened(r.task, silent)
			time.Sleep(c.longest + time.Second)
			if p := r.quiet.listened(r.task, silent); p.Lost != "hostc" {
				t.Errorf("not lost after %s", c.longest)
			}
			if want := []string{c.line, "node EOF 2 (hostc)"}; !slices.Equal(log.all(), want) {
				t.Errorf("the log has %q, want %q", log.all(), want)
			}
		})
	}
}

// enders are sisters of which some cannot be reached at the end, and others have hooks that take long.
type enders struct {
	neighbours
	takes map[pbs.HostName]time.Duration
}

func (e *enders) End(ctx context.Context, h Host, _ spool.TaskKey, _ bool, _ KeptPart) (Share, error) {
	if e.takes[h.Name] == 0 {
		return Share{}, errors.New("connection refused")
	}
	if !pause.For(ctx, e.takes[h.Name]) {
		return Share{}, ctx.Err()
	}
	return Share{Peak: Peak{CPU: time.Second}}, nil
}

// patient are hooks at the end whose alarms add up to a time.
type patient struct {
	Hooks
	alarms time.Duration
}

func (p patient) Patience(...string) time.Duration { return p.alarms }

// The end waits for hooks of sisters that can be reached, and not as long for one that cannot; then the
// log tells of it as PBS does.
func TestGather_WaitsForHooksWhereTheyMayRun(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes map[pbs.HostName]time.Duration
		took  time.Duration
		lines []string
	}{
		{"one is down", map[pbs.HostName]time.Duration{"hostc": time.Second}, endFor, []string{"Unable to send delete job request to one or more sisters"}},
		{"both are down", nil, endFor, []string{"Unable to send delete job request to one or more sisters"}},
		{"one has hooks", map[pbs.HostName]time.Duration{"hostb": time.Second, "hostc": 40 * time.Second}, 40 * time.Second, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := new(notes)
				s := &Site{Lines: log, Logger: slog.New(slog.DiscardHandler), Hooks: patient{alarms: time.Minute}, Peers: &enders{takes: c.takes}}
				begun := time.Now()
				ev, ok := s.gather(t.Context(), in(Gathering, asked)).(Gathered)
				if took := time.Since(begun); !ok || took > c.took || took < c.took-joinAgain || len(ev.Shares) != len(c.takes) {
					t.Errorf("after %s: %+v, want it after %s with the shares of %d sisters", took, ev, c.took, len(c.takes))
				}
				if got := log.all(); !slices.Equal(got, c.lines) {
					t.Errorf("the log says %q, want %q", got, c.lines)
				}
			})
		})
	}
}
