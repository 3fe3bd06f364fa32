package hook

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rampart/fsm/pbs"
)

// A script that fails is logged as PBS does: the class and the text of the exception, and where in
// the script it came from; then that the hook has failed.
func TestNotes_Traceback(t *testing.T) {
	r := newTestRuntime(t)
	run := Run{Hook: Hook{Name: "h1", Attrs: map[string]string{"alarm": "20"}}, Script: []byte("import pbs\ndef f():\n    raise ValueError('bang')\nf()\n"), Path: "/hooks/h1.PY", Dir: t.TempDir()}
	out := r.Sequence(t.Context(), []Run{run}, queue(), false)
	var faults, verdicts []string
	for _, n := range out.Notes {
		switch n.Kind {
		case NoteFault:
			faults = append(faults, strings.TrimPrefix(n.Text, "PBS server internal error (15011) in Error evaluating Python script, "))
		case NoteVerdict:
			verdicts = append(verdicts, n.Object+": "+n.Text)
		}
	}
	want := []string{
		"<class 'ValueError'>", "bang", "Traceback (most recent call last):",
		`  File "/hooks/h1.PY", line 4, in <module>`, `  File "/hooks/h1.PY", line 3, in f`,
	}
	if !slices.Equal(faults, want) {
		t.Errorf("faults %q", faults)
	}
	if want := []string{"h1: queuejob hook 'h1' encountered an exception, request rejected", "h1: queuejob request rejected by 'h1'"}; !slices.Equal(verdicts, want) {
		t.Errorf("verdicts %q", verdicts)
	}
}

// What ends a hook is told by its name, also where the event goes on regardless.
func TestNotes_Verdicts(t *testing.T) {
	for _, c := range []struct {
		answer Answer
		event  string
		want   []string
	}{
		{Answer{Accept: true}, "queuejob", nil},
		{Answer{Message: "not now"}, "execjob_epilogue", []string{"h1 execjob_epilogue request rejected by 'h1'", "h1 not now"}},
		{
			Answer{Failure: "alarm", TimedOut: true},
			"exechost_periodic",
			[]string{
				"h1 alarm call while running exechost_periodic hook 'h1', request rejected",
				"h1 Non-zero exit status 253 encountered for periodic hook", "h1 exechost_periodic request rejected by 'h1'",
			},
		},
		{Answer{Failure: "gone"}, "execjob_end", []string{
			"h1 hook 'h1' failed: gone", "h1 execjob_end hook 'h1' encountered an exception, request rejected", "h1 execjob_end request rejected by 'h1'",
		}},
	} {
		do := func(context.Context, Run) (*Answer, error) { a := c.answer; return &a, nil }
		out := sequence(t.Context(), do, []Run{{Hook: Hook{Name: "h1"}}}, &Event{Event: c.event}, true)
		var got []string
		for _, n := range out.Notes {
			if n.Kind != NotePerf {
				got = append(got, n.Object+" "+n.Text)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c.answer, got)
		}
	}
}

// How long a hook took is told of its script and of all that the daemon did for it, whatever came of it.
func TestNotes_Perf(t *testing.T) {
	r := newTestRuntime(t)
	number := `([0-9]+\.[0-9]{6})`
	for _, mom := range []bool{false, true} {
		e, by := queue(), "server_process_hooks"
		if e.Mom = mom; mom {
			by = "mom_process_hooks"
		}
		script := "import pbs, time\nuntil = time.process_time() + 0.02\nwhile time.process_time() < until: pass\npbs.event().reject('no')\n"
		out := r.Sequence(t.Context(), []Run{{Hook: Hook{Name: "h1", Attrs: map[string]string{"alarm": "20"}}, Script: []byte(script), Dir: t.TempDir()}}, e, false)
		var said []string
		for _, n := range out.Notes {
			if n.Kind == NotePerf && n.Object == "hook_perf_stat" {
				said = append(said, n.Text)
			}
		}
		label := `label=hook_queuejob_h1_[0-9]+ action=`
		found := regexp.MustCompile(`^` + label + by + ` profile_start\n` + label + `run_code profile_start\n` +
			label + `run_code walltime=` + number + ` cputime=` + number + ` profile_stop\n` +
			label + by + ` walltime=` + number + ` cputime=` + number + ` profile_stop$`).FindStringSubmatch(strings.Join(said, "\n"))
		if found == nil {
			t.Errorf("the log has %q", said)
			continue
		}
		var took [4]float64
		for i := range took {
			took[i], _ = strconv.ParseFloat(found[i+1], 64)
		}
		if took[0] < 0.019 || took[1] < 0.019 || took[2] < took[0] || took[3] != took[1] {
			t.Errorf("it took %v", took)
		}
	}
}

// A hook finds the constants where scripts for PBS import them from.
func TestRuntime_ImportsIfl(t *testing.T) {
	_, lines := try(t, newTestRuntime(t), queue(), `import pbs, pbs_ifl
pbs.logmsg(pbs.EVENT_DEBUG, str(pbs_ifl.MGR_OBJ_HOOK))
for word in "nodefailrq", "resv_start", "NODE_Mom", "aclResvuren", "routedest", "maxgrprunsoft", "v", "SchedSelect":
    name = "ATTR_" + word
    assert getattr(pbs, name) == getattr(pbs_ifl, name)
    pbs.logmsg(pbs.EVENT_DEBUG, getattr(pbs, name))
pbs.logmsg(pbs.EVENT_DEBUG, pbs.REVERSE_RESV_STATE[pbs.RESV_STATE_BEING_ALTERED])
`)
	if want := strings.Fields("8 node_fail_requeue reserve_start Mom acl_resv_user_enable route_destinations max_group_run_soft Variable_List schedselect RESV_STATE_BEING_ALTERED"); !slices.Equal(lines, want) {
		t.Errorf("logged %q", lines)
	}
}

// Every error of PBS's that this server refuses with has its name in both modules, once.
func TestRuntime_NamesErrors(t *testing.T) {
	var numbers []string
	for n := pbs.UnknownJob; n <= pbs.DefaultPartition; n++ {
		if !strings.HasPrefix(n.Text(), "error ") && (n < pbs.NotAccountHolder || n > pbs.NoServer) {
			numbers = append(numbers, strconv.Itoa(int(n)))
		}
	}
	_, lines := try(t, newTestRuntime(t), queue(), `import pbs, pbs_ifl
found = {}
for name in dir(pbs):
    if name.startswith("PBSE_"):
        assert getattr(pbs, name) == getattr(pbs_ifl, name)
        found.setdefault(getattr(pbs, name), []).append(name)
for number in (`+strings.Join(numbers, ", ")+`):
    if len(found.get(number, [])) != 1:
        pbs.logmsg(pbs.EVENT_DEBUG, str(number))
pbs.logmsg(pbs.EVENT_DEBUG, "%d %d %d %d %d %d" % (pbs.PBSE_NONE, pbs.PBSE_UNKJOBID, pbs.PBSE_BADSTATE, pbs.PBSE_HISTJOBID, pbs.PBSE_HOOK_REJECT, pbs.PBSE_JOBNBIG))
`)
	if want := []string{"0 15001 15016 15139 15169 15173"}; !slices.Equal(lines, want) {
		t.Errorf("not named once each: %q, want %q", lines, want)
	}
}

// The state of a vnode is bits, the same as in the log of the server, and hooks take it apart; a duration that is written in seconds is one as well.
func TestRuntime_VnodeStates(t *testing.T) {
	vn := func(name, state string) Object { return Object{Name: name, Attrs: []Attr{{"state", "", state}}} }
	e := &Event{Event: "modifyvnode", Vnode: new(vn("a", "down,offline,job-exclusive,busy")), VnodeOld: new(vn("a", "free"))}
	_, lines := try(t, newTestRuntime(t), e, `import pbs
e = pbs.event()
for v in e.vnode, e.vnode_o:
    pbs.logmsg(pbs.EVENT_DEBUG, "%s %s %s" % (hex(v.state), ",".join(sorted(v.extract_state_strs())), sum(v.extract_state_ints()) == v.state))
pbs.logmsg(pbs.EVENT_DEBUG, " ".join("%s=%d" % (name, bit) for name, bit in sorted((name, bit) for bit, name in pbs.REVERSE_NODE_STATE.items() if getattr(pbs, name) == bit)))
pbs.logmsg(pbs.EVENT_DEBUG, type(pbs._types._seconds(5)).__name__)
`)
	const states = "ND_STATE_BUSY=128 ND_STATE_DELETED=4 ND_STATE_DOWN=2 ND_STATE_FREE=0 ND_STATE_INIT=1024 ND_STATE_JOB=16 ND_STATE_JOBEXCL=64 " +
		"ND_STATE_MAINTENANCE=131072 ND_STATE_MARKEDDOWN=32768 ND_STATE_NEEDS_HELLOSVR=512 ND_STATE_NEED_ADDRS=65536 ND_STATE_NEED_CREDENTIALS=524288 " +
		"ND_STATE_OFFLINE=1 ND_STATE_OFFLINE_BY_MOM=16384 ND_STATE_PROV=2048 ND_STATE_RESVEXCL=8192 ND_STATE_SLEEP=262144 ND_STATE_STALE=32 " +
		"ND_STATE_UNKNOWN=256 ND_STATE_UNRESOLVABLE=8 ND_STATE_VNODE_AVAILABLE=8400 ND_STATE_VNODE_UNAVAILABLE=409903 ND_STATE_WAIT_PROV=4096"
	want := []string{"0xc3 ND_STATE_BUSY,ND_STATE_DOWN,ND_STATE_JOBEXCL,ND_STATE_OFFLINE True", "0x0 ND_STATE_FREE True"}
	if len(lines) != 4 || !slices.Equal(lines[:2], want) || lines[2] != states || lines[3] != "duration" {
		t.Errorf("logged %q", lines)
	}
}
