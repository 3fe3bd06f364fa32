package attr

import "rampart/fsm/pbs"

// managed is an attribute that Managers may set.
func managed(name string, t Type, f func(string) (string, bool)) row {
	return shown(name, t).writtenBy(Manager).parsedBy(f)
}

// operated is an attribute that Operators may set too.
func operated(name string, t Type, f func(string) (string, bool)) row {
	return managed(name, t, f).writtenBy(Operator)
}

// serverRows are the attributes of the server in the order of qstat -Bf.
func serverRows() []row {
	return []row{
		shown("server_state", Text),
		shown("server_host", Text),
		operated("scheduling", Boolean, nil).or("True"),
		managed("max_running", Number, numberIn(0, 1<<31-1)),
		managed("max_queued", Limits, nil),
		managed("max_queued_res", Limits, nil),
		managed("max_run", Limits, nil),
		managed("max_run_res", Limits, nil),
		managed("max_run_soft", Limits, nil),
		managed("max_run_res_soft", Limits, nil),
		managed("max_user_run", Number, numberIn(0, 1<<31-1)),
		managed("max_group_run", Number, numberIn(0, 1<<31-1)),
		shown("total_jobs", Number),
		shown("state_count", Text),
		managed("acl_host_enable", Boolean, nil),
		managed("acl_hosts", Array, parseACL),
		managed("acl_roots", Array, parseACL),
		managed("acl_user_enable", Boolean, nil),
		managed("acl_users", Array, parseACL),
		managed("managers", Array, parseUsers),
		managed("operators", Array, parseUsers),
		operated("comment", Text, nil),
		managed("default_queue", Text, parseQueueName),
		managed("log_events", Number, numberIn(0, 1<<31-1)).or("511"),
		managed("mailer", Text, nil).or("/usr/sbin/sendmail"),
		managed("mail_from", Text, nil).or("adm"),
		managed("query_other_jobs", Boolean, nil).or("True"),
		managed("resources_available", Resources, nil),
		managed("resources_default", Resources, nil),
		managed("default_chunk", Resources, nil),
		managed("resources_max", Resources, nil),
		managed("resources_min", Resources, nil),
		shown("resources_assigned", Resources),
		operated("scheduler_iteration", Number, numberIn(1, 1<<31-1)).or("600"),
		managed("flatuid", Boolean, nil).or("False"),
		managed("resv_enable", Boolean, nil).or("True"),
		managed("node_fail_requeue", Number, numberIn(-1<<31, 1<<31-1)),
		managed("max_array_size", Number, numberIn(0, 10_000_000)).or("10000"),
		managed("node_group_enable", Boolean, nil),
		managed("node_group_key", Array, nil),
		managed("resend_term_delay", Number, numberIn(0, 1800)).or("5"),
		managed("job_requeue_timeout", Duration, nil),
		managed("default_qdel_arguments", Text, nil),
		managed("default_qsub_arguments", Text, nil),
		managed("pbs_license_info", Text, nil),
		managed("pbs_license_min", Number, numberIn(0, 1<<31-1)).or("0"),
		managed("pbs_license_max", Number, numberIn(0, 1<<31-1)).or("2147483647"),
		managed("pbs_license_linger_time", Number, numberIn(0, 1<<31-1)).or("31536000"),
		shown("license_count", Text),
		shown("pbs_version", Text),
		managed("job_sort_formula", Text, nil),
		managed("eligible_time_enable", Boolean, nil).or("False"),
		managed("job_history_enable", Boolean, nil).implying("False"),
		managed("job_history_duration", Duration, nil).implying("336:00:00"),
		managed("max_concurrent_provision", Number, numberIn(1, 1<<31-1)).or("5"),
		managed("backfill_depth", Number, numberIn(0, 1<<31-1)),
		managed("clear_topjob_estimates_enable", Boolean, nil).or("False"),
		shown("power_provisioning", Boolean).or("False"),
		managed("show_hidden_attribs", Boolean, nil).implying("False"),
		managed("restrict_res_to_release_on_suspend", Array, nil),
		managed("prune_at_job_start", Boolean, nil).implying("False"),
		managed("timezone", Text, parseZone).implying("UTC"),
		managed("max_job_sequence_id", Number, numberIn(9999999, 999999999999)).or("9999999"),
	}
}

// queueRows are the attributes of a queue in the order of qstat -Qf.
func queueRows() []row {
	return []row{
		managed("queue_type", Text, parseQueueType).or("Execution"),
		managed("Priority", Number, numberIn(-1024, 1023)).implying("0"),
		managed("max_queuable", Number, numberIn(0, 1<<31-1)),
		managed("max_running", Number, numberIn(0, 1<<31-1)),
		managed("max_user_run", Number, numberIn(0, 1<<31-1)),
		managed("max_group_run", Number, numberIn(0, 1<<31-1)),
		shown("total_jobs", Number),
		shown("state_count", Text),
		managed("acl_host_enable", Boolean, nil),
		managed("acl_hosts", Array, parseACL),
		managed("acl_group_enable", Boolean, nil),
		managed("acl_groups", Array, parseACL),
		managed("acl_user_enable", Boolean, nil),
		managed("acl_users", Array, parseACL),
		managed("from_route_only", Boolean, nil),
		managed("resources_max", Resources, nil),
		managed("resources_min", Resources, nil),
		managed("resources_default", Resources, nil),
		managed("default_chunk", Resources, nil),
		managed("max_queued", Limits, nil),
		managed("max_queued_res", Limits, nil),
		managed("max_run", Limits, nil),
		managed("max_run_res", Limits, nil),
		managed("max_run_soft", Limits, nil),
		managed("max_run_res_soft", Limits, nil),
		managed("checkpoint_min", Number, numberIn(0, 1<<31-1)),
		managed("resources_available", Resources, nil),
		shown("resources_assigned", Resources),
		managed("kill_delay", Number, numberIn(0, 1<<31-1)).implying("10"),
		managed("node_group_key", Array, nil),
		shown("hasnodes", Boolean),
		operated("enabled", Boolean, nil).or("False"),
		operated("started", Boolean, nil).or("False"),
		managed("comment", Text, nil).writtenBy(Operator),
	}
}

// resourceRows are the attributes of a custom resource.
func resourceRows() []row {
	return []row{
		managed("type", Text, parseType).refusing(pbs.BadAttributeValue),
		managed("flag", Text, parseFlags).refusing(pbs.BadAttributeValue),
	}
}

// refusing gives values that cannot be parsed a refusal that names no attribute.
func (r row) refusing(c pbs.Code) row { r.refusal = c; return r }
