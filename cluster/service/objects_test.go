package service

import (
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport/api"
)

// manage is one directive of qmgr by a manager.
func (b *bench) manage(verb api.Verb, kind api.ObjectKind, name string, changes ...*api.Attribute) error {
	_, err := b.Batch.Manage(b.as("root@replica:s1"), request(&api.ManageRequest{Verb: verb, Kind: kind, Name: name, Changes: changes}, ""))
	return err
}

// All queues, the default one too, all nodes and all custom resources can be deleted and
// made again (specification: drop-in section 2); the fence stays what it is.
func TestManage_EverythingCanBeMadeAgain(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	before := b.store.View().Server().FenceChanged
	for _, d := range []struct {
		verb api.Verb
		kind api.ObjectKind
		name string
		set  []*api.Attribute
	}{
		{api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", []*api.Attribute{set("node_fail_requeue", "600")}},
		{api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_RESOURCE, "foo", []*api.Attribute{set("type", "long"), set("flag", "nh")}},
		{api.Verb_VERB_DELETE, api.ObjectKind_OBJECT_KIND_QUEUE, "@default", nil},
		{api.Verb_VERB_DELETE, api.ObjectKind_OBJECT_KIND_VNODE, "@default", nil},
		{api.Verb_VERB_DELETE, api.ObjectKind_OBJECT_KIND_RESOURCE, "foo", nil},
		{api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_QUEUE, "workq", []*api.Attribute{set("queue_type", "e"), set("enabled", "t"), set("started", "1")}},
		{api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_VNODE, "hosta", nil},
		{api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_RESOURCE, "foo", []*api.Attribute{set("type", "size"), set("flag", "q")}},
		{api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", []*api.Attribute{set("default_queue", "workq")}},
	} {
		if err := b.manage(d.verb, d.kind, d.name, d.set...); err != nil {
			t.Fatalf("%v %v %s: %v", d.verb, d.kind, d.name, err)
		}
	}
	v := b.store.View()
	if v.Server().DefaultQueue() != "workq" || v.Server().FenceChanged <= before || v.VnodeCount() != 1 {
		t.Errorf("server %+v", v.Server())
	}
	b.mustSubmit("ann@h")
}

// The scheduler's own attributes are kept; those that it shares with the server are the
// server's, and those that follow from where the leader runs cannot be set.
func TestManage_Scheduler(t *testing.T) {
	b := newBench(t)
	sched := func(changes ...*api.Attribute) error {
		return b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SCHED, "", changes...)
	}
	if err := sched(set("preempt_order", "SC"), set("scheduling", "False"), set("log_events", "1023"), set("job_sort_formula", "ncpus")); err != nil {
		t.Fatal(err)
	}
	server := b.store.View().Server()
	if server.SchedGet("preempt_order") != "SC" || server.Scheduling() || server.SchedGet("log_events") != "1023" || server.Int("log_events") != 511 || server.SortFormula() != "ncpus" {
		t.Errorf("server %+v", server)
	}
	for _, c := range []struct {
		err  error
		code pbs.Code
	}{
		{sched(set("sched_priv", "/tmp")), pbs.DefaultSched},
		{sched(set("preempt_order", "X")), pbs.BadAttributeValue},
		{sched(set("nosuch", "1")), pbs.UndefinedAttribute},
		{b.manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_SCHED, "default"), pbs.SchedulerExists},
		{b.manage(api.Verb_VERB_DELETE, api.ObjectKind_OBJECT_KIND_SCHED, "default"), pbs.LastingScheduler},
		{b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SCHED, "mine", set("log_events", "1")), pbs.UnknownScheduler},
	} {
		if pbs.CodeOf(c.err) != c.code {
			t.Errorf("refused with %v, want %d", c.err, c.code)
		}
	}
	if err := b.manage(api.Verb_VERB_UNSET, api.ObjectKind_OBJECT_KIND_SCHED, "default", set("preempt_order", ""), set("partition", "")); err != nil {
		t.Error(err)
	}
	if got := b.store.View().Server().SchedGet("preempt_order"); got != "SCR" {
		t.Errorf("preempt_order is %q after unset", got)
	}
}

// A scheduler beside the default one is listed with what is its own: another state, other folders, and its own policy; a folder that is
// another's is refused, set or not.
func TestManage_FurtherSchedulers(t *testing.T) {
	b := newBench(t)
	b.Batch.Home = "/h"
	sched := func(verb api.Verb, name string, changes ...*api.Attribute) error {
		return b.manage(verb, api.ObjectKind_OBJECT_KIND_SCHED, name, changes...)
	}
	if err := sched(api.Verb_VERB_CREATE, "sc1", set("partition", "P1,P2"), set("sched_log", "/logs")); err != nil {
		t.Fatal(err)
	}
	if err := sched(api.Verb_VERB_CREATE, "sc2"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, attr, value string
		code              pbs.Code
	}{
		{"sc2", "sched_priv", "/h/sched_priv", pbs.SchedPrivExists},
		{"sc2", "sched_priv", "/h/sched_priv_sc1/", pbs.SchedPrivExists},
		{"sc2", "sched_log", "/logs", pbs.SchedLogExists},
		{"sc2", "sched_priv", "/h/sched_priv_sc2", 0},
		{"sc2", "partition", "P2", pbs.PartitionTaken},
		{"none", "comment", "x", pbs.UnknownScheduler},
	} {
		if err := sched(api.Verb_VERB_SET, c.name, set(c.attr, c.value)); pbs.CodeOf(err) != c.code {
			t.Errorf("%s %s = %s: %v", c.name, c.attr, c.value, err)
		}
	}
	all := []string{"state", "sched_priv", "sched_log", "scheduling", "partition"}
	got, err := b.list("ann@login1", &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_SCHED, Attributes: all})
	want := "default{partition=pbs-default sched_priv=/h/sched_priv sched_log=/h/sched_logs scheduling=True state=down}\n" +
		"sc1{partition=P1,P2 sched_priv=/h/sched_priv_sc1 sched_log=/logs scheduling=False state=down}\n" +
		"sc2{sched_priv=/h/sched_priv_sc2 sched_log=/h/sched_logs_sc2 scheduling=False state=down}"
	if err != nil || shown(got) != want {
		t.Errorf("there is %s, %v;\nwant %s", shown(got), err, want)
	}
	for _, step := range []error{
		sched(api.Verb_VERB_SET, "@default", set("comment", "x")), sched(api.Verb_VERB_DELETE, "@default"),
	} {
		if step != nil {
			t.Error(step)
		}
	}
	if s := b.store.View().Server(); len(s.Scheds) != 0 || s.SchedGet("comment") != "x" {
		t.Errorf("after all were changed and deleted there is %+v", s)
	}
}

// The folders of a scheduler are written to on every replica's host: in PBS_HOME they are a scheduler's, and what lies elsewhere is for
// root on such a host to name.
func TestManage_SchedFolders(t *testing.T) {
	b := newBench(t)
	b.Batch.Home = "/h"
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("managers", "boss@*")); err != nil {
		t.Fatal(err)
	}
	if err := b.manage(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_SCHED, "sc1"); err != nil {
		t.Fatal(err)
	}
	const root, manager = "root@replica:s1", "boss@login1"
	more := set("sched_log", "/h/sched_logs_new")
	more.Op = api.Op_OP_INCREASE
	for _, c := range []struct {
		who  string
		set  *api.Attribute
		code pbs.Code
	}{
		{root, set("sched_log", "/h/server_priv/accounting"), pbs.BadAttributeValue},
		{root, set("sched_log", "/h/sched_logs_new/../server_logs/"), pbs.BadAttributeValue},
		{root, set("sched_log", "/h/"), pbs.BadAttributeValue},
		{root, set("sched_log", "/h/sched_priv_sc1"), pbs.BadAttributeValue},
		{root, set("sched_priv", "/h/mom_priv"), pbs.BadAttributeValue},
		{root, more, pbs.BadAttributeValue},
		{root, set("sched_log", "/h/spool/x"), pbs.BadAttributeValue},
		{manager, set("sched_log", "/h/server_logs"), pbs.BadAttributeValue},
		{manager, set("sched_log", "/h/sched_dir/sched_logs_sc1"), 0},
		{manager, set("sched_priv", "/h/sched_dir/sched_priv_sc1"), 0},
		{manager, set("sched_priv", "/h/sched_dir/../sched_logs"), pbs.BadAttributeValue},
		{manager, set("sched_log", "/h/sc1_new_logs"), pbs.Unauthorized},
		{manager, set("sched_log", "/h/backups/backup-1/accounting"), pbs.BadAttributeValue},
		{root, set("sched_log", "/h/backups/x"), pbs.BadAttributeValue},
		{root, set("sched_log", "/h/sc1_new_logs"), 0},
		{manager, set("sched_log", "/h/../etc/logs"), pbs.Unauthorized},
		{manager, set("sched_priv", "/hh/sched_priv_sc1"), pbs.Unauthorized},
		{manager, set("sched_log", "/h/sched_logs_new"), 0},
		{manager, set("sched_priv", "/h/sched_priv/sc1"), 0},
		{root, set("sched_log", "/var/log/sched"), 0},
		{root, set("sched_priv", "/hh/sched_priv_sc1"), 0},
	} {
		_, err := b.Batch.Manage(b.as(c.who), request(&api.ManageRequest{
			Verb: api.Verb_VERB_SET, Kind: api.ObjectKind_OBJECT_KIND_SCHED, Name: "sc1", Changes: []*api.Attribute{c.set},
		}, ""))
		if pbs.CodeOf(err) != c.code {
			t.Errorf("%s sets %v: %v", c.who, c.set, err)
		}
	}
	_, err := b.Batch.Manage(b.as(manager), request(&api.ManageRequest{
		Verb: api.Verb_VERB_UNSET, Kind: api.ObjectKind_OBJECT_KIND_SCHED, Name: "sc1", Changes: []*api.Attribute{set("sched_log", "")},
	}, ""))
	if err != nil {
		t.Error(err)
	}
}

// What a feature level brings cannot be set before every replica has it.
func TestManage_KeepsToTheFeatureLevel(t *testing.T) {
	b := newBench(t)
	def, _ := attr.Find(attr.Server, "queued_jobs_threshold")
	def.Level = command.FeatureLevel
	defer func() { def.Level = 0 }()
	change := func() error {
		return b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", set("queued_jobs_threshold", "[u:PBS_GENERIC=1]"))
	}
	if err := change(); pbs.CodeOf(err) != pbs.NotSupported {
		t.Errorf("below the level: %v", err)
	}
	b.do(&command.RaiseLevel{Level: command.FeatureLevel})
	if err := change(); err != nil {
		t.Errorf("at the level: %v", err)
	}
}

// Limits are changed entry by entry (specification: drop-in section 2; += and -= of
// cli-contract section 5).
func TestManage_Limits(t *testing.T) {
	b := newBench(t)
	change := func(op api.Op, name, value string) {
		t.Helper()
		a := set(name, value)
		a.Op = op
		if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", a); err != nil {
			t.Fatal(err)
		}
	}
	change(api.Op_OP_SET, "max_run", "[u:PBS_GENERIC=2],[o:PBS_ALL=10]")
	change(api.Op_OP_INCREASE, "max_run", "[u:ann=5]")
	change(api.Op_OP_DECREASE, "max_run", "[o:PBS_ALL=10]")
	change(api.Op_OP_SET, "max_run_res.mem", "[u:PBS_GENERIC=2gb]")
	attrs := b.store.View().Server().Attrs
	if got, _ := attrs.Get("max_run", ""); got != "[u:PBS_GENERIC=2],[u:ann=5]" {
		t.Errorf("max_run is %q", got)
	}
	if got, _ := attrs.Get("max_run_res", "mem"); got != "[u:PBS_GENERIC=2gb]" {
		t.Errorf("max_run_res.mem is %q", got)
	}
	for _, bad := range []*api.Attribute{
		set("max_run", "5"), set("max_run", "[u:ann]"), set("max_run", "[x:ann=1]"), set("max_run", "[o:ann=1]"),
		set("max_run", "[u:ann=1],[u:ann=2]"), set("max_run_res.mem", "[u:ann=abc]"),
	} {
		if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_SERVER, "", bad); pbs.CodeOf(err) != pbs.BadAttributeValue {
			t.Errorf("%s = %s: %v", bad.GetName(), bad.GetValue(), err)
		}
	}
}

// A vnode has a mom all its life, and that mom its port: no set is a word without effect.
func TestManage_AVnodeKeepsItsMom(t *testing.T) {
	b := newBench(t)
	b.host("hosta", "hosta")
	has := &api.Attribute{Name: "Mom", Value: "hosta"}
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_VNODE, "hosta", has); err != nil {
		t.Errorf("set of what it has: %v", err)
	}
	other := &api.Attribute{Name: "Port", Value: "15999"}
	if err := b.manage(api.Verb_VERB_SET, api.ObjectKind_OBJECT_KIND_VNODE, "hosta", other); pbs.CodeOf(err) != pbs.ReadOnlyAttribute {
		t.Errorf("set of another port: %v", err)
	}
	for _, name := range []string{"Mom", "Port"} {
		for _, verb := range []api.Verb{api.Verb_VERB_UNSET, api.Verb_VERB_SET} {
			err := b.manage(verb, api.ObjectKind_OBJECT_KIND_VNODE, "hosta", &api.Attribute{Name: name})
			if want := pbs.Attribute(pbs.ReadOnlyAttribute, name).Error(); err == nil || err.Error() != want {
				t.Errorf("%v of %s of a node: %v, want %s", verb, name, err, want)
			}
		}
	}
}
