package attr

// shown returns an attribute that only the server sets.
func shown(name string, t Type) row { return row{Def: Def{Name: name, Type: t, Read: User}} }

// hidden is one that is shown only where show_hidden_attribs asks for it.
func hidden(name string, t Type) row {
	return row{Def: Def{Name: name, Type: t, Read: User, Hidden: true}}
}

func (r row) writtenBy(p Perm) row { r.Write = p; return r }

func (r row) readBy(p Perm) row { r.Read = p; return r }

func (r row) onCreate() row { r.OnCreate = true; return r }

func (r row) shareable() row { r.Shareable = true; return r }

func (r row) running() row { r.AlterRunning = true; return r }

func (r row) or(value string) row { r.Default = value; return r }

func (r row) implying(value string) row { r.Implied = value; return r }

func (r row) parsedBy(f func(string) (string, bool)) row { r.parse = f; return r }

// set returns an attribute that its owner may set.
func set(name string, t Type, f func(string) (string, bool)) row {
	return shown(name, t).writtenBy(User).parsedBy(f)
}

// jobRows returns the attributes of a job in the order of qstat -f.
func jobRows() []row {
	return []row{
		set("Job_Name", Text, parseJobName).running().or("STDIN"),
		shown("Job_Owner", Text),
		shown("resources_used", Resources),
		shown("job_state", Text),
		shown("queue", Text),
		shown("server", Text),
		set("Account_Name", Text, parseNotes),
		set("Checkpoint", Text, parseCheckpoint).running().or("u"),
		shown("ctime", Epoch),
		set("depend", Text, parseDepend),
		set("Error_Path", Text, parsePath),
		shown("exec_host", Text),
		shown("exec_vnode", Text),
		hidden("exec_host_orig", Text),
		hidden("exec_host_acct", Text),
		hidden("exec_vnode_orig", Text),
		hidden("exec_vnode_acct", Text),
		hidden("exec_vnode_deallocated", Text),
		set("Execution_Time", Epoch, nil),
		set("group_list", Array, parseHosted),
		set("Hold_Types", Text, parseHolds).running().or("n"),
		set("interactive", Boolean, nil).onCreate(),
		set("forward_x11_cookie", Text, parseGrant).onCreate().readBy(Manager),
		set("Join_Path", Text, parseJoin).or("n"),
		set("Keep_Files", Text, parseKeep).running().or("n"),
		set("Mail_Points", Text, parseMailPoints).running().or("a"),
		set("Mail_Users", Array, parseMailUsers).running(),
		shown("mtime", Epoch),
		set("Output_Path", Text, parsePath),
		set("Priority", Number, numberIn(-1024, 1023)).or("0"),
		shown("qtime", Epoch),
		set("Rerunable", Boolean, nil).running().or("True"),
		set("Resource_List", Resources, nil),
		hidden("Resource_List_orig", Resources),
		hidden("Resource_List_acct", Resources),
		shown("resources_released", Text).readBy(Operator),
		shown("resource_released_list", Resources).readBy(Operator),
		shown("schedselect", Text),
		hidden("schedselect_orig", Text),
		hidden("resources_used_acct", Resources),
		hidden("resources_used_update", Resources),
		shown("stime", Epoch),
		shown("obittime", Epoch),
		shown("session_id", Number),
		set("Shell_Path_List", Array, parseShells),
		set("sandbox", Text, oneOf("HOME", "O_WORKDIR", "PRIVATE")),
		set("pwd", Text, parseDirectory),
		shown("jobdir", Text),
		set("stagein", Array, parseStaging),
		set("stageout", Array, parseStaging),
		shown("substate", Number),
		set("User_List", Array, parseHosted),
		set("Variable_List", Variables, nil),
		shown("euser", Text).readBy(Manager),
		shown("egroup", Text).readBy(Manager),
		shown("hashname", Text).readBy(Manager),
		shown("queue_rank", Number).readBy(Manager),
		shown("queue_type", Text).readBy(Manager),
		shown("comment", Text).parsedBy(parseNotes).writtenBy(Operator).running(),
		shown("alt_id", Text),
		shown("etime", Epoch),
		shown("reserve_ID", Text),
		set("umask", Number, parseUmask),
		set("block", Boolean, nil).onCreate(),
		set("run_count", Number, numberIn(0, 1<<31-1)),
		shown("eligible_time", Duration).writtenBy(Operator),
		shown("accrue_type", Number).readBy(Manager),
		shown("estimated", Resources),
		shown("Stageout_status", Number),
		shown("Exit_status", Number),
		set("Submit_arguments", Text, parseLines).onCreate(),
		set("executable", Text, parseLines).onCreate(),
		set("argument_list", Text, parseLines).onCreate(),
		shown("history_timestamp", Number),
		shown("array", Boolean),
		shown("array_id", Text),
		shown("array_index", Text),
		shown("array_state_count", Text),
		set("array_indices_submitted", Text, parseIndices).onCreate(),
		shown("array_indices_remaining", Text),
		set("Remove_Files", Text, letters('n', "oe")).running(),
		set("tolerate_node_failures", Text, parseTolerate).running(),
		set("release_nodes_on_stageout", Boolean, nil).running(),
		shown("pset", Text).writtenBy(Manager),
		shown("accounting_id", Text),
		set("project", Text, parseProject).or(DefaultProject),
		shown("run_version", Number),
		shown("Submit_Host", Text),
		set("create_resv_from_job", Boolean, nil).onCreate(),
		set("topjob_ineligible", Boolean, nil).writtenBy(Manager),
		shown("topjob", Boolean),
		set("max_run_subjobs", Number, numberIn(1, 1<<31-1)),
		set("lsf_resreq", Text, parseRequirement),
		set("lsf_slots", Text, parseSlots),
		set("lsf_app", Text, nil),
		set("lsf_host_spec", Text, nil),
		shown("lsf_run_limit", Text),
		shown("lsf_combined", Text),
		shown("lsf_select", Text),
		shown("lsf_queue_select", Text),
		shown("lsf_order", Text),
		shown("lsf_layout", Text),
		shown("lsf_asked_hosts", Text),
		shown("lsf_alternatives", Text),
		shown("lsf_effective", Text),
		shown("lsf_reserved", Text),
		shown("lsf_reserved_since", Epoch),
		shown("lsf_resumed", Boolean),
		shown("lsf_unready", Boolean),
		set("interactive_pipes", Boolean, nil).onCreate(),
		set("lsf_messages", Text, parsePosted).running(),
	}
}

// DefaultProject is the project of jobs without one.
const DefaultProject = "_pbs_project_default"
