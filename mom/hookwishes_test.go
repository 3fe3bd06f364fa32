package mom

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"rampart/mom/hook"
	"rampart/mom/proc"
	"rampart/mom/spool"
	"rampart/mom/task"
	"rampart/transport/daylog"
)

// Whatever a hook writes into the pipe, it has asked about at least one release, or about nothing.
func FuzzReadWishes(f *testing.F) {
	for _, text := range []string{
		`[{"vnodes":["hostb"]}]`, `[{"keep":"1:ncpus=1"},{"vnodes":["hostc","hostd"],"gone":["hostc"]}]`, `[]`, `null`, `[null]`, `{}`, `[`, `"x"`, ``, `[[]]`, `0`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		wishes, err := readWishes(text)
		if (err == nil) != (len(wishes) > 0) {
			t.Errorf("%q: %d wishes, %v", text, len(wishes), err)
		}
		if _, err := json.Marshal(wishes); err != nil {
			t.Error(err)
		}
	})
}

// A hook that asks about no release gets an error, and its mom lives on.
func TestJobSource_NoRelease(t *testing.T) {
	m := &Mom{lines: lines{daylog.New(t.TempDir(), "pbs_mom", daylog.Options{}), slog.New(slog.DiscardHandler)}}
	s := jobSource{runner: hookRunner{mom: m}}
	for _, text := range []string{"[]", "null", "{}"} {
		if err := s.Objects(t.Context(), "release", text, func(hook.Object) error { return nil }); err == nil {
			t.Errorf("%s is asked of the servers", text)
		}
	}
}

// What a hook unsets of resources_used is told without a value, which takes back what it has set.
func TestHookRunner_UsedOfUnset(t *testing.T) {
	text := "00:00:05"
	used := hookRunner{}.usedOf(&hook.Edits{Set: map[string]*string{"resources_used.cput": &text, "resources_used.mem": nil, "Hold_Types": nil}})
	want := map[string]spool.Used{"cput": {Resource: "cput", Type: "time", Value: "00:00:05"}, "mem": {Resource: "mem", Type: "size"}}
	for _, u := range used {
		if u != want[u.Resource] {
			t.Errorf("%+v, want %+v", u, want[u.Resource])
		}
	}
	if len(used) != len(want) {
		t.Errorf("%+v", used)
	}
}

// What follows a failure at each event of moms, and the end of a startup hook that goes well (hooks section 1).
func TestHookRunner_FailAction(t *testing.T) {
	const offline, clears, restart = "offline_vnodes", "clear_vnodes_upon_recovery", "scheduler_restart_cycle"
	text := "offlined by hook 'h' due to hook error"
	for _, event := range []string{
		"execjob_begin", "execjob_prologue", "execjob_launch", "execjob_attach", "execjob_resize", "execjob_preterm", "execjob_postsuspend",
		"execjob_preresume", "execjob_epilogue", "execjob_end", "execjob_abort", "exechost_startup", "exechost_periodic",
	} {
		start := event == "execjob_begin" || event == "execjob_prologue"
		startup := event == "exechost_startup"
		for _, action := range []string{"none", "", offline, clears, restart, offline + "," + clears, offline + "," + restart} {
			h := &hook.Hook{Name: "h", Attrs: map[string]string{"fail_action": action}}
			has := func(what string) bool { return strings.Contains(action, what) }
			failed, well := &spool.Hook{}, &spool.Hook{}
			failAction(failed, event, h)
			recovered(well, event, h)
			want := spool.Hook{Restart: has(restart) && start}
			if has(offline) && (start || startup) {
				want.Offline = text
			}
			if !reflect.DeepEqual(*failed, want) {
				t.Errorf("%s, fail_action %q: %+v, want %+v", event, action, *failed, want)
			}
			want = spool.Hook{}
			if has(clears) && startup {
				want.Clear = text
			}
			if !reflect.DeepEqual(*well, want) {
				t.Errorf("%s went well, fail_action %q: %+v, want %+v", event, action, *well, want)
			}
		}
	}
}

// A hook whose copy cannot be read has failed: the mom does not go on as if there were none.
func TestHookRunner_SpoiltCopy(t *testing.T) {
	dir := t.TempDir()
	store, err := hook.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	script := []byte("pass")
	sum := sha256.Sum256(script)
	key := hex.EncodeToString(sum[:])
	if _, err := store.Set(&hook.Manifest{Generation: 1, Hooks: []hook.Hook{{
		Name: "h", Seq: 1, Script: key, Attrs: map[string]string{"event": "execjob_begin", "enabled": "true", "fail_action": "offline_vnodes"},
	}}}, map[string][]byte{key: script}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "h.PY"), []byte("spoilt"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Mom{lines: lines{daylog.New(t.TempDir(), "pbs_mom", daylog.Options{}), slog.New(slog.DiscardHandler)}}
	r := hookRunner{m, &life{hooks: momHooks{store: store}}}
	out := r.run(t.Context(), &hook.Event{Event: "execjob_begin"}, nil, false)
	if out.Rejected == nil || out.Rejected.Name != "h" || !strings.Contains(out.Failure, hook.ErrIncomplete.Error()) {
		t.Errorf("%+v", out.Outcome)
	}
}

// A vnode that several chunks share has in resources_assigned what they have together.
func TestHookRunner_VnodeOfSeveralChunks(t *testing.T) {
	key := spool.TaskKey{Job: "1.srv", Run: 1}
	sp, err := spool.Open(spool.Options{Home: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	r := hookRunner{&Mom{}, &life{spool: sp}}
	job := task.Task{Order: task.Order{Key: key, Attrs: task.Attrs{{Name: "exec_vnode", Value: "(a:ncpus=1:mem=1gb)+(b:ncpus=4+a:ncpus=2:mem=512mb)"}, {Name: "exec_host", Value: "a/0+b/0*0"}}}}
	want := map[string]string{"a": "3 1536mb", "b": "4 "}
	for _, v := range r.jobEvent(job, "execjob_begin").Vnodes {
		if got := v.Get("resources_assigned", "ncpus") + " " + v.Get("resources_assigned", "mem"); got != want[v.Name] {
			t.Errorf("%s has %s, want %s", v.Name, got, want[v.Name])
		}
		delete(want, v.Name)
	}
	if len(want) > 0 {
		t.Errorf("not there: %v", want)
	}
}

// Hooks of a job's first host find the exit status of its program when that has ended.
func TestHookRunner_ExitStatus(t *testing.T) {
	sp, err := spool.Open(spool.Options{Home: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	r := hookRunner{&Mom{}, &life{spool: sp}}
	for _, c := range []struct {
		name   string
		result *spool.Ended
		part   task.Part
		want   string
	}{
		{"running", nil, task.Part{}, ""},
		{"ended", &spool.Ended{ExitStatus: 4}, task.Part{}, "4"},
		{"killed", &spool.Ended{ExitStatus: 271}, task.Part{}, "271"},
		{"never started", &spool.Ended{ExitStatus: -3, NeverStarted: true}, task.Part{}, ""},
		{"sister", &spool.Ended{}, task.Part{Stage: task.PartRunning}, ""},
	} {
		job := task.Task{Order: task.Order{Key: spool.TaskKey{Job: "1.srv", Run: 2}}, Result: c.result, Part: c.part}
		if got := r.jobEvent(job, "execjob_epilogue").Job.Get("Exit_status", ""); got != c.want {
			t.Errorf("%s: Exit_status is %q, want %q", c.name, got, c.want)
		}
	}
}

// Hooks of a job's first host find the session of its program once it runs; a sister knows of none.
func TestHookRunner_Session(t *testing.T) {
	sp, err := spool.Open(spool.Options{Home: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	r := hookRunner{&Mom{}, &life{spool: sp}}
	for _, c := range []struct {
		name    string
		session int
		part    task.Part
		want    string
	}{
		{"before the start", 0, task.Part{}, ""},
		{"running", 77, task.Part{}, "77"},
		{"sister", 77, task.Part{Stage: task.PartRunning}, ""},
	} {
		job := task.Task{Order: task.Order{Key: spool.TaskKey{Job: "1.srv", Run: 1}}, Handle: proc.Handle{Session: c.session}, Part: c.part}
		if got := r.jobEvent(job, "execjob_epilogue").Job.Get("session_id", ""); got != c.want {
			t.Errorf("%s: session_id is %q, want %q", c.name, got, c.want)
		}
	}
}

// The substate is that of the event, not that in which the server has ordered the start.
func TestHookRunner_Substate(t *testing.T) {
	sp, err := spool.Open(spool.Options{Home: t.TempDir(), NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	r := hookRunner{&Mom{}, &life{spool: sp}}
	for _, c := range []struct {
		event string
		state task.State
		want  string
	}{
		{"execjob_begin", task.Starting, "R 41"},
		{"execjob_prologue", task.Starting, "R 41"},
		{"execjob_launch", task.Starting, "R 41"},
		{"execjob_launch", task.Running, "R 42"},
		{"execjob_attach", task.Running, "R 42"},
		{"execjob_resize", task.Running, "R 42"},
		{"execjob_preterm", task.Running, "R 42"},
		{"execjob_postsuspend", task.Running, "R 43"},
		{"execjob_preresume", task.Running, "R 43"},
		{"execjob_epilogue", task.Ending, "E 57"},
		{"execjob_end", task.Ending, "E 58"},
	} {
		job := task.Task{Order: task.Order{Key: spool.TaskKey{Job: "1.srv", Run: 1}, Attrs: task.Attrs{{Name: "job_state", Value: "R"}, {Name: "substate", Value: "41"}}}}
		job.Life.State = c.state
		if o := r.jobEvent(job, c.event).Job; o.Get("job_state", "")+" "+o.Get("substate", "") != c.want {
			t.Errorf("%s: %s %s, want %s", c.event, o.Get("job_state", ""), o.Get("substate", ""), c.want)
		}
	}
}
