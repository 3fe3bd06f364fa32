package command

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// hookChange is one NAME=VALUE, parsed as the services parse it.
func hookChange(t testing.TB, name, value string) (AttrChange, error) {
	t.Helper()
	def, ok := attr.Lookup(attr.Hook, name)
	if !ok {
		t.Fatalf("no attribute %s", name)
	}
	ch := AttrChange{Entry: attr.Entry{Name: name, Value: value}}
	if value == "" {
		ch.Op = OpUnset
		return ch, nil
	}
	var err error
	ch.Entry.Value, err = def.Parse(value)
	return ch, err
}

func (w *writer) hook(name string, settings ...string) error {
	w.t.Helper()
	return w.hookVerb(VerbCreate, name, settings...)
}

func (w *writer) hookVerb(verb Verb, name string, settings ...string) error {
	w.t.Helper()
	c := &ManageHook{Verb: verb, Name: name}
	for _, s := range settings {
		attribute, value, _ := strings.Cut(s, "=")
		ch, err := hookChange(w.t, attribute, value)
		if err != nil {
			return err
		}
		c.Changes = append(c.Changes, ch)
	}
	return w.run(c)
}

func (w *writer) hookText(name string) string {
	h, ok := w.View().Hook(name)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, e := range state.HookAttributes(h) {
		b.WriteString(e.Name + " = " + e.Value + "\n")
	}
	return b.String()
}

// HK-2: the attributes of a new hook, in their order.
func TestHook_Defaults(t *testing.T) {
	w := newWriter(t)
	if err := w.hook("h1", "event=execjob_epilogue"); err != nil {
		t.Fatal(err)
	}
	want := "type = site\nenabled = true\nevent = execjob_epilogue\nuser = pbsadmin\nalarm = 30\norder = 1\ndebug = false\nfail_action = none\n"
	if got := w.hookText("h1"); got != want {
		t.Errorf("listed as\n%swant\n%s", got, want)
	}
	if err := w.hook("p", "event=exechost_periodic"); err != nil || !strings.Contains(w.hookText("p"), "alarm = 30\nfreq = 120\norder = 1\n") {
		t.Errorf("a periodic hook, %v:\n%s", err, w.hookText("p"))
	}
	if err := w.hook("n"); err != nil || !strings.Contains(w.hookText("n"), `event = ""`) {
		t.Errorf("a hook without events, %v:\n%s", err, w.hookText("n"))
	}
}

// HK-3: each refusal has its text, and nothing changes.
func TestHook_Refusals(t *testing.T) {
	w := newWriter(t)
	if err := w.hook("h1", "event=execjob_epilogue"); err != nil {
		t.Fatal(err)
	}
	before := w.hookText("h1")
	for setting, want := range map[string]string{
		"order=0":                       "order given (0) is outside the acceptable range of [1, 1000] for type 'site'.",
		"order=-1001":                   "order given (-1001) is outside the acceptable range of [1, 1000] for type 'site'.",
		"order=1001":                    "order given (1001) is outside the acceptable range of [1, 1000] for type 'site'.",
		"alarm=0":                       "alarm value '0' of a hook must be > 0",
		"user=joe":                      "user value of a hook must be pbsadmin,pbsuser",
		"event=queuejob,provision":      "invalid argument (queuejob,provision) to event: no hook runs at provision",
		"event=provision":               "no hook runs at provision",
		"event=nonsense":                "invalid argument (nonsense) to event. Should be one or more of:",
		"enabled=maybe":                 "unexpected value 'maybe', must be (not case sensitive)",
		"debug=2":                       "unexpected value '2', must be (not case sensitive)",
		"fail_action=x":                 "fail_action value of a hook must be",
		"fail_action=offline_vnodes":    "Can't set hook fail_action value to 'offline_vnodes'",
		"freq=5":                        "Can't set hook freq value: hook event must contain at least",
		"freq=0":                        "set_hook_freq: freq value '0' of a hook must be > 0",
		"type=nothing":                  "invalid argument to type, must be",
		"event=execjob_begin,user=user": "",
	} {
		if want == "" {
			continue
		}
		err := w.hookVerb(VerbSet, "h1", setting)
		if pbs.CodeOf(err) != pbs.HookError || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", setting, err, want)
		}
	}
	if err := w.hookVerb(VerbSet, "h1", "event=queuejob", "user=pbsuser"); err == nil || !strings.Contains(err.Error(), "Can't set hook user value to 'pbsuser': hook event must contain at least") {
		t.Errorf("pbsuser at a server's event: %v", err)
	}
	if got := w.hookText("h1"); got != before {
		t.Errorf("changed to\n%s", got)
	}
	for name, want := range map[string]string{"h1": "already registered", "PBS_x": "reserved", "pbs2": "reserved", "a/b": "letters", "": "letters"} {
		if err := w.hook(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("create %q: %v", name, err)
		}
	}
	for _, verb := range []Verb{VerbSet, VerbUnset, VerbDelete} {
		if err := w.hookVerb(verb, "h2"); err == nil || !strings.Contains(err.Error(), "hook not found") {
			t.Errorf("verb %d of an unknown hook: %v", verb, err)
		}
	}
	if err := w.hookVerb(VerbSet, state.Cgroups, "enabled=true"); err == nil {
		t.Error("a built-in hook was changed as a site hook")
	}
}

func TestHook_EventsAddAndTakeAway(t *testing.T) {
	w := newWriter(t)
	if err := w.hook("h1", "event=queuejob"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		op    Op
		value string
		want  string
	}{
		{OpIncrease, "modifyjob", "queuejob,modifyjob"},
		{OpDecrease, "queuejob", "modifyjob"},
		{OpDecrease, "modifyjob", ""},
		{OpSet, "execjob_begin,execjob_end", "execjob_begin,execjob_end"},
		{OpUnset, "", ""},
	} {
		w.must(&ManageHook{Verb: VerbSet, Name: "h1", Changes: []AttrChange{{Op: step.op, Entry: attr.Entry{Name: "event", Value: step.value}}}})
		if h, _ := w.View().Hook("h1"); h.Get("event") != step.want {
			t.Fatalf("after %d %s: %q, want %q", step.op, step.value, h.Get("event"), step.want)
		}
	}
}

// The scripts decide at which events hooks run, and in which order.
func TestHook_RunsInOrder(t *testing.T) {
	w := newWriter(t)
	for _, s := range [][]string{{"second", "order=2"}, {"first", "order=-1"}, {"third", "order=2"}, {"off", "enabled=false"}} {
		if err := w.hook(s[0], "event=queuejob", s[1]); err != nil {
			t.Fatal(err)
		}
	}
	if w.View().HasHooksAt("queuejob") {
		t.Error("hooks without a script run")
	}
	for _, name := range []string{"second", "first", "third", "off"} {
		w.must(&ImportHook{Name: name, Kind: state.HookScript, Body: []byte("pass")})
	}
	var names []string
	for _, h := range w.View().HooksAt("queuejob") {
		names = append(names, h.Name)
	}
	if want := []string{"first", "second", "third"}; !reflect.DeepEqual(names, want) || !w.View().HasHooksAt("queuejob") || w.View().HasHooksAt("modifyjob") {
		t.Errorf("hooks run as %v, want %v", names, want)
	}
	w.must(&ManageHook{Verb: VerbDelete, Name: "first"})
	if _, ok := w.View().HookFile("first", state.HookScript); ok {
		t.Error("a deleted hook left its script")
	}
}

// What moms have to know has a generation; what only the servers know has none.
func TestHook_MomsAreTold(t *testing.T) {
	w := newWriter(t)
	gen := func() uint64 { return w.View().Cluster().HookGeneration }
	fresh := gen()
	_ = w.hook("s", "event=queuejob")
	if fresh == 0 || gen() != fresh {
		t.Error("moms of a new cluster are told nothing, or of a server's hook")
	}
	_ = w.hook("m", "event=execjob_begin")
	first := gen()
	w.must(&ImportHook{Name: "m", Kind: state.HookScript, Body: []byte("pass")})
	second := gen()
	w.must(&ManageResource{Verb: VerbCreate, Name: "foo"})
	if first <= fresh || second <= first || gen() <= second {
		t.Errorf("generations %d, %d, %d", first, second, gen())
	}
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s"})
	told := func() uint64 { h, _ := w.View().Host("a"); return h.Hooks }
	w.must(&HooksTold{Host: "a", Registered: 0, Generation: gen()})
	if told() != 0 {
		t.Error("word of an earlier registration counts")
	}
	w.must(&HooksTold{Host: "a", Registered: 1, Generation: gen()})
	if told() != gen() {
		t.Error("word of the mom does not count")
	}
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s"})
	if told() != 0 {
		t.Error("a mom that registers again is not told again")
	}
}

// Hooks that run after the commit wait in the state, so that the next leader runs them.
func TestHook_TasksOfCommittedEvents(t *testing.T) {
	w := newWriter(t)
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
	_ = w.hook("h", "event=postqueuejob")
	w.must(&ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "a"}})
	var tasks []*state.HookTask
	for task := range w.View().HookTasks() {
		tasks = append(tasks, task)
	}
	if len(tasks) != 1 || tasks[0].Job != "1.srv" || tasks[0].Event != "postqueuejob" {
		t.Fatalf("tasks %+v", tasks)
	}
	if !w.View().IsNewToHooks("1.srv") || w.View().IsNewToHooks("0.srv") {
		t.Error("the hooks have another job to see")
	}
	w.must(&HookTasksDone{Seqs: []uint64{tasks[0].Seq}})
	if w.View().IsNewToHooks("1.srv") {
		t.Error("the hooks have seen the job")
	}
	for range w.View().HookTasks() {
		t.Error("the task is still there")
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// The hooks of jobobit hear of the end of each run, those of one which is put back into the queue, checkpointed or not, too, as it was.
func TestHook_JobobitOfEachRun(t *testing.T) {
	w := hookedHosts(t)
	w.must(&ManageHook{Verb: VerbCreate, Name: "h", Changes: settings("event=jobobit")})
	w.must(&ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
	id := w.running("a")
	w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 1}, Job: id, RunCount: 1, Session: 7})
	w.must(&RerunJob{Job: id})
	w.must(&JobEnded{Source: Source{Host: "a", Spool: "s", Seq: 2}, Job: id, RunCount: 1, ExitStatus: pbs.ExitRerun})
	w.must(&StartJob{Job: id, ExecVnode: "(a:ncpus=1)"})
	w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 3}, Job: id, RunCount: 2, Session: 8})
	w.must(&CheckpointJob{Job: id})
	w.must(&JobEnded{Source: Source{Host: "a", Spool: "s", Seq: 4}, Job: id, RunCount: 2, ExitStatus: -12, Checkpointed: true})
	var seen []string
	for task := range w.View().HookTasks() {
		text := task.Event
		for _, e := range task.Attrs {
			if slices.Contains([]string{"exec_vnode", "run_count"}, e.Name) {
				text += " " + e.Value
			}
		}
		seen = append(seen, text)
	}
	if j, _ := w.View().Job(id); j.State != pbs.Queued || !slices.Equal(seen, []string{"jobobit (a:ncpus=1) 1", "jobobit (a:ncpus=1) 2"}) {
		t.Errorf("it is %s, and hooks see %q", j.State.Letter(), seen)
	}
}

// What hooks on a mom want: of its own vnodes it is done, of others refused (HK-1).
func TestHookWishes(t *testing.T) {
	w := newWriter(t)
	for _, host := range []pbs.HostName{"a", "b"} {
		w.must(&HostUp{Host: host, Address: string(host) + ":1", SpoolID: "s", Vnodes: []ReportedVnode{{
			Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "2"}},
		}}})
	}
	set := attr.List{}.Set("state", "", "offline").Set("resources_available", "ncpus", "17").Set("pcpus", "", "7").
		Set("comment", "", "by hook").Set("sharing", "", "force_excl").Set("resources_available", "foo_i", "7")
	wish := func(host pbs.HostName, seq uint64) *HookWishes {
		return &HookWishes{Source: Source{Host: host, Spool: "s", Seq: seq}, Hook: "p", Vnodes: []HookVnode{
			{Name: pbs.VnodeName(host), Set: set, Types: attr.List{{Name: "foo_i", Value: "long"}}},
			{Name: "aspasia", Set: attr.List{}.Set("resources_available", "mem", "300gb")},
		}}
	}
	w.index++
	_, events := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{wish("a", 1)}}}})
	w.Publish()
	var told []string
	for _, e := range events {
		if e.Kind == state.HookVnodeChanged {
			told = append(told, e.Object+";"+e.Text)
		}
	}
	for _, want := range []string{
		"a;autocreated vnode aspasia", "a;Updated vnode aspasia's resource resources_available.mem=300gb per mom hook request",
		"a;Updated vnode a's attribute comment=by hook per mom hook request",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("the log has %q, not %q", told, want)
		}
	}
	w.must(wish("b", 1))
	w.must(wish("b", 1)) // a repeat
	v := w.View()
	for _, name := range []pbs.VnodeName{"a", "b"} {
		vn, _ := v.Vnode(name)
		n, _ := vn.Available().Get("ncpus")
		foo, _ := vn.Available().Get("foo_i")
		if n != "17" || foo != "7" || vn.State() != "offline" || vn.Comment != "by hook" || vn.SharingText() != "force_excl" {
			t.Errorf("%s: %+v", name, vn)
		}
	}
	if def, ok := v.Resource("foo_i"); !ok || def.Type != resource.Long {
		t.Errorf("resource %+v", def)
	}
	if vn, ok := v.Vnode("aspasia"); !ok || vn.Host != "a" || !slices.Equal(vn.Available(), resource.List{{Name: "host", Value: "a"}, {Name: "mem", Value: "300gb"}, {Name: "vnode", Value: "aspasia"}}) {
		t.Errorf("aspasia: %+v", vn)
	}
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a"}}})
	if vn, _ := w.View().Vnode("aspasia"); vn.State() != "free" {
		t.Errorf("a vnode that a hook has made is %s after the mom has registered again", vn.State())
	}
	w.must(&HookWishes{Source: Source{Host: "b", Spool: "s", Seq: 2}, Hook: "p", Offline: "offlined by hook 'p' due to hook error"})
	w.must(&HookWishes{Source: Source{Host: "b", Spool: "s", Seq: 3}, Hook: "p", Clear: "offlined by hook 'p' due to hook error"})
	if vn, _ := w.View().Vnode("b"); vn.State() != "free" || vn.Comment != "" {
		t.Errorf("a vnode that was cleared is %s, %q", vn.State(), vn.Comment)
	}
}

// Hooks on the moms of a run may set what the specification names, and nothing else; holds count
// when the job is queued again.
func TestHookWishes_Jobs(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "2"}}}}})
	w.must(&HostUp{Host: "b", Address: "b:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "b", Available: resource.List{{Name: "ncpus", Value: "2"}}}}})
	id := w.running("a")
	j, _ := w.View().Job(id)
	set := attr.List{}.Set("Hold_Types", "", "s").Set("Priority", "", "7").Set("comment", "", "set by a hook").Set("Account_Name", "", "acc").
		Set("Job_Name", "", "not").Set("run_count", "", "0").Set("Execution_Time", "", "rubbish")
	wish := func(host pbs.HostName, seq uint64, run pbs.RunCount) *HookWishes {
		return &HookWishes{Source: Source{Host: host, Spool: "s", Seq: seq}, Hook: "p", Jobs: []HookJob{{Job: id, RunCount: run, Set: set, Unset: []string{"Variable_List", "euser"}}}}
	}
	w.must(wish("b", 1, j.RunCount)) // it has no part in the run
	w.must(wish("a", 1, j.RunCount+1))
	if j, _ := w.View().Job(id); j.Priority != 0 || j.Holds != 0 {
		t.Errorf("another host, or another run: %+v", j)
	}
	w.must(wish("a", 2, j.RunCount))
	j, _ = w.View().Job(id)
	if account, _ := j.Attrs.Get("Account_Name", ""); j.Priority != 7 || j.Comment != "set by a hook" || account != "acc" ||
		j.Name == "not" || j.RunCount != 1 || j.Runs() != 0 || j.State != pbs.Running || j.ExecAt != 0 {
		t.Errorf("set by a hook: %+v", j)
	}
	again := &HookWishes{Source: Source{Host: "a", Spool: "s", Seq: 3}, Hook: "p", Rerun: []ReportedTask{{Job: id, RunCount: j.RunCount}}}
	asked := w.asked(again)
	if len(asked) != 1 || asked[0] != "root@a" {
		t.Errorf("queued again at the wish of %q", asked)
	}
	w.must(&JobEnded{Source: Source{Host: "a", Spool: "s", Seq: 4}, Job: id, RunCount: j.RunCount, ExitStatus: -3, NeverStarted: true})
	if j, _ := w.View().Job(id); j.State != pbs.Held || j.Holds != pbs.HoldSystem {
		t.Errorf("after the run: %s, holds %v", j.State, j.Holds)
	}
	if err := w.View().Check(); err != nil {
		t.Error(err)
	}
}

// A job that a hook of one of its hosts does not let go on is suspended again, once; one that gives vnodes back meanwhile goes on.
func TestHookWishes_Stopped(t *testing.T) {
	for _, releases := range []bool{false, true} {
		w := newWriter(t)
		for _, host := range []string{"a", "b"} {
			w.must(&HostUp{Host: pbs.HostName(host), Address: host + ":1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: pbs.VnodeName(host), Available: resource.List{{Name: "ncpus", Value: "2"}}}}})
		}
		id := w.submit(attr.List{}.Set("Resource_List", "select", "2:ncpus=1").Set("Resource_List", "place", "scatter"))
		w.must(&StartJob{Job: id, ExecVnode: "(a:ncpus=1)+(b:ncpus=1)"})
		j, _ := w.View().Job(id)
		w.must(&JobStarted{Source: Source{Host: "a", Spool: "s", Seq: 1}, Job: id, RunCount: j.RunCount, Session: 7})
		signals := func() (all []string) {
			for o := range w.View().Orders("a") {
				if o.Kind == state.OrderSignal {
					all = append(all, o.Signal)
				}
			}
			return all
		}
		wish := func(host pbs.HostName, seq uint64, run pbs.RunCount) *HookWishes {
			return &HookWishes{Source: Source{Host: host, Spool: "s", Seq: seq}, Hook: "p", Stopped: []ReportedTask{{Job: id, RunCount: run}}, Why: "not now"}
		}
		want := Suspend
		if releases {
			w.must(&ReleaseNodes{Job: id, Vnodes: []string{"b"}})
			want = "CONT"
		}
		w.must(wish("a", 2, j.RunCount+1))
		if got := signals(); len(got) != 0 {
			t.Errorf("of another run: %q", got)
		}
		if by := w.asked(wish("b", 1, j.RunCount)); !slices.Equal(by, []string{"root@b"}) {
			t.Errorf("signaled by %q", by)
		}
		if got := signals(); !slices.Equal(got, []string{want}) {
			t.Errorf("releases: %t, signals %q", releases, got)
		}
		if releases {
			continue
		}
		w.must(wish("a", 3, j.RunCount))
		j, _ = w.View().Job(id)
		if got := signals(); len(got) != 1 || j.Comment != "Not resumed: not now" {
			t.Errorf("signals %q, comment %q", got, j.Comment)
		}
		for o := range w.View().Orders("a") {
			if o.Kind == state.OrderSignal {
				w.must(&OrderConfirmed{Host: "a", Order: o.ID})
				break
			}
		}
		w.must(&SignalJob{Job: id, Signal: Resume})
		w.must(&SignalJob{Job: id, Signal: Resume, Scheduled: true})
		if j, _ = w.View().Job(id); j.Substate != pbs.SubRunning || j.Comment != "" {
			t.Errorf("resumed: substate %d, comment %q", j.Substate, j.Comment)
		}
		if err := w.View().Check(); err != nil {
			t.Error(err)
		}
	}
}

// A hook on a mom may have a scheduling cycle begin, which any commit does; the log tells which hook has.
func TestHookWishes_RestartsTheCycle(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a"}}})
	before := w.View().Index()
	w.index++
	_, events := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{
		&HookWishes{Source: Source{Host: "a", Spool: "s", Seq: 1}, Hook: "p", Restart: true},
	}}}})
	w.Publish()
	want := "hook 'p' requested for scheduler to restart cycle"
	if !slices.ContainsFunc(events, func(e state.Event) bool {
		return e.Kind == state.HookAsked && e.Object == "a" && e.Text == want
	}) {
		t.Errorf("events %+v", events)
	}
	if w.View().Index() == before {
		t.Error("nothing for the scheduler to see")
	}
}

// asked runs a command and returns who has asked for the ends that it causes.
func (w *writer) asked(c Command) (by []string) {
	w.t.Helper()
	w.index++
	out, events := Run(w.Store, w.index, 1, Entry{Time: pbs.Time(w.index), Proposals: []Proposal{{Commands: []Command{c}}}})
	w.Publish()
	if err := out[0].Err(); err != nil {
		w.t.Fatal(err)
	}
	for _, e := range events {
		if e.Kind == state.JobDeleteAsked || e.Kind == state.JobRerunAsked || e.Kind == state.JobSignaled {
			by = append(by, e.By.String())
		}
	}
	return by
}

// What a hook on a mom has deleted is deleted by root of that host, in the record, too (specification: hooks section 5).
func TestHookWishes_DeletedByRoot(t *testing.T) {
	w := newWriter(t)
	w.must(&HostUp{Host: "a", Address: "a:1", SpoolID: "s", Vnodes: []ReportedVnode{{Name: "a", Available: resource.List{{Name: "ncpus", Value: "1"}}}}})
	id := pbs.NewJobID(w.View().Cluster().NextJob, "srv")
	w.must(&SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
	w.must(&StartJob{Job: id, ExecVnode: "(a:ncpus=1)"})
	asked := w.asked(&HookWishes{Source: Source{Host: "a", Spool: "s", Seq: 1}, Hook: "p", Delete: []ReportedTask{{Job: id, RunCount: 1}}})
	if len(asked) != 1 || asked[0] != "root@a" {
		t.Errorf("deleted at the wish of %q", asked)
	}
}
