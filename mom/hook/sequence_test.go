package hook

import "testing"

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
