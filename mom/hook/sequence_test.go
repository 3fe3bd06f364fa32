package hook

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"unicode/utf8"
)

// A program that a hook starts does not hold the pipe on which the hook answers: that of a
// hook of pbsuser belongs to the owner of the job.
func TestRuntime_ProgramsDoNotAnswer(t *testing.T) {
	const answer = `import os
os.system("""for n in 3 4 5 6 7 8 9; do (echo '{"done":{"accept":true,"reboot":"x"}}' >&$n) 2>/dev/null; done""")
`
	a, _ := try(t, newTestRuntime(t), queue(), answer)
	if a.Reboot != "" || a.Failure != "" {
		t.Errorf("a program answered for the hook: %+v", a)
	}
}

// The scheduler and the host are the site's: a hook that runs as the owner of a job gets at
// neither, whatever it answers, and its changes of vnodes are marked. No answer stops the daemon.
func TestSequence_OwnersHook(t *testing.T) {
	answer := `import json, os
for fd in range(3, 10):
    try:
        os.write(fd, b'{"done":{"accept":true,"restart":true,"reboot":"x","job":{},"jobs":{"1":null},"vnodes":{"v":null,"w":{}}}}\n')
    except OSError:
        pass
`
	for user, want := range map[string]string{"pbsuser": "", "pbsadmin": "x"} {
		r := newTestRuntime(t)
		var runs []Run
		for _, script := range []string{answer, "import pbs\npbs.event().job.Priority = 5"} {
			runs = append(runs, Run{
				Hook: Hook{Name: "h1", Attrs: map[string]string{"alarm": "5", "user": user}}, Script: []byte(script), Dir: "/",
			})
		}
		out := r.Sequence(t.Context(), runs, queue(), false)
		if out.Reboot != want || out.Restart != (want != "") || len(out.Edits) != 1 || out.Edits[0].Own != (want == "") {
			t.Errorf("as %s: reboot %q, restart %v, vnodes %+v", user, out.Reboot, out.Restart, out.Edits)
		}
		if out.Job == nil || out.Job.Set["Priority"] == nil || len(out.Jobs) > 0 {
			t.Errorf("as %s: %+v, %v", user, out.Job, out.Jobs)
		}
	}
}

// Each hook of a sequence that runs says when it starts and finishes, around all that it logs; also one that fails. One that cannot run
// and those behind a rejection say nothing.
func TestSequence_Marks(t *testing.T) {
	r := newTestRuntime(t)
	var got []string
	var runs []Run
	for _, script := range []string{"import pbs\npbs.logmsg(pbs.LOG_DEBUG, 'hello')", "", "1/0", "pass"} {
		run := Run{
			Hook: Hook{Name: fmt.Sprintf("h%d", len(runs)), Attrs: map[string]string{"alarm": "5", "fail_action": "none"}}, Script: []byte(script), Dir: "/",
			Log:  func(l Line) { got = append(got, l.Text) },
			Mark: func(hook, text string) { got = append(got, hook+" "+text) },
		}
		if script == "" {
			run.Broken = os.ErrNotExist
		}
		runs = append(runs, run)
	}
	r.Sequence(t.Context(), runs[:2], queue(), false)
	r.Sequence(t.Context(), runs[2:], queue(), false)
	if want := []string{"h0 started", "hello", "h0 finished", "h2 started", "h2 finished"}; !slices.Equal(got, want) {
		t.Errorf("marks are %q, want %q", got, want)
	}
}

// A hook that takes a host out of service and rejects the job is the usual check of a host's health: its changes
// of vnodes stand, and those of hooks before it, but what it wanted of the job is dropped with the action.
func TestSequence_RejectionKeepsVnodes(t *testing.T) {
	const offline = "import pbs\ne = pbs.event()\ne.job.comment = 'x'\ne.vnode_list['%s'].state = pbs.ND_OFFLINE\n"
	for _, c := range []struct {
		name, last string
		regardless bool
		want       []string
	}{
		{"rejects", "e.reject('no')", false, []string{"first v1", "second v2"}},
		{"rejects where nothing is refused", "e.reject('no')", true, []string{"first v1", "second v2"}},
		{"fails", "raise RuntimeError('bang')", false, []string{"first v1"}},
		{"accepts", "e.accept()", false, []string{"first v1", "second v2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := starting()
			var runs []Run
			for i, script := range []string{fmt.Sprintf(offline, "v1"), fmt.Sprintf(offline, "v2") + c.last} {
				runs = append(runs, Run{
					Hook:   Hook{Name: []string{"first", "second"}[i], Attrs: map[string]string{"alarm": "5", "event": e.Event}},
					Script: []byte(script), Dir: "/", Log: func(Line) {},
				})
			}
			out := newTestRuntime(t).Sequence(t.Context(), runs, e, c.regardless)
			var got []string
			for _, edited := range out.Edits {
				for name, edits := range edited.Vnodes {
					if state := edits.Set["state"]; state != nil && *state == "offline" {
						got = append(got, edited.Hook+" "+name)
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("vnodes %q, want %q", got, c.want)
			}
			if out.Rejected != nil && out.Job != nil && out.Job.Set["comment"] != nil {
				t.Errorf("the job is changed: %+v", out.Job)
			}
		})
	}
}

// Where an event goes on regardless, a hook that fails does not keep the next one from running, and one that rejects does.
func TestSequence_RegardlessOfFailures(t *testing.T) {
	for last, want := range map[string]int{"raise RuntimeError('bang')": 1, "pbs.event().reject('no')": 0} {
		var runs []Run
		for _, script := range []string{last, "pbs.event().accept()"} {
			runs = append(runs, Run{Hook: Hook{Name: "h1", Attrs: map[string]string{"alarm": "5"}}, Script: []byte("import pbs\n" + script), Dir: "/"})
		}
		out := newTestRuntime(t).Sequence(t.Context(), runs, queue(), true)
		if out.Rejected != nil || len(out.Done) != want {
			t.Errorf("%s: rejected by %v, %d hooks done", last, out.Rejected, len(out.Done))
		}
	}
}

// A reason becomes the comment of a job, which every replica keeps: what is too much of it is cut off, between letters.
func TestSequence_LongReason(t *testing.T) {
	run := Run{Hook: Hook{Name: "h1", Attrs: map[string]string{"alarm": "30"}}, Script: []byte("import pbs\npbs.event().reject('x' + 50000 * '\u20ac')"), Dir: "/"}
	out := newTestRuntime(t).Sequence(t.Context(), []Run{run}, queue(), false)
	if n := len(out.Message); out.Rejected == nil || n > maxReason || n < maxReason-utf8.UTFMax || !utf8.ValidString(out.Message) {
		t.Errorf("%d bytes of a reason, failed %q", n, out.Failure)
	}
}

// What hooks set of a reservation adds up, each sees what those before have set, and a rejection drops it.
func TestSequence_Reservations(t *testing.T) {
	r := newTestRuntime(t)
	do := func(scripts ...string) *Outcome {
		var runs []Run
		for _, script := range scripts {
			runs = append(runs, Run{
				Hook: Hook{Name: "h1", Attrs: map[string]string{"alarm": "5"}}, Script: []byte("import pbs\ne = pbs.event()\n" + script), Dir: "/",
			})
		}
		e := &Event{Event: "resvsub", Settable: SettableResv(), Resv: &Object{Attrs: []Attr{{"Reserve_Name", "", "x"}}}}
		return r.Sequence(t.Context(), runs, e, false)
	}
	name := "e.resv.Reserve_Name += 'y'\n"
	out := do(name, name+"e.resv.reserve_duration = 5")
	if out.Resv == nil || *out.Resv.Set["Reserve_Name"] != "xyy" || *out.Resv.Set["reserve_duration"] != "5" {
		t.Errorf("two hooks: %+v", out.Resv)
	}
	if out := do(name, "e.reject('no')"); out.Resv != nil || out.Rejected == nil || out.Message != "no" {
		t.Errorf("a rejection: %+v", out)
	}
}
