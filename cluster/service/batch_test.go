package service

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/api"
)

func TestSubmit(t *testing.T) {
	b := newBench(t)
	id := b.mustSubmit("ann@login1", set("Job_Name", "run1"), set("Resource_List.select", "2:ncpus=2"), set("group_list", "anns@login1,users"))
	j := b.job(id)
	get := func(name, res string) string { return b.store.View().JobAttribute(j, name, res) }
	for name, want := range map[string]string{
		"Job_Owner": "ann@login1", "euser": "ann", "egroup": "anns", "Submit_Host": "login1", "queue": "workq",
		"Variable_List": "PBS_O_QUEUE=workq,PBS_O_HOST=login1",
	} {
		if got := get(name, ""); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := get("Resource_List", "ncpus"); got != "4" {
		t.Errorf("Resource_List.ncpus is %q", got)
	}
}

func TestSubmit_Refusals(t *testing.T) {
	cases := []struct {
		name, who string
		attribute *api.Attribute
		want      pbs.Code
		message   string
	}{
		{"unknown attribute", "ann@h", set("nosuch", "1"), pbs.UndefinedAttribute, "Undefined attribute "},
		{"read only", "ann@h", set("exec_host", "h/0"), pbs.ReadOnlyAttribute, ""},
		{"unknown resource", "ann@h", set("Resource_List.nosuch", "1"), pbs.UnknownResource, "Unknown resource Resource_List.nosuch"},
		{"bad value", "ann@h", set("Resource_List.ncpus", "abc"), pbs.BadAttributeValue, "Illegal attribute or resource value Resource_List.ncpus"},
		{"bad select", "ann@h", set("Resource_List.select", "1:ncpus=1+"), pbs.BadAttributeValue, "Illegal attribute or resource value Resource_List.select"},
		{"unknown resource in select", "ann@h", set("Resource_List.select", "1:nosuch=1"), pbs.UnknownResource, "Unknown resource: nosuch"},
		{"binary name", "ann@h", set("Job_Name", "a\x00b"), pbs.BadAttributeValue, ""},
		{"foreign group", "ann@h", set("group_list", "wheel"), badGroup, ""},
		{"no account", "ghost@h", set("Job_Name", "x"), pbs.NotAccountHolder, ""},
		{"root", "root@h", set("Job_Name", "x"), pbs.BadUser, ""},
		{"root by another name", "toor@h", set("Job_Name", "x"), pbs.BadUser, ""},
		{"system hold by a user", "ann@h", set("Hold_Types", "s"), pbs.Unauthorized, ""},
	}
	b := newBench(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.submit(c.who, c.attribute)
			if pbs.CodeOf(err) != c.want || (c.message != "" && err.Error() != c.message) {
				t.Errorf("refused with %d %v, want %d %q", pbs.CodeOf(err), err, c.want, c.message)
			}
		})
	}
	if n := b.store.View().JobCount(); n != 0 {
		t.Errorf("%d jobs were queued", n)
	}
	if _, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: make([]byte, pbs.MaxScript+1)}, "")); pbs.CodeOf(err) != pbs.ScriptOverLimit {
		t.Errorf("a script too large: %v", err)
	}
	if _, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Destination: "nosuch"}, "")); pbs.CodeOf(err) != pbs.UnknownQueue {
		t.Errorf("an unknown queue: %v", err)
	}
}

// TestSubmit_UserList: who is named for other servers' hosts is nobody's concern here, and a host of the server counts more than none.
func TestSubmit_UserList(t *testing.T) {
	b := newBench(t)
	for _, users := range []string{"bob", "ann,bob@srv", "bob@elsewhere,bob"} {
		if _, err := b.submit("ann@h", set("User_List", users)); pbs.CodeOf(err) != pbs.BadUser {
			t.Errorf("-u %q: %v", users, err)
		}
	}
	for _, users := range []string{"ann", "ann@srv", "ann,bob@elsewhere", "bob@elsewhere", "bob, ann@srv", "carl@a,ann,bob@b"} {
		id, err := b.submit("ann@h", set("User_List", users))
		if err != nil {
			t.Errorf("-u %q: %v", users, err)
			continue
		}
		for other, want := range map[string]pbs.Code{"bob": pbs.BadUser, "ann,bob@elsewhere": 0, "": 0} {
			_, err := b.Batch.Alter(b.as("ann@h"), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("User_List", other)}}, ""))
			if pbs.CodeOf(err) != want {
				t.Errorf("qalter -u %q: %v, want %d", other, err, want)
			}
		}
	}
}

// TestSubmit_GroupList: a group for a host of the server counts more than one for the host of the submission, and that more than one for any.
func TestSubmit_GroupList(t *testing.T) {
	b := newBench(t)
	for groups, want := range map[string]string{
		"users,anns@srv": "anns", "anns@srv,users": "anns", "users@login1,anns@srv": "anns", "anns@login1,users": "anns",
		"anns,wheel@elsewhere": "anns", "wheel@elsewhere": "users",
	} {
		j := b.job(b.mustSubmit("ann@login1", set("group_list", groups)))
		if got := b.store.View().JobAttribute(j, "egroup", ""); got != want {
			t.Errorf("%s: %s, want %s", groups, got, want)
		}
	}
}

// TestAlter_GroupList: qalter -W group_list has the job run under another group of its owner's, who asks for it or not.
func TestAlter_GroupList(t *testing.T) {
	b := newBench(t)
	id := b.mustSubmit("ann@login1")
	for _, c := range []struct {
		who, groups, want string
		code              pbs.Code
	}{
		{"ann@login1", "anns", "anns", 0}, {"ann@login1", "wheel", "anns", badGroup}, {"ann@login1", "", "users", 0}, {"boss@h", "wheel@elsewhere,anns", "anns", 0},
	} {
		_, err := b.Batch.Alter(b.as(c.who), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("group_list", c.groups)}}, ""))
		if got := b.store.View().JobAttribute(b.job(id), "egroup", ""); got != c.want || pbs.CodeOf(err) != c.code {
			t.Errorf("%q: %s, %v, want %s, %d", c.groups, got, err, c.want, c.code)
		}
	}
}

// TestSubmit_ScriptSize: jobscript_max_size is the greatest size of a script, in the service and
// when it is applied, for the attribute may have changed in between.
func TestSubmit_ScriptSize(t *testing.T) {
	b := newBench(t)
	script := func(n int) error {
		_, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: make([]byte, n)}, ""))
		return err
	}
	applied := func(n int) error {
		job := &command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Script: make([]byte, n)}
		if n >= pbs.LargeScript {
			job.Script, job.Blob, job.At = nil, &pbs.Blob{Size: int64(n)}, pbs.Time(time.Now().UnixNano())
		}
		out, err := b.Propose(t.Context(), command.Proposal{Commands: []command.Command{job}})
		if out.Refusal != nil {
			return out.Refusal
		}
		return err
	}
	for _, c := range []struct {
		most string
		n    int
		want pbs.Code
	}{
		{"", 4096, 0},
		{"", 16 << 20, 0},
		{"", 16<<20 + 1, pbs.ScriptOverLimit},
		{"20mb", 16<<20 + 1, 0},
		{"2kb", 2048, 0},
		{"2kb", 2049, pbs.ScriptOverLimit},
		{"100", 100, 0},
		{"100", 101, pbs.ScriptOverLimit},
		{"0", 0, 0},
	} {
		b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: entry("jobscript_max_size", c.most)}}})
		for what, err := range map[string]error{"asked": script(c.n), "applied": applied(c.n)} {
			if pbs.CodeOf(err) != c.want {
				t.Errorf("%s: %d bytes with a limit of %q: %v", what, c.n, c.most, err)
			}
		}
	}
}

// A large script is named in the log and in the state, and stands beside them; a repeat finds
// its job, and an entry that comes too late for the script is refused.
func TestSubmit_LargeScript(t *testing.T) {
	b := newBench(t)
	script, id := bytes.Repeat([]byte("#\n"), pbs.LargeScript/2), transport.NewRequestID()
	for range 2 {
		out, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: script}, id))
		if err != nil || out.Msg.GetJob() != "0.srv" {
			t.Fatalf("%v, %v", out, err)
		}
	}
	s, ok := b.store.View().Script("0.srv")
	if !ok || s.Body != nil || *s.Blob != pbs.NameBlob(script) {
		t.Fatalf("the state has %d bytes and %v", len(s.Body), s.Blob)
	}
	var sent []byte
	err := sendScript(t.Context(), b.Report.Blobs, b.store.View(), "0.srv", func(piece []byte) error {
		sent = append(sent, piece...)
		return nil
	})
	if err != nil || !bytes.Equal(sent, script) {
		t.Errorf("%d bytes are sent: %v", len(sent), err)
	}
	late := pbs.Time(time.Now().UnixNano()) - state.BlobFresh - 1e9
	out, err := b.Propose(t.Context(), command.Proposal{Commands: []command.Command{
		&command.SubmitJob{Owner: pbs.User{Name: "ann", Host: "h"}, Blob: s.Blob, At: late},
	}})
	if err != nil || pbs.CodeOf(out.Err()) != pbs.ResourceBusy {
		t.Errorf("too late: %v, %v", out.Err(), err)
	}
}

// TestRepeats shows that the same request twice is one job, and that a delete
// which was done is not an unknown job the second time (L8).
func TestRepeats(t *testing.T) {
	b := newBench(t)
	b.do(&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: entry("job_history_enable", "False")}}})
	id := transport.NewRequestID()
	var jobs []string
	for range 2 {
		r, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: []byte("x")}, id))
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, r.Msg.GetJob())
	}
	if jobs[0] != jobs[1] || b.store.View().JobCount() != 1 {
		t.Errorf("two submissions under one id: %v", jobs)
	}
	if _, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: []byte("y")}, id)); pbs.CodeOf(err) != pbs.ReusedRequest {
		t.Errorf("another body under the id: %v", err)
	}
	id = transport.NewRequestID()
	for i := range 2 {
		if _, err := b.Batch.Delete(b.as("ann@h"), request(&api.DeleteRequest{Job: jobs[0]}, id)); err != nil {
			t.Errorf("delete %d: %v", i, err)
		}
	}
	if _, err := b.Batch.Delete(b.as("ann@h"), request(&api.DeleteRequest{Job: jobs[0]}, "")); pbs.CodeOf(err) != pbs.UnknownJob {
		t.Errorf("a new delete: %v", err)
	}
}

func TestPermissions(t *testing.T) {
	const job = "0.srv"
	calls := map[string]func(b *bench, who string) error{
		"alter": func(b *bench, who string) error {
			_, err := b.Batch.Alter(b.as(who), request(&api.AlterRequest{Job: job, Changes: []*api.Attribute{set("Priority", "5")}}, ""))
			return err
		},
		"hold u": func(b *bench, who string) error {
			_, err := b.Batch.Hold(b.as(who), request(&api.HoldRequest{Job: job, Holds: "u"}, ""))
			return err
		},
		"hold o": func(b *bench, who string) error {
			_, err := b.Batch.Hold(b.as(who), request(&api.HoldRequest{Job: job, Holds: "o"}, ""))
			return err
		},
		"release s": func(b *bench, who string) error {
			_, err := b.Batch.Release(b.as(who), request(&api.ReleaseRequest{Job: job, Holds: "s"}, ""))
			return err
		},
		"signal": func(b *bench, who string) error {
			_, err := b.Batch.Signal(b.as(who), request(&api.SignalRequest{Job: job, Signal: "SIGUSR1"}, ""))
			return err
		},
		"suspend": func(b *bench, who string) error {
			_, err := b.Batch.Signal(b.as(who), request(&api.SignalRequest{Job: job, Signal: "suspend"}, ""))
			return err
		},
		"rerun": func(b *bench, who string) error {
			_, err := b.Batch.Rerun(b.as(who), request(&api.RerunRequest{Job: job, Force: true}, ""))
			return err
		},
		"delete": func(b *bench, who string) error {
			_, err := b.Batch.Delete(b.as(who), request(&api.DeleteRequest{Job: job}, ""))
			return err
		},
		"create queue": func(b *bench, who string) error {
			_, err := b.Batch.Manage(b.as(who), request(&api.ManageRequest{
				Verb: api.Verb_VERB_CREATE, Kind: api.ObjectKind_OBJECT_KIND_QUEUE, Name: "q2",
			}, ""))
			return err
		},
		"node offline": func(b *bench, who string) error {
			_, err := b.Batch.Manage(b.as(who), request(&api.ManageRequest{
				Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_HOST, Name: "hosta",
				Changes: []*api.Attribute{{Name: "state", Value: "offline", Op: api.Op_OP_INCREASE}},
			}, ""))
			return err
		},
		"token": func(b *bench, who string) error {
			_, err := b.Cluster.CreateToken(b.as(who), request(&api.CreateTokenRequest{Role: "mom"}, ""))
			return err
		},
	}
	users := []string{"ann@login1", "ann@login2", "ann@hosta", "bob@login1", "op@hosta", "op@login1", "op@replica:s1", "boss@login1", "root@login1", "root@replica:s1", "root@s1host"}
	const yes, no = true, false
	//                              ann@login1 ann@login2 ann@hosta bob op@hosta op@login1 op@s1 boss root root@s1 root@s1host
	allowed := map[string][]bool{
		"alter":        {yes, no, yes, no, yes, no, yes, yes, no, yes, yes},
		"hold u":       {yes, no, yes, no, yes, no, yes, yes, no, yes, yes},
		"hold o":       {no, no, no, no, yes, no, yes, yes, no, yes, yes},
		"release s":    {no, no, no, no, no, no, no, yes, no, yes, yes},
		"signal":       {yes, no, yes, no, yes, no, yes, yes, no, yes, yes},
		"suspend":      {no, no, no, no, yes, no, yes, yes, no, yes, yes},
		"rerun":        {no, no, no, no, yes, no, yes, yes, no, yes, yes},
		"delete":       {yes, no, yes, no, yes, no, yes, yes, no, yes, yes},
		"create queue": {no, no, no, no, no, no, no, yes, no, yes, yes},
		"node offline": {no, no, no, no, yes, no, yes, yes, no, yes, yes},
		"token":        {no, no, no, no, no, no, no, yes, no, yes, yes},
	}
	for name, call := range calls {
		for i, who := range users {
			b := newBench(t)
			b.host("hosta", "hosta")
			b.mustSubmit("ann@login1")
			b.do(&command.StartJob{Job: job, ExecVnode: "(hosta:ncpus=1)"})
			err := call(b, who)
			if got := pbs.CodeOf(err) != pbs.Unauthorized; got != allowed[name][i] {
				t.Errorf("%s by %s: %v", name, who, err)
			}
			if denied := len(b.log) > 0; denied == allowed[name][i] {
				t.Errorf("%s by %s: security log %q", name, who, b.log)
			}
		}
	}
}

// TestOnlyAFreshViewRefuses: a leader is asked before it has applied all that was
// acknowledged (L1).
func TestOnlyAFreshViewRefuses(t *testing.T) {
	b := newBench(t)
	b.behind = b.store.View()
	id := b.mustSubmit("ann@login1")
	if _, err := b.Batch.Delete(b.as("bob@login1"), request(&api.DeleteRequest{Job: id}, "")); pbs.CodeOf(err) != pbs.Unauthorized || len(b.log) != 1 {
		t.Errorf("by another user: %v, log %q", err, b.log)
	}
	if _, err := b.Batch.Delete(b.as("ann@login1"), request(&api.DeleteRequest{Job: id}, "")); err != nil {
		t.Errorf("by the owner: %v", err)
	}
}

func TestDenied_LogLine(t *testing.T) {
	b := newBench(t)
	id := b.mustSubmit("ann@login1")
	_, _ = b.Batch.Delete(b.as("bob@login1"), request(&api.DeleteRequest{Job: id}, ""))
	want := "Job;0.srv;Unauthorized Request, request type: 6, Object: Job, Name: 0.srv, request from: bob@login1"
	if got := strings.Join(b.log, "\n"); got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

func TestMomVouches(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	id := b.mustSubmit("ann@login1")
	b.do(&command.StartJob{Job: pbs.JobID(id), ExecVnode: "(hosta:ncpus=1)"})
	for who, want := range map[string]pbs.Code{"ann": 0, "bob": pbs.Unauthorized} {
		ctx := transport.WithCaller(t.Context(), transport.Caller{
			User: pbs.User{Name: who, Host: "hosta"}, Role: transport.RoleMom, Host: "hosta", Vouched: true,
		})
		_, err := b.Batch.Alter(ctx, request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("Resource_List.walltime", "100")}}, ""))
		if pbs.CodeOf(err) != want {
			t.Errorf("%s: %v", who, err)
		}
		if _, err := b.Batch.reader(ctx, b.store.View()); err != nil { // to ask is for everybody
			t.Errorf("%s may not read: %v", who, err)
		}
		// Neither gets a token, which would outlive the job.
		if _, err := b.Cluster.Login(ctx, connect.NewRequest(&api.LoginRequest{})); pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("%s got a token: %v", who, err)
		}
	}
	if _, err := b.Cluster.Login(b.as("ann@login1"), connect.NewRequest(&api.LoginRequest{})); err != nil {
		t.Errorf("ann from a login host: %v", err)
	}
}

// People of an execution host ask as ordinary users, whoever they are elsewhere.
func TestMomVouches_ReadersHaveNoRights(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	for _, who := range []string{"boss", "root"} {
		ctx := transport.WithCaller(t.Context(), transport.Caller{
			User: pbs.User{Name: who, Host: "hosta"}, Role: transport.RoleMom, Host: "hosta", Vouched: true,
		})
		if p, err := b.Batch.reader(ctx, b.store.View()); err != nil || p.perm != attr.User || p.home {
			t.Errorf("%s reads as %+v, %v", who, p, err)
		}
		if _, err := b.Batch.person(ctx, b.store.View()); pbs.CodeOf(err) != pbs.Unauthorized {
			t.Errorf("%s may change: %v", who, err)
		}
	}
}

func TestSignalNames(t *testing.T) {
	for text, want := range map[string]string{"": "TERM", "SIGUSR1": "USR1", "usr1": "USR1", "9": "9", "0": "0"} {
		if got, err := parseSignal(text); err != nil || got != want {
			t.Errorf("parseSignal(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"nosuchsig", "SIG", "-1", "65", "HUP INT", " "} {
		if got, err := parseSignal(text); pbs.CodeOf(err) != pbs.BadSignal {
			t.Errorf("parseSignal(%q) = %q, %v", text, got, err)
		}
	}
}

func TestManage_Refusals(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	cases := []struct {
		name string
		kind api.ObjectKind
		obj  string
		attr *api.Attribute
		want string
	}{
		{"undefined", api.ObjectKind_OBJECT_KIND_SERVER, "", set("nosuch", "1"), "Undefined attribute "},
		{"unknown resource", api.ObjectKind_OBJECT_KIND_SERVER, "", set("resources_available.nosuch", "1"), "Unknown resource resources_available.nosuch"},
		{"unknown zone", api.ObjectKind_OBJECT_KIND_SERVER, "", set("timezone", "Nowhere/Land"), "Illegal attribute or resource value timezone"},
		{"zone of a host", api.ObjectKind_OBJECT_KIND_SERVER, "", set("timezone", "Local"), "Illegal attribute or resource value timezone"},
		{"unknown queue", api.ObjectKind_OBJECT_KIND_QUEUE, "nosuch", set("enabled", "true"), "Unknown queue"},
		{"unknown node", api.ObjectKind_OBJECT_KIND_VNODE, "nosuch", set("state", "offline"), "Unknown node "},
		{"queue of a node", api.ObjectKind_OBJECT_KIND_VNODE, "hosta", set("queue", "nosuch"), "Unknown queue"},
		{"mom of a node", api.ObjectKind_OBJECT_KIND_VNODE, "hosta", set("Mom", "hostb"), "Cannot set attribute, read only or insufficient permission  Mom"},
		{"no type of queue", api.ObjectKind_OBJECT_KIND_QUEUE, "workq", set("queue_type", "bad"), "Illegal attribute or resource value queue_type"},
		{"hook", api.ObjectKind_OBJECT_KIND_HOOK, "h", set("enabled", "true"), "boss@h is unauthorized to access hooks data from server srv"},
	}
	for _, c := range cases {
		_, err := b.Batch.Manage(b.as("boss@h"), request(&api.ManageRequest{
			Verb: api.Verb_VERB_SET, Kind: c.kind, Name: c.obj, Changes: []*api.Attribute{c.attr},
		}, ""))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Where pbs.conf names a host for output that has none, its files have the name that hooks have given the job.
func TestSubmit_OutputHost(t *testing.T) {
	for _, c := range []struct {
		conf  string
		attrs []*api.Attribute
		want  string
	}{
		{"", []*api.Attribute{set("Output_Path", "files:/w/^job_name^.o^job_number^")}, "files:/w/renamed.o0"},
		{"files", nil, "files:/w/renamed.o0"},
		{"files", []*api.Attribute{set("array_indices_submitted", "1-3")}, "files:/w/renamed.o0.^array_index^"},
		{"files", []*api.Attribute{set("Output_Path", "/w/out")}, "h:/w/out"},
		{"files", []*api.Attribute{set("interactive", "True")}, "h:/w/renamed.o0"},
		{"", nil, "h:/w/renamed.o0"},
	} {
		b, _ := hookedBench(t, "queuejob", func(*hook.Event) *hook.Outcome { return accepted(map[string]string{"Job_Name": "renamed"}) })
		b.Batch.OutputHost = c.conf
		id := b.mustSubmit("ann@h", append(c.attrs, set("Job_Name", "named"), set("Variable_List", "PBS_O_WORKDIR=/w/"))...)
		j, _ := b.store.View().Job(pbs.JobID(id))
		if got, _ := j.Attrs.Get("Output_Path", ""); got != c.want {
			t.Errorf("%q, %v: %s, want %s", c.conf, c.attrs, got, c.want)
		}
	}
}

// TestSubmit_OutputHostOfOld: replicas of an older version leave the place of the job's name in a path as it is.
func TestSubmit_OutputHostOfOld(t *testing.T) {
	b := newBench(t)
	for name, want := range map[string]string{"mine": "files:/w/mine.o", "": "files:/w/STDIN.o"} {
		id := b.mustSubmit("ann@h", set("Job_Name", name), set("Output_Path", "files:/w/^job_name^.o^job_number^"))
		j, _ := b.store.View().Job(pbs.JobID(id))
		if got, _ := j.Attrs.Get("Output_Path", ""); got != want+j.ID.Number() {
			t.Errorf("%q: %s, want %s and the number", name, got, want)
		}
	}
}

// TestPathsOfTheSubmitter: a client says only where on its host the output goes.
func TestPathsOfTheSubmitter(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ann/out": "login1:/home/ann/out", "hosta:/data/out": "hosta:/data/out", "/data/a:b": "login1:/data/a:b",
	} {
		if got := onHost("login1", path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	b := newBench(t)
	id := b.mustSubmit("ann@login1")
	for _, c := range []struct{ path, want string }{
		{"/data/out", "login1:/data/out"}, {"hostb:", "hostb:STDIN.o0"}, {"", "login1:/STDIN.o0"}, {"hostb:dir/", "hostb:dir/"},
	} {
		_, err := b.Batch.Alter(b.as("ann@login1"), request(&api.AlterRequest{Job: id, Changes: []*api.Attribute{set("Output_Path", c.path)}}, ""))
		if err != nil {
			t.Fatal(err)
		}
		j, _ := b.store.View().Job(pbs.JobID(id))
		if got, _ := j.Attrs.Get("Output_Path", ""); got != c.want {
			t.Errorf("Output_Path of %q: %s, want %s", c.path, got, c.want)
		}
	}
}
