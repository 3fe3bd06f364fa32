package service

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport/api"
)

// scripted is what hooks answer, and what they saw.
type scripted struct {
	answer func(e *hook.Event) *hook.Outcome

	mu   sync.Mutex // requests that come at once have hooks of their own
	seen []*hook.Event
}

func (s *scripted) Compile(_ context.Context, _ string, script []byte) error {
	if strings.Contains(string(script), "syntax") {
		return &hook.SyntaxError{Text: "a syntax error"}
	}
	return nil
}

func (s *scripted) Run(_ context.Context, _ *state.View, e *hook.Event) *hook.Outcome {
	s.mu.Lock()
	s.seen = append(s.seen, e)
	s.mu.Unlock()
	return s.answer(e)
}

func (s *scripted) last() *hook.Event { return s.seen[len(s.seen)-1] }

// hooked returns a bench with a hook at the events, and what runs it.
func hookedBench(t *testing.T, events string, answer func(e *hook.Event) *hook.Outcome) (*bench, *scripted) {
	b, s := newBench(t), &scripted{answer: answer}
	b.Batch.Hooks = s
	b.do(&command.ManageHook{Verb: command.VerbCreate, Name: "h1", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: events}}}},
		&command.ImportHook{Name: "h1", Kind: state.HookScript, Body: []byte("pass")})
	return b, s
}

func accepted(set map[string]string) *hook.Outcome {
	edits := &hook.Edits{Set: map[string]*string{}}
	for name, value := range set {
		edits.Set[name] = &value
	}
	return &hook.Outcome{Answer: hook.Answer{Accept: true, Job: edits}}
}

func rejected(message string) *hook.Outcome {
	return &hook.Outcome{Answer: hook.Answer{Message: message}, Rejected: &hook.Hook{Name: "h1"}}
}

func TestHooks_Queuejob(t *testing.T) {
	b, s := hookedBench(t, "queuejob", func(*hook.Event) *hook.Outcome {
		return accepted(map[string]string{"Job_Name": "other", "Resource_List.walltime": "60", "Priority": "5"})
	})
	j := b.job(b.mustSubmit("ann@login1", set("Job_Name", "mine")))
	if wall, _ := j.Resources.Get("walltime"); j.Name != "other" || wall != "00:01:00" || j.Priority != 5 {
		t.Errorf("queued as %s, %s, %d", j.Name, wall, j.Priority)
	}
	if e := s.seen[0]; e.Requestor != "ann" || e.RequestorHost != "login1" || e.Job.Get("Job_Name", "") != "mine" || e.Job.Get("queue", "") != "workq" {
		t.Errorf("the hook saw %+v", e)
	}
}

// A group that hooks name is the one under which the job runs, if its owner is in it (specification: breadth 1.16).
func TestHooks_GroupList(t *testing.T) {
	groups := "anns"
	b, _ := hookedBench(t, "queuejob,modifyjob", func(*hook.Event) *hook.Outcome { return accepted(map[string]string{"group_list": groups}) })
	id := b.mustSubmit("ann@login1")
	group := func() string { return b.store.View().JobAttribute(b.job(id), "egroup", "") }
	if got := group(); got != "anns" {
		t.Errorf("submitted under %s", got)
	}
	alter := func() error {
		_, err := b.Batch.Alter(b.as("ann@login1"), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("Priority", "5")}}, ""))
		return err
	}
	groups = "users"
	if err := alter(); err != nil || group() != "users" {
		t.Errorf("altered to %s, %v", group(), err)
	}
	groups = "wheel"
	if err := alter(); pbs.CodeOf(err) != badGroup || group() != "users" {
		t.Errorf("altered to %s, %v", group(), err)
	}
	if _, err := b.submit("ann@login1"); pbs.CodeOf(err) != badGroup {
		t.Errorf("submitted under a group that the owner is not in: %v", err)
	}
}

// What a job has by default is there for queuejob hooks to read, as in a PBS (specification: breadth 1.16).
func TestHooks_QueuejobDefaults(t *testing.T) {
	b, s := hookedBench(t, "queuejob", func(*hook.Event) *hook.Outcome { return accepted(nil) })
	b.mustSubmit("ann@login1", set("Mail_Points", "be"))
	for name, want := range map[string]string{
		"Priority": "0", "Rerunable": "True", "Hold_Types": "n", "Join_Path": "n", "Keep_Files": "n", "Mail_Points": "be", "Checkpoint": "u",
	} {
		if got := s.seen[0].Job.Get(name, ""); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A resource that is none is named, whatever stands around it (specification: breadth 2.19).
func TestSubmit_CarriageReturn(t *testing.T) {
	b := newBench(t)
	_, err := b.submit("ann@h", set("Job_Name", "x"), &api.Attribute{Name: "Resource_List", Resource: ":mem", Value: "1gb"})
	if err == nil || err.Error() != "Illegal attribute or resource value Resource_List.:mem" {
		t.Errorf("refused with %v", err)
	}
}

// A rejection is the refusal that the user reads, and the hooks are asked once.
func TestHooks_Reject(t *testing.T) {
	for message, want := range map[string]string{"no": "no", "": "queuejob request rejected by 'h1'", "a\nb": "a b"} {
		b, s := hookedBench(t, "queuejob", func(*hook.Event) *hook.Outcome { return rejected(message) })
		_, err := b.submit("ann@h", set("Job_Name", "x"))
		if pbs.CodeOf(err) != pbs.HookError || err.Error() != want || len(s.seen) != 1 || b.store.View().JobCount() != 0 {
			t.Errorf("%v, %d times asked, %d jobs", err, len(s.seen), b.store.View().JobCount())
		}
	}
	b, s := hookedBench(t, "queuejob,modifyjob", func(*hook.Event) *hook.Outcome { return accepted(map[string]string{"Priority": "much"}) })
	if _, err := b.submit("ann@h", set("Job_Name", "x")); pbs.CodeOf(err) != pbs.BadAttributeValue || len(s.seen) != 1 {
		t.Errorf("a value that cannot be: %v, %d times asked", err, len(s.seen))
	}
	s.answer = func(*hook.Event) *hook.Outcome { return accepted(nil) }
	id := b.mustSubmit("ann@h", set("Job_Name", "x"))
	s.seen, s.answer = nil, func(*hook.Event) *hook.Outcome { return accepted(map[string]string{"Resource_List.nosuch": "1"}) }
	if _, err := b.Batch.Alter(b.as("ann@h"), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("Job_Name", "y")}}, "")); err == nil || len(s.seen) != 1 {
		t.Errorf("a resource that is none: %v, %d times asked", err, len(s.seen))
	}
}

func TestHooks_ModifyjobAndManagement(t *testing.T) {
	b, s := hookedBench(t, "modifyjob,management,movejob", func(e *hook.Event) *hook.Outcome {
		if e.Event == "modifyjob" && e.Job.Get("Priority", "") == "1" {
			return accepted(map[string]string{"Priority": "2"})
		}
		return rejected("not so")
	})
	id := b.mustSubmit("ann@h", set("Job_Name", "x"))
	alter := func(value string) error {
		_, err := b.Batch.Alter(b.as("ann@h"), request(&api.AlterRequest{Job: string(id), Changes: []*api.Attribute{set("Priority", value)}}, ""))
		return err
	}
	if err := alter("1"); err != nil || b.job(id).Priority != 2 || s.seen[0].JobBefore.Get("Job_Name", "") != "x" {
		t.Errorf("altered with %v to %d", err, b.job(id).Priority)
	}
	if err := alter("3"); pbs.CodeOf(err) != pbs.HookError || b.job(id).Priority != 2 {
		t.Errorf("altered with %v to %d", err, b.job(id).Priority)
	}
	if _ = alter(""); slices.ContainsFunc(s.last().Job.Attrs, func(a hook.Attr) bool { return a[0] == "Priority" }) {
		t.Errorf("a hook sees a value of what is unset: %v", s.last().Job.Attrs)
	}
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("comment", "x")); err != nil {
		t.Errorf("a directive: %v", err)
	}
	if m := s.last().Management; m.Cmd != 2 || m.ObjType != 0 || m.ReplyCode != 0 || m.ReplyChoice != 1 || m.ReplyText != nil ||
		len(m.Attribs) != 1 || m.Attribs[0].Name != "comment" || m.Attribs[0].Value != "x" || m.RequestTime == 0 {
		t.Errorf("the hook saw %+v", m)
	}
	if err := b.manage(api.Verb_VERB_DELETE, api.ObjectKind_OBJECT_KIND_QUEUE, "none"); err == nil {
		t.Error("a queue that is not there is deleted")
	}
	if m := s.last().Management; m.Cmd != 1 || m.ObjType != 1 || m.ObjName != "none" || m.ReplyCode != int(pbs.UnknownQueue) || m.ReplyChoice != 7 || m.ReplyText == nil {
		t.Errorf("of a refusal the hook saw %+v", m)
	}
	asked := len(s.seen)
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_HOOK, "h1", set("order", "2")); err != nil || len(s.seen) != asked+1 || s.last().Management.ObjType != 8 {
		t.Errorf("of a hook: %v, %d hooks asked", err, len(s.seen)-asked)
	}
}

// Hooks of runjob may set what does not choose vnodes; what does has them chosen anew; those that
// refuse a start may only say how long it waits.
func TestRunjobChanges(t *testing.T) {
	b := newBench(t)
	j := b.job(b.mustSubmit("ann@h", set("Job_Name", "x")))
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		set      map[string]*string
		rejected bool
		want     string
		again    bool
	}{
		{map[string]*string{"project": text("p"), "Hold_Types": text("s")}, false, "project", false},
		{map[string]*string{"project": text("p"), "Hold_Types": text("s"), "Variable_List": text("A=1")}, true, "Hold_Types project", false},
		{map[string]*string{"Resource_List.ncpus": text("2"), "project": text("p")}, false, "Resource_List.ncpus project", true},
		{map[string]*string{"Resource_List.ncpus": text("1"), "project": text("p")}, false, "project", false},
	} {
		out := &hook.Outcome{Answer: hook.Answer{Job: &hook.Edits{Set: c.set}}}
		if c.rejected {
			out.Rejected = &hook.Hook{Name: "h"}
		}
		changes, again, err := RunjobChanges(b.store.View(), j, out)
		var names []string
		for _, ch := range changes {
			name := ch.Entry.Name
			if ch.Entry.Resource != "" {
				name += "." + ch.Entry.Resource
			}
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != c.want || again != c.again || err != nil {
			t.Errorf("changes %q, again %v, %v; want %q, %v", got, again, err, c.want, c.again)
		}
	}
}

// A start that hooks have accepted cannot be made one of which others have run first.
func TestRunjobChanges_RunOne(t *testing.T) {
	b := newBench(t)
	j := b.job(b.mustSubmit("ann@h"))
	for _, rejected := range []*hook.Hook{nil, {Name: "h"}} {
		depend := "afterany:7,runone:8"
		out := &hook.Outcome{Answer: hook.Answer{Job: &hook.Edits{Set: map[string]*string{"depend": &depend}}}, Rejected: rejected}
		_, _, err := RunjobChanges(b.store.View(), j, out)
		if want := "cannot modify job after runjob request has been accepted"; (rejected == nil) != (err != nil && err.Error() == want) {
			t.Errorf("rejected by %v: %v", rejected, err)
		}
	}
}

// HK-9, HK-4: nobody but root on a replica's host; what does not compile is not stored.
func TestHooks_WhoAndWhat(t *testing.T) {
	b, _ := hookedBench(t, "queuejob", nil)
	load := func(who, name string, kind api.HookFileKind, file, text string) error {
		_, err := b.Batch.ImportHook(b.as(who), request(&api.ImportHookRequest{Hook: name, Kind: kind, File: file, Content: []byte(text)}, ""))
		return err
	}
	script, config := api.HookFileKind_HOOK_FILE_KIND_SCRIPT, api.HookFileKind_HOOK_FILE_KIND_CONFIG
	root := "root@replica:s1"
	for _, c := range []struct {
		who, name string
		kind      api.HookFileKind
		file      string
		text      string
		want      string
	}{
		{"ann@h", "h1", script, "a.py", "pass", " is unauthorized to access hooks data from server srv"},
		{"boss@replica:s1", "h1", script, "a.py", "pass", " is unauthorized to access hooks data from server srv"},
		{"root@h", "h1", script, "a.py", "pass", " is unauthorized to access hooks data from server srv"},
		{root, "h2", script, "a.py", "pass", "h2 hook not found"},
		{root, "h1", script, "a.py", "syntax", "Failed to compile script, hook 'h1' contents not overwritten: a syntax error"},
		{root, "h1", config, "a.json", "{", "not overwritten"},
		{root, "h1", config, "a.xml", "<a>", "not overwritten"},
		{root, "h1", config, "a.ini", "x", "not overwritten"},
		{root, "h1", script, "a.py", strings.Repeat("#", command.MaxHookFile+1), "more than"},
		{root, "h1", config, "a.json", "{}", ""},
		{root, "h1", config, "a.ini", "[a]\nb = c\n", ""},
		{root, "h1", config, "a.conf", "{", ""},
		{root, "h1", script, "a.py", "pass", ""},
	} {
		err := load(c.who, c.name, c.kind, c.file, c.text)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s imports %s into %s: %v, want %q", c.who, c.file, c.name, err, c.want)
		}
	}
	if err := b.Batch.list(b.as("ann@h"), &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_HOOK}, func(r *api.ListReply) error {
		for _, o := range r.GetObjects() {
			if o.GetRefusal() == nil {
				t.Errorf("a user sees the hook %s", o.GetName())
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if _, err := b.Batch.ExportHook(b.as("ann@h"), connect.NewRequest(&api.ExportHookRequest{Hook: "h1", Kind: script})); pbs.CodeOf(err) != pbs.Unauthorized {
		t.Errorf("a user exports a hook: %v", err)
	}
}

// A job that hooks of postqueuejob have still to see is one for which its submission waits.
func TestHooks_SubmissionWaitsForPostqueuejob(t *testing.T) {
	b, _ := hookedBench(t, "postqueuejob", nil)
	b.do(&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}})
	var id pbs.JobID
	for j := range b.store.View().Jobs() {
		id = j.ID
	}
	if !b.store.View().IsNewToHooks(id) {
		t.Fatal("no hook has to see it")
	}
	var seqs []uint64
	for task := range b.store.View().HookTasks() {
		seqs = append(seqs, task.Seq)
	}
	b.do(&command.HookTasksDone{Seqs: seqs})
	if b.store.View().IsNewToHooks(id) {
		t.Error("the hooks have seen it")
	}
}

// A hook of movejob sends a job elsewhere; a queue that is none refuses the move.
func TestHooks_MovejobChoosesTheQueue(t *testing.T) {
	to := "third"
	b, s := hookedBench(t, "movejob", func(*hook.Event) *hook.Outcome { return accepted(map[string]string{"queue": to}) })
	for _, name := range []string{"other", "third"} {
		if err := b.manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_QUEUE, name,
			set("queue_type", "Execution"), set("enabled", "True"), set("started", "True")); err != nil {
			t.Fatal(err)
		}
	}
	id := b.mustSubmit("ann@h", set("Job_Name", "x"))
	move := func() error {
		_, err := b.Batch.Move(b.as("ann@h"), request(&api.MoveRequest{Job: string(id), Destination: "other"}, ""))
		return err
	}
	if err := move(); err != nil || b.job(id).Queue != "third" || s.last().Job.Get("queue", "") != "other" || s.last().SrcQueue != "workq" {
		t.Errorf("moved with %v into %s, the hook saw %+v", err, b.job(id).Queue, s.last())
	}
	for _, to = range []string{"none", "third@nosuch"} {
		s.seen = nil
		if err := move(); pbs.CodeOf(err) != pbs.UnknownQueue || b.job(id).Queue != "third" || len(s.seen) != 1 {
			t.Errorf("moved to %s with %v into %s, %d times asked", to, err, b.job(id).Queue, len(s.seen))
		}
	}
}
