package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/transport/pause"
)

// A troop are sisters that answer as they are told: "" at once, "refuse", "away" without an
// answer, "late", after a minute and a half, "soon", with a refusal after half a second,
// or "unsure", that it cannot say.
type troop struct {
	neighbours
	join, prologue map[pbs.HostName]string
}

func (p *troop) act(ctx context.Context, how string) error {
	switch how {
	case "refuse":
		return pbs.Errorf(pbs.BadState, "bad node")
	case "unsure":
		return pbs.Refuse(pbs.NoQuorum)
	case "gone":
		return errors.New("connection refused")
	case "away":
		<-ctx.Done()
		return ctx.Err()
	case "soon":
		if !pause.For(ctx, time.Second/2) {
			return ctx.Err()
		}
		return pbs.Errorf(pbs.BadState, "bad node")
	case "late":
		if !pause.For(ctx, 90*time.Second) {
			return ctx.Err()
		}
	}
	return nil
}

func (p *troop) Join(ctx context.Context, h Host, _ Task) error { return p.act(ctx, p.join[h.Name]) }

func (p *troop) Prologue(ctx context.Context, h Host, _ spool.TaskKey) error {
	return p.act(ctx, p.prologue[h.Name])
}

// witness are hooks that note which hosts are bad when they run.
type witness struct {
	Hooks
	mu        sync.Mutex
	begun     time.Time
	seen      []string
	prologues time.Duration
}

func (w *witness) note(event string, t Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	line := fmt.Sprintf("%s %s", event, time.Since(w.begun).Round(time.Second))
	for _, h := range t.Hosts {
		if !t.Good(h.Name) {
			line += " " + string(h.Name)
		}
	}
	w.seen = append(w.seen, line)
}

func (w *witness) Begin(context.Context, Task) ([]spool.Used, error) { return nil, nil }

func (w *witness) Prologue(_ context.Context, t Task) ([]spool.Used, error) {
	w.note("prologue", t)
	return nil, nil
}

func (w *witness) Launch(_ context.Context, t Task, _ *proc.Spec) ([]spool.Used, error) {
	w.note("launch", t)
	return nil, nil
}

func (w *witness) Ending(context.Context, Task) []spool.Used { return nil }
func (w *witness) Terminates() bool                          { return false }

func (w *witness) Patience(events ...string) time.Duration {
	if slices.Contains(events, "execjob_prologue") {
		return w.prologues
	}
	return 0
}

func tolerant(t *Task) {
	spread(t)
	t.Attrs = append(t.Attrs, Attr{Name: "tolerate_node_failures", Value: "job_start"},
		Attr{Name: "exec_vnode", Value: "(hosta:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)"},
		Attr{Name: "exec_host", Value: "hosta/0+hostb/0+hostc/0"}, Attr{Name: "schedselect", Value: "3:ncpus=1"})
}

// Sections 5 and 6: how long a tolerant start waits, what the log says, and who is bad when.
func TestRunner_TolerantStart(t *testing.T) {
	const (
		alarm    = "sister_join_job_alarm wait time 30 secs exceeded"
		delay    = "job reliable startup job_launch_delay=40 secs"
		proceeds = "not all prologue hooks to sister moms completed, but job will proceed to execute"
	)
	failed := func(host, step string, code int) []string {
		return []string{
			fmt.Sprintf("job_start_error %d from node %s could not %s successfully", code, host, step),
			fmt.Sprintf("ignoring error from %s as job is tolerant of node failures", host),
		}
	}
	for _, c := range []struct {
		name           string
		join, prologue map[pbs.HostName]string
		settings       Settings
		prologues      time.Duration
		verdict        pbs.HostName
		seen           []string
		lines          []string
	}{
		{name: "all are well", prologues: 40 * time.Second, seen: []string{"prologue 0s", "launch 0s"}, lines: []string{delay}},
		{
			name: "one refuses to join, there are no prologues", join: map[pbs.HostName]string{"hostb": "refuse"},
			seen:  []string{"prologue 30s hostb", "launch 30s hostb"},
			lines: append(failed("hostb", "JOIN_JOB", 15016), alarm),
		},
		{
			name: "one does not join, another's prologue fails", join: map[pbs.HostName]string{"hostb": "away"},
			prologue: map[pbs.HostName]string{"hostc": "refuse"}, prologues: 40 * time.Second,
			seen:  []string{"prologue 30s hostb", "launch 1m10s hostb hostc"},
			lines: append(append([]string{alarm, delay}, failed("hostc", "IM_EXEC_PROLOGUE", 15016)...), proceeds),
		},
		{
			name: "the site's own waits", join: map[pbs.HostName]string{"hostb": "gone"}, prologues: 40 * time.Second,
			settings: Settings{JoinAlarm: 45 * time.Second, LaunchDelay: 10 * time.Second},
			seen:     []string{"prologue 45s hostb", "launch 55s hostb"},
			lines: append(failed("hostb", "JOIN_JOB", 15010), "sister_join_job_alarm wait time 45 secs exceeded",
				"job reliable startup job_launch_delay=10 secs", proceeds),
		},
		{
			name: "early", join: map[pbs.HostName]string{"hostb": "refuse"}, prologue: map[pbs.HostName]string{"hostc": "refuse"},
			prologues: 40 * time.Second, settings: Settings{LaunchEarly: true},
			seen:  []string{"prologue 0s hostb", "launch 0s hostb hostc"},
			lines: append(append(failed("hostb", "JOIN_JOB", 15016), delay), failed("hostc", "IM_EXEC_PROLOGUE", 15016)...),
		},
		{
			name: "early by the servers' verdict", join: map[pbs.HostName]string{"hostb": "away"}, verdict: "hostb", settings: Settings{LaunchEarly: true},
			seen: []string{"prologue 5s hostb", "launch 5s hostb"},
		},
		{
			name: "a late one is good again", join: map[pbs.HostName]string{"hostb": "late"}, prologues: 100 * time.Second,
			seen:  []string{"prologue 30s hostb", "launch 1m30s"},
			lines: []string{alarm, "job reliable startup job_launch_delay=100 secs"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := new(notes)
				s, _, _ := stageSite(t)
				w := &witness{begun: time.Now(), prologues: c.prologues}
				s.Lines, s.Hooks, s.Settings = log, w, func() Settings { return c.settings }
				s.Peers = &troop{join: c.join, prologue: c.prologue}
				r := NewRunner(s, in(Accepted, tolerant))
				ctx, cancel := context.WithCancel(t.Context())
				go r.Run(ctx, Fetched{})
				if c.verdict != "" {
					time.Sleep(5 * time.Second)
					if err := r.Tell(ctx, Alter{Attrs: Attrs{{Name: sisterDown, Value: string(c.verdict)}}}); err != nil {
						t.Error(err)
					}
				}
				if now, err := r.Await(ctx, func(t Task) bool { return t.Life.StartedAt != 0 || t.Over() }); err != nil || now.Life.StartedAt == 0 {
					t.Errorf("the start ended %s, %+v, %v", now.State(), now.Result, err)
				}
				cancel()
				<-r.Done()
				if !slices.Equal(w.seen, c.seen) {
					t.Errorf("hooks saw %q, want %q", w.seen, c.seen)
				}
				lines := slices.DeleteFunc(log.all(), func(l string) bool { // what comes with the program, and after it
					return strings.HasPrefix(l, "Started, pid") || strings.HasPrefix(l, "task ") || strings.HasPrefix(l, "Staged ") ||
						slices.Contains([]string{"Terminated", "kill_job", "no active tasks", "copy file request received", "Obit sent"}, l)
				})
				// What comes at one moment of the bubble has no order.
				if slices.Sort(lines); !slices.Equal(lines, slices.Sorted(slices.Values(c.lines))) {
					t.Errorf("the log has %q, want %q", lines, c.lines)
				}
				if s.System.(*proc.Fake).Starts(string(testKey.Job)) != 1 {
					t.Error("the program was not started")
				}
			})
		})
	}
}

// A job that is not tolerant ends its start with the first failure.
func TestRunner_IntolerantStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(notes)
		s, _, _ := stageSite(t)
		s.Lines, s.Peers = log, &troop{join: map[pbs.HostName]string{"hostb": "refuse"}}
		r := NewRunner(s, in(Accepted, spread))
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx, Fetched{})
		last, err := r.Await(ctx, func(t Task) bool { return t.State() == Ended })
		if err != nil || !last.Result.NeverStarted {
			t.Errorf("%+v, %v", last.Result, err)
		}
		if len(log.all()) == 0 || log.all()[0] != "job_start_error 15016 from node hostb could not JOIN_JOB successfully" || strings.Contains(strings.Join(log.all(), "\n"), "ignoring") {
			t.Errorf("the log has %q", log.all())
		}
		cancel()
		<-r.Done()
	})
}

// A kill during the waits ends the start at once.
func TestRunner_TolerantStartKilled(t *testing.T) {
	for _, after := range []time.Duration{5 * time.Second, 35 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s, _, _ := stageSite(t)
			s.Lines, s.Hooks = new(notes), &witness{begun: time.Now(), prologues: 40 * time.Second}
			s.Peers = &troop{join: map[pbs.HostName]string{"hostb": "away"}}
			r := NewRunner(s, in(Accepted, tolerant))
			ctx, cancel := context.WithCancel(t.Context())
			go r.Run(ctx, Fetched{})
			time.Sleep(after)
			if err := r.Tell(ctx, Kill{}); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			if last, err := r.Await(ctx, func(t Task) bool { return t.State() == Ended }); err != nil || !last.Result.NeverStarted {
				t.Errorf("%+v, %v", last.Result, err)
			}
			if d := time.Since(begun); d > time.Second {
				t.Errorf("the end took %s", d)
			}
			cancel()
			<-r.Done()
		})
	}
}

// Section 11: a job that tolerates failures all its life goes on, and counts what a lost sister
// has used.
func TestRunner_Endures(t *testing.T) {
	log := new(notes)
	s := &Site{Lines: log, Settings: func() Settings { return Settings{} }}
	r := NewRunner(s, in(Running, asked, with("tolerate_node_failures", "all")))
	r.quiet.since = nil
	r.task, _, _ = step(r.task, Polled{Shares: map[pbs.HostName]Share{"hostb": {Peak: Peak{CPU: time.Minute}}}})
	for _, p := range []Polled{{Silent: []pbs.HostName{"hostb"}}, {Silent: []pbs.HostName{"hostb"}}, {Lost: "hostc"}, {Lost: "hostc"}} {
		next, actions, err := step(r.task, r.quiet.listened(r.task, p))
		if err != nil || next.State() != Running || words(actions) != "poll the sisters" {
			t.Errorf("%+v: %s, %s, %v", p, next.State(), words(actions), err)
		}
		r.task = next
	}
	want := []string{
		"pbs_mom, im_eof, Premature end of message from addr b on stream 1", "ignoring lost communication with hostb as job is tolerant of node failures",
		"pbs_mom, im_eof, Premature end of message from addr c on stream 2", "ignoring lost communication with hostc as job is tolerant of node failures",
	}
	if !slices.Equal(log.all(), want) {
		t.Errorf("the log has %q", log.all())
	}
	if got := r.task.Shares["hostb"].CPU; got != time.Minute {
		t.Errorf("hostb has used %s", got)
	}
}

// shortOf are hooks that the host has no processes for.
type shortOf struct {
	Hooks
	err error
}

func (h shortOf) Begin(context.Context, Task) ([]spool.Used, error) { return nil, h.err }
func (h shortOf) Ending(context.Context, Task) []spool.Used         { return nil }
func (h shortOf) Patience(...string) time.Duration                  { return 0 }
func (h shortOf) Terminates() bool                                  { return false }

// A start that fails before the sisters were asked, for want of what the host has, is that host's fault, whether
// the job tolerates failures or not; what a hook has refused is nobody's.
func TestRunner_StartFailsByItsHost(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		fault pbs.HostName
	}{
		{"no processes", fmt.Errorf("fork: %w", syscall.EAGAIN), "hosta"},
		{"refused", ErrHookRerun, ""},
	} {
		for kind, of := range map[string]func(*Task){"tolerant": tolerant, "intolerant": spread} {
			t.Run(c.name+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, _, _ := stageSite(t)
					s.Host, s.Hooks, s.Peers = "hosta", shortOf{err: c.err}, &troop{}
					r := NewRunner(s, in(Accepted, of))
					ctx, cancel := context.WithCancel(t.Context())
					go r.Run(ctx, Fetched{})
					last, err := r.Await(ctx, func(t Task) bool { return t.State() == Ended })
					if err != nil || !last.Result.NeverStarted || last.Result.Fault != c.fault {
						t.Errorf("%+v, %v, want the fault of %q", last.Result, err, c.fault)
					}
					cancel()
					<-r.Done()
				})
			})
		}
	}
}

// A start is cut down to what was requested wherever it tolerates failures, also without sisters, once, and not
// where it goes on from a checkpoint (specification: reliable-startup section 1).
func TestTask_Prunes(t *testing.T) {
	job := func(tolerate string) Task {
		return Task{Order: Order{Attrs: Attrs{
			{Name: "tolerate_node_failures", Value: tolerate},
			{Name: pruneAtStart, Value: "True"},
			{Name: "Resource_List", Resource: "select_requested", Value: "2:ncpus=1"},
		}}}
	}
	for _, tolerate := range []string{"all", "job_start"} {
		one := job(tolerate)
		if !one.prunes() {
			t.Errorf("%s: nothing is given back", tolerate)
		}
		if done, ok := one.stepTrial(Pruned{}); !ok || done.prunes() {
			t.Errorf("%s: given back twice", tolerate)
		}
		one.Checkpoints.Restart = new(Restart)
		if one.prunes() {
			t.Errorf("%s: a part of a checkpoint is given back", tolerate)
		}
	}
	if job("none").prunes() {
		t.Error("a job that tolerates nothing is cut down")
	}
}
