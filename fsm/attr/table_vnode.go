package attr

import "rampart/fsm/pbs"

// vnodeRows returns the attributes of a vnode in the order of pbsnodes -av.
func vnodeRows() []row {
	return []row{
		managed("Mom", Text, parseHost).onCreate(),
		managed("Port", Number, numberIn(1, 65535)).onCreate().or("15002"),
		shown("pbs_version", Text),
		shown("ntype", Text).or("PBS"),
		operated("state", Array, parseVnodeState).refusing(pbs.BadNodeState),
		shown("pcpus", Number),
		managed("Priority", Number, numberIn(-1024, 1023)),
		shown("jobs", Array),
		shown("maintenance_jobs", Array),
		shown("resv", Array),
		managed("max_running", Number, numberIn(0, 1<<31-1)),
		managed("max_user_run", Number, numberIn(0, 1<<31-1)),
		managed("max_group_run", Number, numberIn(0, 1<<31-1)),
		managed("no_multinode_jobs", Boolean, nil),
		managed("resources_available", Resources, nil).shareable(),
		shown("resources_assigned", Resources),
		shown("resources_reserved", Resources),
		operated("comment", Text, parseNotes),
		managed("queue", Text, parseQueueName),
		managed("resv_enable", Boolean, nil).or("True"),
		shown("sharing", Text).or("default_shared"),
		shown("in_multivnode_host", Number),
		shown("license", Text).or("l"),
		managed("partition", Text, nil),
		managed("pnames", Array, nil),
		managed("load_source", Text, oneOf("config", "agent")),
		managed("provision_enable", Boolean, nil),
		managed("current_aoe", Text, nil),
		managed("current_eoe", Text, nil),
		managed("power_provisioning", Boolean, nil),
		managed("poweroff_eligible", Boolean, nil),
		managed("vnode_pool", Number, numberIn(0, 1<<31-1)).onCreate(),
		shown("last_state_change_time", Epoch),
		shown("last_used_time", Epoch),
	}
}

// Sharings returns the values of a vnode's sharing attribute, which only a vnode
// definition file sets.
func Sharings() []string {
	return []string{
		"default_shared", "default_excl", "default_exclhost", "ignore_excl", "force_excl", "force_exclhost",
	}
}

// PrimeTime begins the names of the scheduler's attributes that take the place of others in prime
// time: prime_by_queue that of by_queue.
const PrimeTime = "prime_"

// fixed returns an attribute that PBS refuses to set for its default scheduler.
func (r row) fixed() row { r.Fixed = true; return r }

// schedRows returns the attributes of the scheduler in the order of list sched.
func schedRows() []row {
	return []row{
		managed("sched_host", Text, nil).fixed(),
		managed("sched_cycle_length", Duration, nil).or("00:20:00"),
		managed("do_not_span_psets", Boolean, nil).or("False"),
		managed("only_explicit_psets", Boolean, nil).or("False"),
		managed("throughput_mode", Boolean, nil).or("True"),
		managed("job_run_wait", Text, oneOf("none", "runjob_hook", "execjob_hook")).or("runjob_hook"),
		managed("partition", Array, nil).or("pbs-default").fixed(),
		managed("sched_priv", Text, parseDirectory).fixed(),
		managed("sched_log", Text, parseDirectory).fixed(),
		operated("scheduling", Boolean, nil).or("True"),
		operated("scheduler_iteration", Number, numberIn(1, 1<<31-1)).or("600"),
		managed("state", Text, oneOf("idle", "scheduling", "down")).fixed(),
		managed("preempt_queue_prio", Number, numberIn(-1<<31, 1<<31-1)).or("150"),
		managed("preempt_prio", Text, parsePreemptPrio).or("express_queue, normal_jobs"),
		managed("preempt_order", Text, parsePreemptOrder).or("SCR"),
		managed("preempt_sort", Text, oneOf("min_time_since_start")).or("min_time_since_start"),
		managed("log_events", Number, eventMask).or("767"),
		managed("server_dyn_res_alarm", Number, numberIn(0, 1<<31-1)).or("30"),
		managed("opt_backfill_fuzzy", Text, oneOf("off", "low", "medium", "high")).or("off"),
		managed("attr_update_period", Number, numberIn(0, 1<<31-1)).or("0"),
		managed("sched_preempt_enforce_resumption", Boolean, nil).or("False"),
		managed("job_sort_formula", Text, parseFormula),
		managed("job_sort_formula_threshold", Text, parseFloat),
		// The next ones are the names of PBS's sched_config.
		managed("by_queue", Boolean, nil).implying("True"),
		managed("round_robin", Boolean, nil).implying("False"),
		managed("strict_ordering", Boolean, nil).implying("False"),
		managed("backfill", Boolean, nil).implying("True"),
		managed("preemptive_sched", Boolean, nil).implying("True"),
		managed("resource_group", Text, parseShares),    // the file of that name, with commas for the ends of its lines
		managed("holidays", Text, parseHours),           // the file of that name, as above
		managed("dedicated_time", Text, parseDedicated), // the file of that name, as above
		managed("dedicated_prefix", Text, nil).implying("ded"),
		managed("primetime_prefix", Text, nil).implying("p_"),
		managed("nonprimetime_prefix", Text, nil).implying("np_"),
		managed("backfill_prime", Boolean, nil).implying("False"),
		managed("prime_spill", Duration, nil).implying("00:00:00"),
		managed("prime_exempt_anytime_queues", Boolean, nil).implying("False"),
		managed("fair_share", Boolean, nil).implying("False"),
		managed("fairshare_usage_res", Text, parseUsage).implying("cput"),
		managed("fairshare_entity", Text, oneOf("euser", "egroup", "egroup:euser", "Account_Name", "queue")).implying("euser"),
		managed("fairshare_decay_time", Duration, nil).implying("24:00:00"),
		managed("fairshare_decay_factor", Text, parseFraction).implying("0.5"),
		managed("fairshare_enforce_no_shares", Boolean, nil).implying("False"),
		managed("unknown_shares", Number, numberIn(0, 1<<31-1)).implying("0"),
		managed("help_starving_jobs", Boolean, nil).implying("True"),
		managed("max_starve", Duration, nil).implying("24:00:00"),
		managed("job_sort_key", Text, parseSortKeys),
		managed("node_sort_key", Text, parseSortKeys),
		managed("smp_cluster_dist", Text, oneOf("pack", "round_robin", "lowest_load")),
		managed("load_balancing", Boolean, nil).implying("False"),
		managed("resources", Text, nil),
		managed("server_dyn_res", Text, parseDynamic),
		// Settings for prime time, where they differ.
		managed(PrimeTime+"by_queue", Boolean, nil),
		managed(PrimeTime+"round_robin", Boolean, nil),
		managed(PrimeTime+"strict_ordering", Boolean, nil),
		managed(PrimeTime+"backfill", Boolean, nil),
		managed(PrimeTime+"preemptive_sched", Boolean, nil),
		managed(PrimeTime+"fair_share", Boolean, nil),
		managed(PrimeTime+"help_starving_jobs", Boolean, nil),
		managed(PrimeTime+"job_sort_key", Text, parseSortKeys),
		managed(PrimeTime+"node_sort_key", Text, parseSortKeys),
		managed(PrimeTime+"load_balancing", Boolean, nil),
		managed(PrimeTime+"smp_cluster_dist", Text, oneOf("pack", "round_robin", "lowest_load")),
		managed("comment", Text, parseNotes),
		shown("pbs_version", Text),
	}
}
