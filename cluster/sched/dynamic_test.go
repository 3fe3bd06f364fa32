package sched_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
)

// TestLoop_Dynamic: jobs get no more of a resource than the program of server_dyn_res says there is, several of one cycle
// together; a program that fails, or prints what is no amount, leaves nothing. All are asked, whoever asks for the resource.
func TestLoop_Dynamic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=9")
		for _, name := range []string{"foo", "bar", "idle", "late", "open"} {
			l.do(&command.ManageResource{Verb: command.VerbCreate, Name: name, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}}})
		}
		l.scheduler("server_dyn_res=foo !/bin/foo -v,bar !/bin/bar,idle !/bin/idle -q,late !/bin/late -x,open !/tmp/open -x", "log_events=1023")
		var asked []string
		dynamic := func(ctx context.Context, command string) (string, error) {
			asked = append(asked, command)
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("the program has no alarm")
			}
			switch command {
			case "/bin/idle -q":
				return "plenty", nil
			case "/bin/bar":
				return "", errors.New("it is broken")
			case "/bin/late -x":
				return "", fmt.Errorf("%w said nothing", context.DeadlineExceeded)
			case "/tmp/open -x":
				return "", fmt.Errorf("/tmp/open: %w: /tmp/open can be changed by others", sched.ErrForeign)
			}
			return "10", nil
		}
		most, first, second, third, none := l.submit("foo=15"), l.submit("foo=6"), l.submit("foo=6"), l.submit("foo=4"), l.submit("bar=1")
		l.submit("late=1")
		l.submit("open=1")
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		defer cancel()
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Dynamic: dynamic, Logger: slog.New(slog.DiscardHandler)})
		if err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
		got := ""
		for _, id := range []pbs.JobID{most, first, second, third, none} {
			got += l.state(id)
		}
		if got != "QRQRQ" {
			t.Errorf("jobs are %s", got)
		}
		comment := func(id pbs.JobID, want string) {
			t.Helper()
			if j, _ := l.View().Job(id); j.CommentText() != want {
				t.Errorf("comment of %s is %q", id, j.CommentText())
			}
		}
		comment(most, "Can Never Run: Insufficient amount of server resource: foo (R: 15 A: 10 T: 10)")
		comment(second, "Not Running: Insufficient amount of server resource: foo (R: 6 A: 4 T: 10)")
		comment(none, "Can Never Run: Insufficient amount of server resource: bar (R: 1 A: 0 T: 0)")
		if !slices.Equal(asked, []string{"/bin/foo -v", "/bin/bar", "/bin/idle -q", "/bin/late -x", "/tmp/open -x"}) {
			t.Errorf("programs were run: %v", asked)
		}
		for _, want := range []string{
			"/bin/foo -v = 10", "Setting resource bar to 0: /bin/bar: it is broken", "Program /bin/late -x timed out",
			"Script /bin/idle returned bad output", `Setting resource idle to 0: /bin/idle -q: it printed "plenty"`,
			"Setting resource late to 0: /bin/late -x: context deadline exceeded said nothing",
			"error: /tmp/open file has a non-secure file access, setting resource open to 0, errno: 1: /tmp/open: file has a non-secure file access: /tmp/open can be changed by others",
		} {
			if !slices.Contains(l.lines, "Svr;server_dyn_res;"+want) {
				t.Errorf("%q is not in the log\n%s", want, strings.Join(l.lines, "\n"))
			}
		}
		if told := slices.Sorted(maps.Keys(loop.AskDynamic(t.Context(), l.View()))); !slices.Equal(told, []string{"bar", "foo", "late", "open"}) {
			t.Errorf("the cycle is told of %v, and nobody asks for idle", told)
		}
	})
}

// TestLoop_DynamicValues: what is not a number is compared with what a job asks for, and not used up; so is what the server has of the
// kind. Of what a program could not say there is 0, or False: a job that asks for something else waits.
func TestLoop_DynamicValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=9")
		for name, kind := range map[string]string{"color": "string", "tags": "string_array", "dry": "boolean", "wet": "boolean", "lost": "string", "town": "string"} {
			l.do(&command.ManageResource{Verb: command.VerbCreate, Name: name, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: kind}}}})
		}
		l.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "resources_available", Resource: "town", Value: "rome"}}}})
		l.scheduler("server_dyn_res=color !/bin/color,tags !/bin/tags,dry !/bin/dry,wet !/bin/wet,lost !/bin/lost", "log_events=1023")
		printed := map[string]string{"/bin/color": "red", "/bin/tags": "a,b", "/bin/dry": "true", "/bin/wet": "perhaps"}
		dynamic := func(_ context.Context, command string) (string, error) {
			if text, ok := printed[command]; ok {
				return text, nil
			}
			return "", errors.New("it is broken")
		}
		var ids []pbs.JobID
		for _, ask := range []string{"color=red", "color=red", "color=blue", "tags=b", "tags=c", "dry=true", "dry=false", "wet=true", "wet=false", "lost=red", "lost=0", "town=rome", "town=oslo"} {
			ids = append(ids, l.submit(ask))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Dynamic: dynamic, Logger: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
			t.Error(err)
		}
		for i, want := range []string{"", "", "color (blue != red)", "", "tags (c != a,b)", "", "dry (False != True)", "wet (True != False)", "", "lost (red != 0)", "", "", "town (oslo != rome)"} {
			if want != "" {
				want = "Not Running: Insufficient amount of server resource: " + want
			}
			if j, _ := l.View().Job(ids[i]); want == "" && j.State != pbs.Running || want != "" && j.CommentText() != want {
				t.Errorf("job %d is %v, %q, want %q", i, j.State, j.CommentText(), want)
			}
		}
		for _, want := range []string{"/bin/color = red", "/bin/tags = a,b", "/bin/dry = True", "Script /bin/wet returned bad output", "Setting resource lost to 0: /bin/lost: it is broken"} {
			if !slices.Contains(l.lines, "Svr;server_dyn_res;"+want) {
				t.Errorf("%q is not in the log\n%s", want, strings.Join(l.lines, "\n"))
			}
		}
	})
}

// TestLoop_SlowDynamic: a program of server_dyn_res holds up nobody who waits for the turn, and the scheduler rests as long
// as the program took, not several times as long.
func TestLoop_SlowDynamic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = 10 * time.Second
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=9")
		l.do(&command.ManageResource{Verb: command.VerbCreate, Name: "foo", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}}})
		l.scheduler("server_dyn_res=foo !/bin/foo")
		began := time.Now()
		turns := sched.NewTurns()
		var asked []time.Duration
		dynamic := func(ctx context.Context, _ string) (string, error) {
			asked = append(asked, time.Since(began))
			turns.Take(ctx)()
			if waited := time.Since(began) - asked[len(asked)-1]; waited != 0 {
				t.Errorf("the turn was free after %v", waited)
			}
			time.Sleep(takes)
			l.now(func() { l.submit("foo=20") }) // something changes all the time
			return "10", nil
		}
		l.submit("foo=20")
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Second)
		defer cancel()
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Dynamic: dynamic, Turns: turns, Logger: slog.New(slog.DiscardHandler)})
		if err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
		if len(asked) != 5 {
			t.Errorf("it was asked at %v", asked)
		}
	})
}

// TestLoop_SwitchedOffMeanwhile: a job that comes behind scheduling = False does not start, whatever a cycle was doing then.
func TestLoop_SwitchedOffMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=9")
		l.do(&command.ManageResource{Verb: command.VerbCreate, Name: "foo", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: "long"}}}})
		l.scheduler("server_dyn_res=foo !/bin/foo")
		first := l.submit("foo=20") // waits, so that the program is asked
		var late pbs.JobID
		dynamic := func(context.Context, string) (string, error) {
			if late == "" {
				l.now(func() {
					l.do(scheduling("False"))
					late = l.submit("ncpus=1")
				})
			}
			return "10", nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		loop := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Dynamic: dynamic, Logger: slog.New(slog.DiscardHandler)})
		if err := loop.Run(ctx); err != nil {
			t.Error(err)
		}
		if late == "" || l.state(late) != "Q" || l.state(first) != "Q" {
			t.Errorf("the job that came late, %q, is %s", late, l.state(late))
		}
	})
}

// A program that says that less than nothing is there is believed, as by a PBS.
func TestLoop_DynamicNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		l.host("hosta", "hosta:ncpus=9")
		printed, asks := map[string]string{}, map[string]string{"long": "1", "float": "1.5", "size": "1gb"}
		var programs []string
		for kind, text := range map[string]string{"long": "-1", "float": "-2.5", "size": "-1gb"} {
			l.do(&command.ManageResource{Verb: command.VerbCreate, Name: "r" + kind, Changes: []command.AttrChange{{Entry: attr.Entry{Name: "type", Value: kind}}}})
			printed["/bin/"+kind] = text
			programs = append(programs, "r"+kind+" !/bin/"+kind)
		}
		l.scheduler("server_dyn_res=" + strings.Join(programs, ","))
		jobs := map[string]pbs.JobID{}
		for kind, ask := range asks {
			jobs[kind] = l.submit("r" + kind + "=" + ask)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		defer cancel()
		dynamic := func(_ context.Context, command string) (string, error) { return printed[command], nil }
		if err := sched.New(sched.Options{Source: l, Proposer: l, Log: l, Dynamic: dynamic, Logger: slog.New(slog.DiscardHandler)}).Run(ctx); err != nil {
			t.Error(err)
		}
		for kind, want := range map[string]string{
			"long": "rlong (R: 1 A: -1 T: -1)", "float": "rfloat (R: 1.5 A: -2.5 T: -2.5)", "size": "rsize (R: 1048576kb A: -1048576kb T: -1048576kb)",
		} {
			if j, _ := l.View().Job(jobs[kind]); j.CommentText() != "Can Never Run: Insufficient amount of server resource: "+want {
				t.Errorf("comment of who asks for a %s is %q", kind, j.CommentText())
			}
		}
	})
}
