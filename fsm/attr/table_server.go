package attr

import (
	"slices"

	"rampart/fsm/pbs"
)

// managed returns an attribute that Managers may set.
func managed(name string, t Type, f func(string) (string, bool)) row {
	return shown(name, t).writtenBy(Manager).parsedBy(f)
}

// operated returns an attribute that Operators may set too.
func operated(name string, t Type, f func(string) (string, bool)) row {
	return managed(name, t, f).writtenBy(Operator)
}

// since says which feature level brought the attribute, if that is not the first (fsm/command, FeatureLevel).
func (r row) since(level uint32) row { r.Level = level; return r }

// limitRows returns the limits that server and queues have in common: the ones by kind and
// name, and the older ones that know no names.
func limitRows() []row {
	count := numberIn(0, 1<<31-1)
	return []row{
		managed("max_queued", Limits, nil),
		managed("max_queued_res", Limits, nil),
		managed("queued_jobs_threshold", Limits, nil),
		managed("queued_jobs_threshold_res", Limits, nil),
		managed("max_run", Limits, nil),
		managed("max_run_res", Limits, nil),
		managed("max_run_soft", Limits, nil),
		managed("max_run_res_soft", Limits, nil),
		managed("max_running", Number, count),
		managed("max_user_run", Number, count),
		managed("max_group_run", Number, count),
		managed("max_user_run_soft", Number, count),
		managed("max_group_run_soft", Number, count),
		managed("max_user_res", Resources, nil),
		managed("max_user_res_soft", Resources, nil),
		managed("max_group_res", Resources, nil),
		managed("max_group_res_soft", Resources, nil),
	}
}

// serverRows returns the attributes of the server in the order of qstat -Bf.
func serverRows() []row {
	return slices.Concat([]row{
		shown("server_state", Text),
		shown("server_host", Text),
		operated("scheduling", Boolean, nil).or("True"),
	}, limitRows(), []row{
		shown("total_jobs", Number),
		shown("state_count", Text),
		managed("acl_host_enable", Boolean, nil),
		managed("acl_hosts", Array, parseACL),
		managed("acl_group_enable", Boolean, nil),
		managed("acl_groups", Array, parseACL),
		managed("acl_user_enable", Boolean, nil),
		managed("acl_users", Array, parseACL),
		managed("acl_host_moms_enable", Boolean, nil),
		managed("acl_roots", Array, parseACL),
		managed("acl_resv_host_enable", Boolean, nil),
		managed("acl_resv_hosts", Array, parseACL),
		managed("acl_resv_group_enable", Boolean, nil),
		managed("acl_resv_groups", Array, parseACL),
		managed("acl_resv_user_enable", Boolean, nil),
		managed("acl_resv_users", Array, parseACL),
		managed("managers", Array, nil).explained(usersOf("managers")),
		managed("operators", Array, nil).explained(usersOf("operators")),
		operated("comment", Text, parseNotes),
		managed("default_queue", Text, parseQueueName),
		managed("log_events", Number, eventMask).or("511"),
		managed("mailer", Text, nil).or("/usr/sbin/sendmail"),
		managed("mail_from", Text, parseMailFrom).or("adm"),
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
		managed("job_sort_formula", Text, parseFormula),
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
		managed("reserve_retry_time", Number, numberIn(1, 1<<31-1)),
		managed("reserve_retry_init", Number, numberIn(1, 1<<31-1)), // its name in older PBS, which counts where the other is not set
		managed("resv_post_processing_time", Duration, nil),
		managed("est_start_time_freq", Duration, nil),
		managed("python_restart_max_hooks", Number, numberIn(1, 1<<31-1)),
		managed("python_restart_max_objects", Number, numberIn(1, 1<<31-1)),
		managed("python_restart_min_interval", Duration, nil),
		managed("python_gc_min_interval", Number, numberIn(0, 1<<31-1)),
		managed("sync_mom_hookfiles_timeout", Duration, nil),
		managed("jobscript_max_size", Text, nil).explained(scriptSize).implying("16mb"),
		managed("max_job_sequence_id", Number, nil).explained(lastJob).or("9999999"),
		managed("default_node", Text, nil),
		managed("node_pack", Boolean, nil),
		managed("resources_cost", Resources, nil),
		managed("system_cost", Number, numberIn(-1<<31, 1<<31-1)),
		managed("rpp_highwater", Number, numberIn(1, 1<<31-1)),
		managed("rpp_max_pkt_check", Number, numberIn(1, 1<<31-1)),
		managed("rpp_retry", Number, numberIn(0, 1<<31-1)),
	})
}

// queueRows returns the attributes of a queue in the order of qstat -Qf.
func queueRows() []row {
	return slices.Concat([]row{
		managed("queue_type", Text, parseQueueType).or("Execution"),
		managed("Priority", Number, numberIn(-1024, 1023)).implying("0"),
		managed("max_queuable", Number, numberIn(0, 1<<31-1)),
		shown("total_jobs", Number),
		shown("state_count", Text),
		managed("acl_host_enable", Boolean, nil),
		managed("acl_hosts", Array, parseACL),
		managed("acl_user_enable", Boolean, nil),
		managed("acl_users", Array, parseACL),
		managed("from_route_only", Boolean, nil),
		managed("resources_max", Resources, nil),
		managed("resources_min", Resources, nil),
		managed("resources_default", Resources, nil),
		managed("default_chunk", Resources, nil),
		managed("acl_group_enable", Boolean, nil),
		managed("acl_groups", Array, parseACL),
	}, limitRows(), []row{
		managed("max_array_size", Number, numberIn(1, 10_000_000)),
		managed("checkpoint_min", Number, numberIn(0, 1<<31-1)),
		managed("resources_available", Resources, nil),
		shown("resources_assigned", Resources),
		managed("kill_delay", Number, numberIn(0, 1<<31-1)).implying("10"),
		managed("node_group_key", Array, nil),
		managed("backfill_depth", Number, numberIn(0, 1<<31-1)),
		managed("require_cred", Text, nil),
		managed("require_cred_enable", Boolean, nil),
		shown("hasnodes", Boolean),
		managed("route_destinations", Array, parseDestinations),
		managed("alt_router", Text, nil),
		managed("route_held_jobs", Boolean, nil),
		managed("route_waiting_jobs", Boolean, nil),
		managed("route_retry_time", Number, numberIn(1, 1<<31-1)),
		managed("route_lifetime", Number, numberIn(0, 1<<31-1)),
		managed("backfill", Boolean, nil).implying("True"),
		managed("slot_reserve", Number, numberIn(1, 1<<31-1)),
		managed("resource_reserve", Number, numberIn(1, 1<<31-1)),
		managed("lsf_res_req", Text, parseRequirement),
		managed("lsf_resrsv_limit", Text, parseRequirement),
		managed("lsf_hosts", Array, nil),
		managed("lsf_pjob_limit", Text, parseDecimal),
		managed("lsf_hjob_limit", Number, numberIn(0, 1<<31-1)),
		managed("lsf_thresholds", Text, parseRequirement),
		managed("lsf_stop_cond", Text, parseRequirement),
		managed("lsf_resume_cond", Text, parseRequirement),
		operated("enabled", Boolean, nil).or("False"),
		operated("started", Boolean, nil).or("False"),
		managed("partition", Text, nil),
		managed("comment", Text, parseNotes).writtenBy(Operator),
	})
}

// resourceRows returns the attributes of a custom resource.
func resourceRows() []row {
	return []row{
		managed("type", Text, parseType).refusing(pbs.BadAttributeValue),
		managed("flag", Text, parseFlags).refusing(pbs.BadAttributeValue),
	}
}

// refusing gives values that cannot be parsed a refusal that names no attribute.
func (r row) refusing(c pbs.Code) row { r.refusal = c; return r }
