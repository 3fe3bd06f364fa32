package service

import (
	"cmp"
	"regexp"
	"slices"
	"testing"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/transport/api"
	"rampart/transport/build"
)

// samples are values of attributes that do not take any value of their type.
var samples = map[string]string{
	"server managers": "ann@*,root@*", "server operators": "bob@*", "server timezone": "Europe/Berlin",
	"server default_queue": "1q.a", "server job_sort_formula": "ncpus", "server max_job_sequence_id": "99999999",
	"server jobscript_max_size": "10mb", "server restrict_res_to_release_on_suspend": "ncpus,mem",
	"queue lsf_res_req": "rusage[mem=50]", "queue lsf_pjob_limit": "1.5", "queue lsf_resrsv_limit": "[mem=1,100]", "queue lsf_thresholds": "r1m=3.5/4.5 mem=100",
	"queue lsf_stop_cond": "select[mem < 5]", "queue lsf_resume_cond": "mem > 50",
	"node load_source": "agent", "sched smp_cluster_dist": "pack", "sched prime_smp_cluster_dist": "pack",
	"queue queue_type": "Route", "queue route_destinations": "1q.a,workq@srv", "node state": "offline", "node queue": "1q.a",
	"sched job_run_wait": "none", "sched preempt_prio": "normal_jobs", "sched preempt_order": "SC 50 R", "sched preempt_sort": "min_time_since_start",
	"sched opt_backfill_fuzzy": "low", "sched job_sort_formula": "ncpus", "sched job_sort_formula_threshold": "0.5", "sched resource_group": "ann 10 root 60",
	"sched holidays": "YEAR 2026,weekday 0600 1730", "sched dedicated_time": "11/30/2026 08:00 11/30/2026 17:00", "sched fairshare_usage_res": "ncpus*walltime",
	"sched fairshare_entity": "euser", "sched fairshare_decay_factor": "0.7", "sched job_sort_key": "ncpus HIGH", "sched node_sort_key": "ncpus LOW",
	"sched prime_job_sort_key": "ncpus HIGH", "sched prime_node_sort_key": "ncpus LOW",
	"sched server_dyn_res": "foo !/opt/site/licenses foo,bar !/opt/site/licenses bar",
	"sched state":          "idle", "sched sched_priv": "/site/priv", "sched sched_log": "/site/logs",
	"resource flag": "nh",
	"hook type":     "site",
	"hook event":    "execjob_begin,exechost_periodic",
	"hook user":     "pbsadmin",
	"hook freq":     "60",
	"hook enabled":  "false",
	"hook debug":    "true", "hook fail_action": "offline_vnodes",
}

// sample is a setting of the attribute.
func sample(def *attr.Def) *api.Attribute {
	byType := map[attr.Type]string{
		attr.Text: "words, and more", attr.Number: "7", attr.Boolean: "True", attr.Duration: "00:10:00", attr.Array: "one,two",
		attr.Resources: "2", attr.Limits: "[u:PBS_GENERIC=5]",
	}
	a := set(def.Name, cmp.Or(samples[def.Object.String()+" "+def.Name], byType[def.Type]))
	if def.PerResource() {
		a.Resource = "foo"
	}
	return a
}

// Every attribute of the table that people may set can be set, and unset, alone and together with
// all others in one comma list (specification: drop-in section 2); afterwards the object is as
// one that never had it.
func TestManage_EveryAttributeCanBeUnset(t *testing.T) {
	if build.Raced && testing.Short() {
		t.Skip("long under the race detector, which sees the same code in shorter tests: make test plays it without")
	}
	b := newBench(t)
	b.host("hosta", "hosta")
	must := func(verb api.Verb, kind api.ObjectKind, name string, changes ...*api.Attribute) {
		t.Helper()
		if err := b.manage(verb, kind, name, changes...); err != nil {
			t.Errorf("%v %v %s %v: %v", verb, kind, name, changes, err)
		}
	}
	must(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_RESOURCE, "foo", set("type", "long"), set("flag", "nh"))
	must(api.Verb_VERB_CREATE, api.ObjectKind_OBJECT_KIND_QUEUE, "1q.a", set("queue_type", "e"))
	for _, o := range []struct {
		kind  api.ObjectKind
		table attr.Object
		name  string
		make  bool
	}{
		{api.ObjectKind_OBJECT_KIND_SERVER, attr.Server, "", false},
		{api.ObjectKind_OBJECT_KIND_QUEUE, attr.Queue, "q2", true},
		{api.ObjectKind_OBJECT_KIND_VNODE, attr.Vnode, "hosta", false},
		{api.ObjectKind_OBJECT_KIND_RESOURCE, attr.Resource, "bar", true},
		{api.ObjectKind_OBJECT_KIND_SCHED, attr.Sched, "", false},
		{api.ObjectKind_OBJECT_KIND_SCHED, attr.Sched, "sc1", true},
		{api.ObjectKind_OBJECT_KIND_HOOK, attr.Hook, "h1", true},
	} {
		t.Run(o.table.String()+o.name, func(t *testing.T) {
			var given []*api.Attribute
			if o.table == attr.Resource { // of which strings have no flags that say how much is consumed
				given = append(given, set("type", "long"))
			}
			if o.make {
				must(api.Verb_VERB_CREATE, o.kind, o.name, given...)
			}
			var all, names []*api.Attribute
			for _, def := range attr.All(o.table) {
				kept := o.table == attr.Resource && def.Name == "type"
				if def.Write == attr.ServerOnly || def.OnCreate || def.Fixed && o.name == "" || kept {
					continue
				}
				all = append(all, sample(def))
				names = append(names, &api.Attribute{Name: def.Name})
			}
			must(api.Verb_VERB_UNSET, o.kind, o.name, names...)
			bare := b.shown(o.kind, o.name)
			if o.table == attr.Hook { // the others need events
				must(api.Verb_VERB_SET, o.kind, o.name, set("event", samples["hook event"]))
			}
			for _, a := range all {
				before := b.shown(o.kind, o.name)
				must(api.Verb_VERB_SET, o.kind, o.name, a)
				must(api.Verb_VERB_UNSET, o.kind, o.name, &api.Attribute{Name: a.Name})
				if o.table == attr.Hook && a.Name == "event" {
					must(api.Verb_VERB_SET, o.kind, o.name, a)
				}
				if after := b.shown(o.kind, o.name); !slices.Equal(before, after) {
					t.Errorf("%s was set and unset, and there is %q, before %q", a.Name, after, before)
				}
				if a.Resource != "" {
					must(api.Verb_VERB_SET, o.kind, o.name, a)
					must(api.Verb_VERB_UNSET, o.kind, o.name, &api.Attribute{Name: a.Name, Resource: a.Resource})
				}
			}
			all = slices.DeleteFunc(all, func(a *api.Attribute) bool { // no routing queue is in a partition, and nothing has limits of both forms
				return o.table == attr.Queue && a.Name == "partition" || o.table != attr.Vnode && olderLimit.MatchString(a.Name)
			})
			must(api.Verb_VERB_SET, o.kind, o.name, all...)
			if set := b.shown(o.kind, o.name); len(set) <= len(bare) && o.table != attr.Hook {
				t.Errorf("of all there is only %q", set)
			}
			must(api.Verb_VERB_UNSET, o.kind, o.name, names...)
			if after := b.shown(o.kind, o.name); !slices.Equal(bare, after) {
				t.Errorf("all was set and unset, and there is %q, before %q", after, bare)
			}
		})
	}
	if got := b.store.View().Server().Get("log_events"); got != "511" {
		t.Errorf("log_events is %q after unset, want its default", got)
	}
}

// olderLimit matches the names of limits of the older form.
var olderLimit = regexp.MustCompile(`^max_(queuable|running|(user|group)_(run|res)(_soft)?)$`)

// shown are the settable attributes that qmgr lists of an object.
func (b *bench) shown(kind api.ObjectKind, name string) []string {
	b.t.Helper()
	r := &api.ListRequest{Kind: kind}
	if name != "" {
		r.Names = []string{name}
	}
	found, err := b.list("root@replica:s1", r)
	if err != nil || len(found) != 1 || found[0].Refusal != nil {
		b.t.Fatalf("list %v %s: %v, %v", kind, name, found, err)
	}
	var out []string
	for _, a := range found[0].Attributes {
		if a.Name != "last_state_change_time" {
			out = append(out, a.Name+"."+a.Resource+"="+a.Value)
		}
	}
	return out
}

// TestManage_ProgramsOfRoot: what programs run as root on the replicas' hosts, root there says, and no Manager; he may take them away.
func TestManage_ProgramsOfRoot(t *testing.T) {
	b := newBench(t)
	manage := func(who string, verb api.Verb, a *api.Attribute) error {
		_, err := b.Batch.Manage(b.as(who), request(&api.ManageRequest{Verb: verb, Kind: api.ObjectKind_OBJECT_KIND_SCHED, Changes: []*api.Attribute{a}}, ""))
		return err
	}
	programs := set("server_dyn_res", "foo !/opt/site/licenses foo")
	for who, want := range map[string]pbs.Code{"boss@h": pbs.Unauthorized, "boss@replica:s1": pbs.Unauthorized, "root@h": pbs.Unauthorized, "root@replica:s1": 0} {
		if got := pbs.CodeOf(manage(who, api.Verb_VERB_SET, programs)); got != want {
			t.Errorf("%s sets them: %d, want %d", who, got, want)
		}
	}
	if got := pbs.CodeOf(manage("root@replica:s1", api.Verb_VERB_SET, set("server_dyn_res", "foo !licenses"))); got != pbs.BadAttributeValue {
		t.Errorf("a program without a path: %d", got)
	}
	if err := manage("boss@h", api.Verb_VERB_UNSET, &api.Attribute{Name: "server_dyn_res"}); err != nil {
		t.Error(err)
	}
}
