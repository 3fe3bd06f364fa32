package attr

import (
	"slices"
	"strings"
	"testing"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// recorded are the attributes that a PBS shows, in its order.
var recorded = map[Object]string{
	Job: `Job_Name Job_Owner resources_used job_state queue server Checkpoint ctime depend Error_Path exec_host exec_vnode
		Hold_Types Join_Path Keep_Files Mail_Points mtime Output_Path Priority qtime Rerunable Resource_List schedselect
		stime obittime session_id jobdir substate Variable_List euser egroup hashname queue_rank queue_type comment etime
		reserve_ID run_count Stageout_status Exit_status Submit_arguments executable argument_list history_timestamp array
		array_state_count array_indices_submitted array_indices_remaining project run_version Submit_Host`,
	Server: `server_state server_host scheduling total_jobs state_count default_queue log_events mailer mail_from
		query_other_jobs resources_default default_chunk resources_assigned scheduler_iteration resv_enable
		node_fail_requeue max_array_size resend_term_delay pbs_license_min pbs_license_max pbs_license_linger_time
		license_count pbs_version eligible_time_enable job_history_enable max_concurrent_provision
		clear_topjob_estimates_enable power_provisioning max_job_sequence_id`,
	Queue: `queue_type total_jobs state_count resources_max max_run resources_assigned enabled started`,
	Vnode: `Mom Port pbs_version ntype state pcpus jobs resources_available resources_assigned resv_enable sharing
		in_multivnode_host license last_state_change_time last_used_time`,
	Sched: `sched_host sched_cycle_length throughput_mode job_run_wait partition sched_priv sched_log scheduling
		scheduler_iteration state preempt_queue_prio preempt_prio preempt_order preempt_sort log_events
		server_dyn_res_alarm`,
	Resource: `type flag`,
}

func TestAll_InTheOrderRecorded(t *testing.T) {
	for o, names := range recorded {
		want := strings.Fields(names)
		var got []string
		for _, d := range All(o) {
			if slices.Contains(want, d.Name) {
				got = append(got, d.Name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", o, got, want)
		}
	}
}

// expected are the attributes that tools rely on besides (specification: drop-in
// section 2).
var expected = map[Object]string{
	Server: `flatuid managers operators acl_roots timezone show_hidden_attribs restrict_res_to_release_on_suspend
		prune_at_job_start default_qsub_arguments reserve_retry_time reserve_retry_init resv_post_processing_time`,
	Queue: `kill_delay Priority resources_default default_chunk`,
	Vnode: `comment queue`,
	Sched: `do_not_span_psets only_explicit_psets opt_backfill_fuzzy attr_update_period sched_preempt_enforce_resumption
		pbs_version`,
	Job: `Account_Name group_list umask Mail_Users Shell_Path_List User_List tolerate_node_failures
		release_nodes_on_stageout resources_released resource_released_list exec_vnode_deallocated create_resv_from_job topjob_ineligible topjob`,
}

func TestAll_HasWhatToolsRelyOn(t *testing.T) {
	for o, names := range expected {
		for _, name := range strings.Fields(names) {
			if _, ok := Lookup(o, name); !ok {
				t.Errorf("%s has no %s", o, name)
			}
		}
	}
}

func TestTables_AreSound(t *testing.T) {
	for o := Server; o < objects; o++ {
		seen := map[string]bool{}
		for _, d := range All(o) {
			got, ok := Lookup(o, d.Name)
			if !ok || got != d || d.Object != o || seen[d.Name] {
				t.Errorf("%s %s comes twice, or is found as %+v", o, d.Name, got)
			}
			seen[d.Name] = true
			if d.Type == 0 || d.Read == ServerOnly || d.Parse == nil {
				t.Errorf("%s %s: %+v", o, d.Name, d)
			}
			if v := d.WhenUnset(); v != "" && d.Write != ServerOnly {
				if canonical, err := d.Parse(v); err != nil || canonical != v {
					t.Errorf("%s %s: the default %q becomes %q, %v", o, d.Name, v, canonical, err)
				}
			}
		}
		for _, e := range Defaults(o) {
			d, ok := Lookup(o, e.Name)
			if !ok {
				t.Fatalf("%s begins with an unknown %s", o, e.Name)
			}
			if v, err := d.ParseResource(e.Resource, e.Value, resource.Builtins{}); err != nil || v != e.Value {
				t.Errorf("%s begins with %v, which becomes %q, %v", o, e, v, err)
			}
		}
	}
	if _, ok := Lookup(objects, "comment"); ok || All(objects) != nil {
		t.Error("an object that does not exist has attributes")
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		o          Object
		name, want string
	}{
		{Server, "node_fail_requeue", ""}, // never
		{Server, "log_events", "511"},
		{Server, "scheduler_iteration", "600"},
		{Server, "query_other_jobs", "True"},
		{Queue, "kill_delay", "10"},
		{Job, "Priority", "0"},
		{Job, "Rerunable", "True"},
		{Job, "Hold_Types", "n"},
		{Job, "Join_Path", "n"},
		{Job, "Keep_Files", "n"},
		{Job, "Mail_Points", "a"},
		{Job, "Checkpoint", "u"},
		{Job, "Job_Name", "STDIN"},
		{Sched, "preempt_order", "SCR"},
		{Sched, "preempt_queue_prio", "150"},
	} {
		d, ok := Lookup(c.o, c.name)
		if !ok || d.WhenUnset() != c.want {
			t.Errorf("%s %s is %q when unset, want %q", c.o, c.name, d.WhenUnset(), c.want)
		}
	}
	for name, want := range map[string]string{"default_queue": "workq", "resources_default.ncpus": "1", "default_chunk.ncpus": "1", "node_fail_requeue": "310"} {
		name, res, _ := strings.Cut(name, ".")
		if v, _ := Defaults(Server).Get(name, res); v != want {
			t.Errorf("a new server has %s %q, want %q", name, v, want)
		}
	}
}

func TestCheckWrite(t *testing.T) {
	for _, c := range []struct {
		o         Object
		name, res string
		who       Perm
		want      string // empty: allowed
	}{
		{Job, "Job_Name", "", User, ""},
		{Job, "Job_Owner", "", Manager, "Cannot set attribute, read only or insufficient permission  Job_Owner"},
		{Job, "comment", "", User, "Cannot set attribute, read only or insufficient permission  comment"},
		{Job, "comment", "", Operator, ""},
		{Job, "Resource_List", "ncpus", User, ""},
		{Job, "Resource_List", "nodect", User, "Cannot set attribute, read only or insufficient permission  Resource_List.nodect"},
		{Job, "release_nodes_on_stageout", "", User, ""},
		{Server, "scheduling", "", Operator, ""},
		{Server, "managers", "", Operator, "Cannot set attribute, read only or insufficient permission  managers"},
		{Server, "managers", "", Manager, ""},
		{Server, "total_jobs", "", ServerOnly, "Cannot set attribute, read only or insufficient permission  total_jobs"},
	} {
		d, _ := Lookup(c.o, c.name)
		got := ""
		if err := d.CheckWrite(c.res, c.who, resource.Builtins{}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s.%s by %d: %q, want %q", c.name, c.res, c.who, got, c.want)
		}
	}
}

// Operators and Managers give resources with the flags i and r, and nobody else.
func TestCheckWrite_Flags(t *testing.T) {
	d, _ := Lookup(Job, "Resource_List")
	for who, want := range map[Perm]pbs.Code{User: pbs.ReadOnlyAttribute, Operator: 0, Manager: 0} {
		if err := d.CheckWrite("secret", who, hiding{}); pbs.CodeOf(err) != want {
			t.Errorf("by %d: %v, want %d", who, err, want)
		}
	}
}

// Chunks ask for no more than the job as a whole may.
func TestCheckChunks(t *testing.T) {
	d, _ := Lookup(Job, "Resource_List")
	for _, c := range []struct {
		res, value string
		who        Perm
		want       pbs.Code
	}{
		{"select", "1:ncpus=1+2:ncpus=1:secret=1", User, pbs.ReadOnlyAttribute},
		{"select", "1:ncpus=1+2:ncpus=1:secret=1", Operator, 0},
		{"nodes", "2:ppn=2:secret=1", User, pbs.ReadOnlyAttribute},
		{"nodes", "2:ppn=2:secret=1", Manager, 0},
		{"select", "1:ncpus=1:mem=1gb:host=h", User, 0},
		{"select", "1:nodect=1", User, 0}, // no resource of a chunk: who completes it says so
		{"select", "::", User, 0},
		{"place", "scatter", User, 0},
	} {
		if err := d.CheckChunks(c.res, c.value, c.who, hiding{}); pbs.CodeOf(err) != c.want {
			t.Errorf("%s=%s by %d: %v, want %d", c.res, c.value, c.who, err, c.want)
		}
	}
	if d, _ = Lookup(Queue, "resources_max"); d.CheckChunks("select", "1:secret=1", User, hiding{}) != nil {
		t.Error("only what jobs ask for has chunks")
	}
}

// hiding is a table with an invisible resource.
type hiding struct{}

func (hiding) Resource(name string) (resource.Def, bool) {
	if name == "secret" {
		return resource.Def{Name: name, Type: resource.Long, Flags: resource.AtHost | resource.Invisible}, true
	}
	return resource.Lookup(name)
}

func TestMayRead(t *testing.T) {
	d, _ := Lookup(Job, "Resource_List")
	if d.MayRead("secret", User, hiding{}) || !d.MayRead("secret", Operator, hiding{}) || !d.MayRead("ncpus", User, hiding{}) {
		t.Error("an invisible resource is seen by users, or not by operators")
	}
}

// Only a vnode shares the amounts of others.
func TestParseResource_Shared(t *testing.T) {
	for o, want := range map[Object]string{Vnode: "@hosta", Server: "", Queue: ""} {
		d, _ := Lookup(o, "resources_available")
		if got, err := d.ParseResource("mem", "@hosta", resource.Builtins{}); got != want || (err == nil) != (want != "") {
			t.Errorf("object %v: %q, %v", o, got, err)
		}
	}
}

func TestParseResource(t *testing.T) {
	for _, c := range []struct {
		name, res, text, want string // want is the canonical text, or the refusal
	}{
		{"Resource_List", "ncpus", "04", "4"},
		{"Resource_List", "mem", "6GB", "6gb"},
		{"Resource_List", "walltime", "3600", "01:00:00"},
		{"Resource_List", "select", "ncpus=2+1:mem=1gb", "ncpus=2+1:mem=1gb"},
		{"Resource_List", "place", "excl:scatter", "excl:scatter"},
		{"Resource_List", "nosuch", "1", "Unknown resource Resource_List.nosuch"},
		{"Resource_List", "ncpus", "abc", "Illegal attribute or resource value Resource_List.ncpus"},
		{"Resource_List", "walltime", "xx", "Illegal attribute or resource value Resource_List.walltime"},
		{"Resource_List", "select", "1:ncpus=1+", "Illegal attribute or resource value Resource_List.select"},
		{"Resource_List", "select", "1:a=1:a=2", "duplicated resource within a section of a select specification, resource is: a"},
		{"Resource_List", "place", "nowhere", "Illegal attribute or resource value Resource_List.place"},
		{"Resource_List", "", "1", "Unknown resource Resource_List"},
		{"Priority", "", "5", "5"},
		{"Priority", "x", "5", "Undefined attribute "},
	} {
		d, _ := Lookup(Job, c.name)
		got, err := d.ParseResource(c.res, c.text, resource.Builtins{})
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s = %s: %q, want %q", d.Full(c.res), c.text, got, c.want)
		}
	}
	limit, _ := Lookup(Queue, "max_run_res")
	got, err := limit.ParseResource("mem", "[u:ann=2gb],[o:PBS_ALL=10G]", resource.Builtins{})
	if err != nil || got != "[u:ann=2gb],[o:PBS_ALL=10gb]" {
		t.Errorf("max_run_res.mem: %q, %v", got, err)
	}
	if _, err := limit.ParseResource("mem", "[u:ann=x]", resource.Builtins{}); err == nil ||
		err.Error() != "Illegal attribute or resource value max_run_res.mem" {
		t.Errorf("max_run_res.mem: %v", err)
	}
}

func TestRefusals_HaveWordsOfPBS(t *testing.T) {
	for _, c := range []struct {
		o                Object
		name, text, want string
		code             pbs.Code
	}{
		{Vnode, "state", "badstate", "Illegal value for node state", pbs.BadNodeState},
		{Resource, "type", "nosuch", "Illegal attribute or resource value", pbs.BadAttributeValue},
		{Resource, "flag", "x", "Illegal attribute or resource value", pbs.BadAttributeValue},
		{Server, "managers", "a@*,root", "Access from host not allowed, or unknown host managers", pbs.UnknownHost},
		{Server, "operators", "ann", "Access from host not allowed, or unknown host operators", pbs.UnknownHost},
		{Server, "managers", "@h", "Illegal attribute or resource value managers", pbs.BadAttributeValue},
		{Server, "jobscript_max_size", "3gb", "jobscript max size exceeds 2GB", pbs.LongScriptLimit},
		{Server, "jobscript_max_size", "much", "Illegal attribute or resource value jobscript_max_size", pbs.BadAttributeValue},
		{Server, "max_job_sequence_id", "120515", "Cannot set max_job_sequence_id < 9999999, or > 999999999999", pbs.BadAttributeValue},
		{Server, "max_job_sequence_id", "1000000000000", "Cannot set max_job_sequence_id < 9999999, or > 999999999999", pbs.BadAttributeValue},
		{Server, "max_job_sequence_id", "-9999999", "Illegal attribute or resource value max_job_sequence_id", pbs.BadAttributeValue},
		{Server, "max_job_sequence_id", "23545.45", "Illegal attribute or resource value max_job_sequence_id", pbs.BadAttributeValue},
	} {
		d, _ := Lookup(c.o, c.name)
		_, err := d.Parse(c.text)
		if pbs.CodeOf(err) != c.code || err.Error() != c.want {
			t.Errorf("%s = %s: %v", c.name, c.text, err)
		}
	}
}

// TestLevels_AreOfThisBuild: an attribute that a later feature level brings says so, and what says nothing is of the first.
func TestLevels_AreOfThisBuild(t *testing.T) {
	if def := shown("later", Text).since(2); def.Level != 2 {
		t.Errorf("level %d", def.Level)
	}
	if def, _ := Lookup(Job, "Job_Name"); def.Level != 0 {
		t.Errorf("Job_Name is of level %d", def.Level)
	}
}
