package task

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/fsm/pbs"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/transport/pause"
)

// A pruner is hooks that give hostc back before the program, as servers and hooks would do it.
type pruner struct {
	witness
	r       *Runner
	refusal error // of execjob_resize here
	lasts   time.Duration
}

func (p *pruner) Launch(ctx context.Context, t Task, spec *proc.Spec) ([]spool.Used, error) {
	p.note("launch", t)
	for _, a := range []Assign{without(1, AssignAsked, "hosta", "hostb"), without(2, AssignDone, "hosta", "hostb")} {
		if err := p.r.Tell(ctx, a); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (p *pruner) Resizing(ctx context.Context, t Task) error {
	p.note("resize "+t.Attrs.Get("exec_host"), Task{})
	if !pause.For(ctx, p.lasts) {
		return ctx.Err()
	}
	return p.refusal
}

// updated are sisters that take an assignment as they are told: "" at once, "refuse" by a hook,
// "over" without a part, "away" without an answer.
type updated struct {
	troop
	update map[pbs.HostName]string
	heard  *notes
}

func (u *updated) Update(ctx context.Context, h Host, t Task) error {
	u.heard.add(fmt.Sprintf("%s has order %d", h.Name, t.Assignment.Number))
	switch u.update[h.Name] {
	case "refuse":
		return pbs.Errorf(pbs.HookError, "%s: no", h.Name)
	case "over":
		return pbs.Refuse(pbs.UnknownJob)
	}
	return u.act(ctx, u.update[h.Name])
}

func (u *updated) Leave(_ context.Context, h Host, _ spool.TaskKey, _ bool) (Share, bool, error) {
	u.heard.add(string(h.Name) + " leaves")
	return Share{}, true, nil
}

func (u *updated) End(ctx context.Context, h Host, k spool.TaskKey, abandoned bool, kept KeptPart) (Share, error) {
	u.heard.add(string(h.Name) + " ends")
	return u.troop.End(ctx, h, k, abandoned, kept)
}

// departed returns what sisters heard, where hostc leaves a run that is over before it could hear so by ending with it.
func (u *updated) departed() []string {
	all := u.heard.all()
	if i := slices.Index(all, "hostc ends"); i >= 0 && !slices.Contains(all, "hostc leaves") {
		all[i] = "hostc leaves"
	}
	all = slices.DeleteFunc(all, func(l string) bool { return strings.HasSuffix(l, " ends") })
	slices.Sort(all)
	return all
}

// levels are notes that know how fine the last line with a text was about a job.
type levels struct {
	notes
	of map[string]uint16
}

func (l *levels) Job(event uint16, job pbs.JobID, text string) {
	l.notes.Job(event, job, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]uint16{}
	}
	l.of[text] = event
}

// Sections 9.1 to 9.4: the hooks here see the pruned assignment, then the sisters that stay get it,
// and only then does the program start; who rejects it ends the start.
func TestRunner_FitsBeforeTheProgram(t *testing.T) {
	const (
		rejected = "execjob_resize hook rejected request"
		sister   = "sister node hostb failed to update job"
		late     = "NOT all job updates to sister moms completed"
		retry    = "job not started, Retry -3"
	)
	for _, c := range []struct {
		name    string
		refusal error
		update  string // how hostb answers
		join    string // how hostb joins
		lines   []string
		heard   []string
		starts  int
		after   time.Duration // how long it took after the launch hooks
	}{
		{name: "all is well", heard: []string{"hostb has order 2", "hostc leaves"}, starts: 1},
		{
			name: "rejected here", refusal: fmt.Errorf("Cannot resize the job: %w", ErrHook),
			heard: []string{"hostc leaves"}, lines: []string{rejected, retry},
		},
		{name: "rejected by a sister", update: "refuse", heard: []string{"hostb has order 2", "hostc leaves"}, lines: []string{retry, sister}},
		{
			name: "a sister does not answer", update: "away", heard: []string{"hostb has order 2", "hostc leaves"},
			lines: []string{late}, starts: 1, after: 5 * time.Second,
		},
		{
			name: "a bad one that was kept has no part", update: "over", join: "away", lines: []string{late, sister},
			heard: []string{"hostb has order 2", "hostb has order 2", "hostb has order 2", "hostc leaves"}, starts: 1, after: 5 * time.Second,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := new(levels)
				s, _, _ := stageSite(t)
				p := &pruner{witness: witness{begun: time.Now()}, refusal: c.refusal}
				s.Lines, s.Hooks = log, p
				sisters := &updated{troop{join: map[pbs.HostName]string{"hostb": c.join}}, map[pbs.HostName]string{"hostb": c.update}, new(notes)}
				s.Peers = sisters
				p.r = NewRunner(s, in(Accepted, tolerant))
				ctx, cancel := context.WithCancel(t.Context())
				go p.r.Run(ctx, Fetched{})
				bounded, end := context.WithTimeout(ctx, time.Hour)
				defer end()
				last, err := p.r.Await(bounded, func(t Task) bool { return t.Life.StartedAt != 0 || t.State() == Ended })
				if err != nil {
					t.Error(err)
				}
				joined := time.Duration(0)
				if c.join != "" {
					joined = defaultWait
				}
				if took := time.Since(p.begun).Round(time.Second); took != joined+c.after {
					t.Errorf("it took %s", took)
				}
				cancel()
				<-p.r.Done()
				if got := s.System.(*proc.Fake).Starts(string(testKey.Job)); got != c.starts {
					t.Errorf("the program was started %d times, want %d", got, c.starts)
				}
				if c.starts == 0 && (last.Result == nil || !last.Result.NeverStarted || last.Result.ExitStatus != pbs.ExitRetry) {
					t.Errorf("ended %+v", last.Result)
				}
				if got := sisters.departed(); !slices.Equal(got, c.heard) {
					t.Errorf("sisters heard %q, want %q", got, c.heard)
				}
				lines := slices.DeleteFunc(log.all(), func(l string) bool {
					return !slices.Contains([]string{rejected, sister, late, retry}, l)
				})
				if slices.Sort(lines); !slices.Equal(lines, slices.Sorted(slices.Values(c.lines))) {
					t.Errorf("the log has %q, want %q", lines, c.lines)
				}
				for line, want := range map[string]uint16{rejected: pbs.LogError, sister: pbs.LogError, late: pbs.LogDebug2, retry: pbs.LogError} {
					if got, there := log.of[line]; there && got != want {
						t.Errorf("%q has the level %04x, want %04x", line, got, want)
					}
				}
				resized := slices.DeleteFunc(p.seen, func(l string) bool { return !strings.HasPrefix(l, "resize hosta/0+hostb/0 ") })
				if len(resized) != 1 {
					t.Errorf("execjob_resize ran %d times", len(resized))
				}
			})
		})
	}
}

// A kill does not wait for the hooks of a resize.
func TestRunner_KilledWhileItFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := stageSite(t)
		p := &pruner{witness: witness{begun: time.Now()}, lasts: time.Hour}
		s.Lines, s.Hooks, s.Peers = new(notes), p, &updated{heard: new(notes)}
		p.r = NewRunner(s, in(Accepted, tolerant))
		ctx, cancel := context.WithCancel(t.Context())
		go p.r.Run(ctx, Fetched{})
		time.Sleep(time.Minute)
		if err := p.r.Tell(ctx, Kill{}); err != nil {
			t.Fatal(err)
		}
		if last, err := p.r.Await(ctx, func(t Task) bool { return t.State() == Ended }); err != nil || !last.Result.NeverStarted {
			t.Errorf("%+v, %v", last.Result, err)
		}
		if d := time.Since(p.begun); d > time.Minute+time.Second {
			t.Errorf("the end took %s", d)
		}
		cancel()
		<-p.r.Done()
	})
}

// A mom that died between the pruning and the program lets hooks and sisters see it before it goes on.
func TestRunner_FitsAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _, _ := stageSite(t)
		heard := new(notes)
		w := &pruner{witness: witness{begun: time.Now()}}
		s.Lines, s.Hooks, s.Peers, s.Scripts = new(notes), &fitter{w}, &updated{heard: heard}, prompt{}
		r := NewRunner(s, in(Joining, tolerant, after(without(1, AssignAsked, "hosta", "hostb"), without(2, AssignDone, "hosta", "hostb"))))
		ctx, cancel := context.WithCancel(t.Context())
		go r.Run(ctx, Resume{"boot", true})
		bounded, end := context.WithTimeout(ctx, time.Minute)
		defer end()
		if last, err := r.Await(bounded, func(t Task) bool { return t.Life.StartedAt != 0 && !t.Assignment.untold() }); err != nil {
			t.Errorf("it is %s, untold %v, %v", last.State(), last.Assignment.Members, err)
		}
		cancel()
		<-r.Done()
		if !slices.Contains(heard.all(), "hostb has order 2") || !slices.ContainsFunc(w.seen, func(l string) bool { return strings.HasPrefix(l, "resize") }) {
			t.Errorf("sisters heard %q, hooks saw %q", heard.all(), w.seen)
		}
	})
}

// A fitter is a pruner whose hooks have pruned before.
type fitter struct{ *pruner }

func (f *fitter) Launch(context.Context, Task, *proc.Spec) ([]spool.Used, error) { return nil, nil }

// prompt are servers that answer.
type prompt struct{ Scripts }

func (prompt) Script(_ context.Context, _ spool.TaskKey, to io.Writer) error {
	_, err := io.WriteString(to, "true\n")
	return err
}

// A sister tells what its hooks say of an assignment once, whoever repeats it, and after a restart.
func TestStep_SisterFits(t *testing.T) {
	order := without(3, AssignDone, "hosta", "hostb")
	told := in(Running, asSister, sharing, after(order))
	if told.Assignment.Fits(3) {
		t.Error("it fits before its hooks have run")
	}
	for _, c := range []struct {
		name    string
		task    Task
		event   Event
		actions string
		refusal string
		fits    bool
	}{
		{"told", in(Running, asSister, sharing), order, "fit the job into its new assignment", "", false},
		{"told again", told, order, "", "", false},
		{"restarted", told, Resume{"boot", true}, "fit the job into its new assignment", "", false},
		{"accepted", told, Fitted{Number: 3}, "", "", true},
		{"rejected", told, Fitted{Number: 3, Refusal: "no"}, "", "no", true},
		{"of an older one", told, Fitted{Number: 2, Refusal: "no"}, "", "", false},
		{"restarted later", in(Running, asSister, sharing, after(order, Fitted{Number: 3})), Resume{"boot", true}, "", "", true},
	} {
		next, actions, err := step(c.task, c.event)
		if err != nil || words(actions) != c.actions || next.Assignment.Fits(3) != c.fits || next.Assignment.Refusal != c.refusal {
			t.Errorf("%s: %q, fits %v, refusal %q, %v", c.name, words(actions), next.Assignment.Fits(3), next.Assignment.Refusal, err)
		}
	}
}

func sharing(t *Task) {
	t.Attrs = append(t.Attrs, Attr{Name: "exec_vnode", Value: "(hosta:ncpus=1)+(hostb:ncpus=1)+(hostc:ncpus=1)"})
}

// Section 9: what the log says of a start that failed.
func TestRunner_NotStarted(t *testing.T) {
	for _, c := range []struct {
		name string
		task Task
		ev   Event
		want string
	}{
		{"a sister does not join", in(Joining, asked, unended), JoinFailed{Reason: "x"}, "job not started, Retry -3"},
		{"a hook before", in(Joining, asked, unended), JoinFailed{Reason: "x", Code: pbs.ExitHookRerun}, "job not started, Failure -16"},
		{"it cannot be started now", in(Starting), Failed{Status: pbs.ExitRetry}, "job not started, Retry -3"},
		{"its own fault", in(Starting), Failed{Status: pbs.ExitOwnFault}, "job not started, Failure -1"},
		{"a hook wants it to run again", in(Starting), Failed{Status: pbs.ExitRetry, Code: pbs.ExitHookRerun}, "job not started, Failure -16"},
		{"a hook wants it deleted", in(Starting), Failed{Status: pbs.ExitRetry, Code: pbs.ExitHookDelete}, "job not started, Failure -17"},
		{"killed", in(Starting, killed(0, true)), Failed{Status: pbs.ExitRetry}, ""},
		{"at a sister", in(Accepted, asSister), Failed{Status: pbs.ExitRetry}, ""},
		{"too late", in(Running), Failed{Status: pbs.ExitRetry}, ""},
	} {
		next, _, err := step(c.task, c.ev)
		if got := notStarted(c.task, next, c.ev); err != nil || got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

// unended takes back what in gives to states with numbers above Delivering.
func unended(t *Task) { t.Result = nil }

// A program is told the cpus of the pruned first chunk, unless a hook has said another number.
func TestRecount(t *testing.T) {
	before := in(Starting, spread, with("exec_vnode", "(hosta:ncpus=4)+(hostb:ncpus=1)+(hostc:ncpus=1)"), with("exec_host", "hosta/0*4+hostb/0+hostc/0"))
	now := in(Starting, spread, with("exec_vnode", "(hosta:ncpus=2)"), with("exec_host", "hosta/0*2"), with("schedselect", "1:ncpus=2"))
	spec := proc.Spec{Env: []string{"A=4", "NCPUS=4", "OMP_NUM_THREADS=3"}}
	recount(&spec, before, now)
	if want := []string{"A=4", "NCPUS=2", "OMP_NUM_THREADS=3"}; !slices.Equal(spec.Env, want) {
		t.Errorf("the environment is %q, want %q", spec.Env, want)
	}
}
