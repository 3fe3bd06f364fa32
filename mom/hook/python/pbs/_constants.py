"""The numbers and names that PBS's module has for hooks, and their words by number."""

EVENTS = {"ERROR": 0x1, "SYSTEM": 0x2, "ADMIN": 0x4, "JOB": 0x8, "JOB_USAGE": 0x10, "SECURITY": 0x20, "SCHED": 0x40, "DEBUG": 0x80,
          "DEBUG2": 0x100, "RESV": 0x200, "DEBUG3": 0x400, "DEBUG4": 0x800, "FORCE": 0x8000}
SUBSTATES = {
    "UNKNOWN": -1, "TRANSIN": 0, "TRANSICM": 1, "TRNOUT": 2, "TRNOUTCM": 3, "QUEUED": 10, "PRESTAGEIN": 11, "SYNCRES": 13,
    "STAGEIN": 14, "STAGEGO": 15, "STAGECMP": 16, "HELD": 20, "SYNCHOLD": 21, "DEPNHOLD": 22, "WAITING": 30, "STAGEFAIL": 37,
    "PRERUN": 41, "RUNNING": 42, "SUSPEND": 43, "SCHSUSP": 45, "EXITING": 50, "STAGEOUT": 51, "STAGEDEL": 52, "EXITED": 53,
    "ABORT": 54, "KILLSIS": 56, "RUNEPILOG": 57, "OBIT": 58, "TERM": 59, "RERUN": 60, "RERUN1": 61, "RERUN2": 62, "RERUN3": 63,
    "EXPIRED": 69, "BEGUN": 70, "PROVISION": 71, "WAITING_JOIN_JOB": 72, "TERMINATED": 91, "FINISHED": 92, "FAILED": 93,
    "MOVED": 94, "DELJOB": 153,
}
MGR_CMDS = {"NONE": -1, "CREATE": 0, "DELETE": 1, "SET": 2, "UNSET": 3, "LIST": 4, "PRINT": 5, "ACTIVE": 6, "IMPORT": 7,
            "EXPORT": 8, "LAST": 9}
MGR_OBJS = {"NONE": -1, "SERVER": 0, "QUEUE": 1, "JOB": 2, "NODE": 3, "RESV": 4, "RSC": 5, "SCHED": 6, "HOST": 7, "HOOK": 8,
            "PBS_HOOK": 9, "LAST": 10}
BATCH_OPS = {"SET": 0, "UNSET": 1, "INCR": 2, "DECR": 3, "EQ": 4, "NE": 5, "GE": 6, "GT": 7, "LE": 8, "LT": 9, "DFLT": 10}
BRP_CHOICES = {"NULL": 1, "Queue": 2, "RdytoCom": 3, "Commit": 4, "Select": 5, "Status": 6, "Text": 7, "Locate": 8, "RescQuery": 9,
               "PreemptJobs": 10, "Delete": 11}
ATR_VFLAGS = {"SET": 1, "MODIFY": 2, "DEFLT": 4, "MODCACHE": 8, "INDIRECT": 16, "TARGET": 32, "HOOK": 64}
NODE_STATES = {
    "FREE": 0, "OFFLINE": 0x1, "DOWN": 0x2, "DELETED": 0x4, "UNRESOLVABLE": 0x8, "JOB": 0x10, "STALE": 0x20, "JOBEXCL": 0x40, "BUSY": 0x80,
    "UNKNOWN": 0x100, "NEEDS_HELLOSVR": 0x200, "INIT": 0x400, "PROV": 0x800, "WAIT_PROV": 0x1000, "RESVEXCL": 0x2000,
    "OFFLINE_BY_MOM": 0x4000, "MARKEDDOWN": 0x8000, "NEED_ADDRS": 0x10000, "MAINTENANCE": 0x20000, "SLEEP": 0x40000,
    "NEED_CREDENTIALS": 0x80000,
    "VNODE_AVAILABLE": 0x20d0, "VNODE_UNAVAILABLE": 0x6412f,  # several bits: which leave a vnode to jobs, and which do not
}

# The errors of requests, by PBS's numbers.
ERRORS = {
    "NONE": 0, "UNKJOBID": 15001, "NOATTR": 15002, "ATTRRO": 15003, "IVALREQ": 15004, "UNKREQ": 15005, "TOOMANY": 15006, "PERM": 15007,
    "BADHOST": 15008, "JOBEXIST": 15009, "SYSTEM": 15010, "INTERNAL": 15011, "REGROUTE": 15012, "UNKSIG": 15013, "BADATVAL": 15014,
    "MODATRRUN": 15015, "BADSTATE": 15016, "UNKQUE": 15018, "BADCRED": 15019, "EXPIRED": 15020, "QUNOENB": 15021, "QACESS": 15022,
    "BADUSER": 15023, "HOPCOUNT": 15024, "QUEEXIST": 15025, "ATTRTYPE": 15026, "OBJBUSY": 15027, "QUENBIG": 15028, "NOSUP": 15029,
    "QUENOEN": 15030, "PROTOCOL": 15031, "BADATLST": 15032, "NOCONNECTS": 15033, "NOSERVER": 15034, "UNKRESC": 15035, "EXCQRESC": 15036,
    "QUENODFLT": 15037, "NORERUN": 15038, "ROUTEREJ": 15039, "ROUTEEXPD": 15040, "MOMREJECT": 15041, "BADSCRIPT": 15042,
    "STAGEIN": 15043, "RESCUNAV": 15044, "BADGRP": 15045, "MAXQUED": 15046, "CKPBSY": 15047, "EXLIMIT": 15048, "BADACCT": 15049,
    "ALRDYEXIT": 15050, "NOCOPYFILE": 15051, "CLEANEDOUT": 15052, "NOSYNCMSTR": 15053, "BADDEPEND": 15054, "DUPLIST": 15055,
    "DISPROTO": 15056, "EXECTHERE": 15057, "SISREJECT": 15058, "SISCOMM": 15059, "SVRDOWN": 15060, "CKPSHORT": 15061, "UNKNODE": 15062,
    "UNKNODEATR": 15063, "NONODES": 15064, "NODENBIG": 15065, "NODEEXIST": 15066, "BADNDATVAL": 15067, "MUTUALEX": 15068,
    "GMODERR": 15069, "NORELYMOM": 15070, "RESV_NO_WALLTIME": 15075, "JOBNOTRESV": 15076, "TOOLATE": 15077, "RESVEXIST": 15080,
    "resvFail": 15081, "UNKRESVID": 15084, "delProgress": 15085, "BADTSPEC": 15086, "RESVMSG": 15087, "NOTRESV": 15088,
    "RESVAUTH_H": 15092, "RESVAUTH_G": 15093, "RESVAUTH_U": 15094, "MaxArraySize": 15107, "INVALSELECTRESC": 15108,
    "INVALJOBRESC": 15109, "INVALNODEPLACE": 15110, "PLACENOSELECT": 15111, "INDIRECTHOP": 15112, "INDIRECTBT": 15113,
    "NODESTALE": 15115, "DUPRESC": 15116, "CONNFULL": 15117, "BAD_RRULE_YEARLY": 15126, "BAD_RRULE_MONTHLY": 15127,
    "BAD_RRULE_WEEKLY": 15128, "BAD_RRULE_DAILY": 15129, "BAD_RRULE_HOURLY": 15130, "BAD_RRULE_MINUTELY": 15131,
    "BAD_RRULE_SECONDLY": 15132, "BAD_RRULE_SYNTAX": 15133, "BAD_RRULE_SYNTAX2": 15134, "BAD_ICAL_TZ": 15135, "HOOKERROR": 15136,
    "NEEDQUET": 15137, "ETEERROR": 15138, "HISTJOBID": 15139, "JOBHISTNOTSET": 15140, "MIXENTLIMS": 15141, "JOBINRESV_CONFLICT": 15156,
    "ENTLIMCT": 15160, "ENTLIMRESC": 15161, "MAX_NO_MINWT": 15162, "MIN_GT_MAXWT": 15163, "NOSTF_RESV": 15164, "NOSTF_JOBARRAY": 15165,
    "NOLIMIT_RESOURCE": 15166, "MOM_INCOMPLETE_HOOK": 15167, "MOM_REJECT_ROOT_SCRIPTS": 15168, "HOOK_REJECT": 15169,
    "HOOK_REJECT_RERUNJOB": 15170, "HOOK_REJECT_DELETEJOB": 15171, "IVAL_OBJ_NAME": 15172, "JOBNBIG": 15173, "RESCBUSY": 15174, "JOBSCRIPTMAXSIZE": 15175, "BADJOBSCRIPTMAXSIZE": 15176, "WRONG_RESUME": 15177, "RESV_NOT_EMPTY": 15178,
    "STDG_RESV_OCCR_CONFLICT": 15179, "SOFTWT_STF": 15180, "RESV_FROM_RESVJOB": 15181, "RESV_FROM_ARRJOB": 15182,
    "SELECT_NOT_SUBSET": 15183, "SCHEDEXIST": 15211, "SCHED_NAME_BIG": 15212, "UNKSCHED": 15213, "SCHED_NO_DEL": 15214,
    "SCHED_PRIV_EXIST": 15215, "SCHED_LOG_EXIST": 15216, "ROUTE_QUE_NO_PARTITION": 15217, "CANNOT_SET_ROUTE_QUE": 15218,
    "QUE_NOT_IN_PARTITION": 15219, "PART_NOT_IN_QUE": 15220, "INVALID_PARTITION_QUE": 15221, "SCHED_OP_NOT_PERMITTED": 15223,
    "SCHED_PARTITION_ALREADY_EXISTS": 15224, "SVR_SCHED_JSF_INCOMPAT": 15226, "NODE_BUSY": 15227, "DEFAULT_PARTITION": 15228,
}

# The options of qsub that set attributes, by the names of PBS's programming interface.
ATTRS = {
    "a": "Execution_Time", "A": "Account_Name", "c": "Checkpoint", "e": "Error_Path", "g": "group_list", "h": "Hold_Types",
    "inter": "interactive", "j": "Join_Path", "J": "array_indices_submitted", "k": "Keep_Files", "l": "Resource_List",
    "m": "Mail_Points", "M": "Mail_Users", "N": "Job_Name", "o": "Output_Path", "p": "Priority", "q": "destination",
    "r": "Rerunable", "S": "Shell_Path_List", "u": "User_List", "v": "Variable_List", "R": "Remove_Files", "W": "Additional_Attributes",
    "array": "array", "array_id": "array_id", "array_index": "array_index", "array_state_count": "array_state_count",
    "array_indices_remaining": "array_indices_remaining", "array_indices_submitted": "array_indices_submitted",
    "comment": "comment", "ctime": "ctime", "depend": "depend", "exechost": "exec_host", "execvnode": "exec_vnode",
    "exit_status": "Exit_status", "mtime": "mtime", "qtime": "qtime", "etime": "etime", "stime": "stime", "owner": "Job_Owner",
    "project": "project", "queue": "queue", "rerunable": "Rerunable", "resv_ID": "reserve_ID", "runcount": "run_count",
    "run_version": "run_version", "sandbox": "sandbox", "server": "server", "session": "session_id", "stagein": "stagein",
    "stageout": "stageout", "state": "job_state", "substate": "substate", "umask": "umask", "used": "resources_used",
    "block": "block", "estimated": "estimated", "eligible_time": "eligible_time", "accrue_type": "accrue_type",
    "euser": "euser", "egroup": "egroup", "name": "Job_Name", "node_name": "node_name", "NODE_state": "state",
    "rescavail": "resources_available", "rescassn": "resources_assigned", "rescdflt": "resources_default", "rescmax": "resources_max",
    "rescmin": "resources_min", "enable": "enabled", "start": "started", "dfltque": "default_queue", "scheduling": "scheduling",
    "max_run": "max_run", "max_run_res": "max_run_res", "max_queued": "max_queued", "managers": "managers", "operators": "operators",
    "total": "total_jobs", "qtype": "queue_type", "status": "server_state", "SvrHost": "server_host", "version": "pbs_version",
    "tolerate_node_failures": "tolerate_node_failures", "release_nodes_on_stageout": "release_nodes_on_stageout",
    "submit_host": "Submit_Host", "max_run_subjobs": "max_run_subjobs",
    "Arglist": "argument_list", "DefaultChunk": "default_chunk", "EligibleTimeEnable": "eligible_time_enable", "FLicenses": "FLicenses",
    "FlatUID": "flatuid", "HasNodes": "hasnodes",
    "JobHistoryDuration": "job_history_duration", "JobHistoryEnable": "job_history_enable", "NODE_Host": "Host", "NODE_License": "license",
    "NODE_LicenseInfo": "license_info", "NODE_Mom": "Mom", "NODE_NoMultiNode": "no_multinode_jobs", "NODE_No_Tasks": "no_tasks",
    "NODE_Port": "Port", "NODE_ProvisionEnable": "provision_enable", "NODE_Sharing": "sharing", "NODE_TopologyInfo": "topology_info",
    "NODE_current_aoe": "current_aoe", "NODE_in_multivnode_host": "in_multivnode_host", "NODE_jobs": "jobs",
    "NODE_last_state_change_time": "last_state_change_time", "NODE_last_used_time": "last_used_time", "NODE_np": "np", "NODE_ntype": "ntype",
    "NODE_pcpus": "pcpus", "NODE_properties": "properties", "NODE_resv_enable": "resv_enable", "NODE_resvs": "resv",
    "NodeGroupEnable": "node_group_enable", "NodeGroupKey": "node_group_key", "PNames": "pnames", "RESC_FLAG": "flag", "RESC_TYPE": "type",
    "ReqCred": "require_cred", "ReqCredEnable": "require_cred_enable", "ResvEnable": "resv_enable", "SchedHost": "sched_host",
    "SchedSelect": "schedselect", "X11_cookie": "forward_x11_cookie", "X11_port": "forward_x11_port", "acct_id": "accounting_id",
    "aclResvgren": "acl_resv_group_enable", "aclResvgroup": "acl_resv_groups", "aclResvhost": "acl_resv_hosts",
    "aclResvhten": "acl_resv_host_enable", "aclResvuren": "acl_resv_user_enable", "aclResvuser": "acl_resv_users",
    "aclgren": "acl_group_enable", "aclgroup": "acl_groups", "aclhost": "acl_hosts", "aclhten": "acl_host_enable", "aclroot": "acl_roots",
    "acluren": "acl_user_enable", "acluser": "acl_users", "altid": "alt_id", "altid2": "alt_id2", "altrouter": "alt_router",
    "auth_g": "Authorized_Groups", "auth_h": "Authorized_Hosts", "auth_u": "Authorized_Users", "backfill_depth": "backfill_depth",
    "chkptmin": "checkpoint_min", "cookie": "cookie", "count": "state_count", "cred": "cred", "defnode": "default_node",
    "del_idle_time": "delete_idle_time", "dfltqdelargs": "default_qdel_arguments", "dfltqsubargs": "default_qsub_arguments",
    "do_not_span_psets": "do_not_span_psets", "exechost2": "exec_host2", "executable": "executable", "fromroute": "from_route_only",
    "gridname": "gridname", "hashname": "hashname", "history_timestamp": "history_timestamp", "hopcount": "hop_count", "job": "reserve_job",
    "job_requeue_timeout": "job_requeue_timeout", "job_sort_formula": "job_sort_formula", "jobdir": "jobdir", "killdelay": "kill_delay",
    "license_count": "license_count", "license_linger": "pbs_license_linger_time", "license_max": "pbs_license_max",
    "license_min": "pbs_license_min", "locsvrs": "location_servers", "logevents": "log_events", "logfile": "log_file",
    "mailfrom": "mail_from", "max_concurrent_prov": "max_concurrent_provision", "max_job_sequence_id": "max_job_sequence_id",
    "max_queued_res": "max_queued_res", "max_run_res_soft": "max_run_res_soft", "max_run_soft": "max_run_soft",
    "maxarraysize": "max_array_size", "maxgroupres": "max_group_res", "maxgroupressoft": "max_group_res_soft", "maxgrprun": "max_group_run",
    "maxgrprunsoft": "max_group_run_soft", "maxque": "max_queuable", "maxrun": "max_running", "maxuserres": "max_user_res",
    "maxuserressoft": "max_user_res_soft", "maxuserrun": "max_user_run", "maxuserrunsoft": "max_user_run_soft", "metaid": "meta_id",
    "nodefailrq": "node_fail_requeue", "nodepack": "node_pack", "pbs_license_info": "pbs_license_info",
    "power_provisioning": "power_provisioning", "qrank": "queue_rank", "queryother": "query_other_jobs", "refresh": "last_context_refresh",
    "rel_list": "resource_released_list", "released": "resources_released", "resccost": "resources_cost",
    "resendtermdelay": "resend_term_delay", "restrict_res_to_release_on_suspend": "restrict_res_to_release_on_suspend",
    "resv_Tag": "reservation_Tag", "resvTag": "reserve_Tag", "resv_alter_revert": "reserve_alter_revert", "resv_count": "reserve_count",
    "resv_duration": "reserve_duration", "resv_end": "reserve_end", "resv_execvnodes": "reserve_execvnodes", "resv_idx": "reserve_index",
    "resv_name": "Reserve_Name", "resv_nodes": "resv_nodes", "resv_owner": "Reserve_Owner", "resv_retry": "reserve_retry",
    "resv_retry_init": "reserve_retry_init", "resv_retry_time": "reserve_retry_time", "resv_rrule": "reserve_rrule",
    "resv_standing": "reserve_standing", "resv_start": "reserve_start", "resv_state": "reserve_state", "resv_substate": "reserve_substate",
    "resv_timezone": "reserve_timezone", "rndzretry": "rendezvous_retry", "routedest": "route_destinations", "routeheld": "route_held_jobs",
    "routelife": "route_lifetime", "routeretry": "route_retry_time", "routewait": "route_waiting_jobs", "rpp_highwater": "rpp_highwater",
    "rpp_max_pkt_check": "rpp_max_pkt_check", "rpp_retry": "rpp_retry", "rsvexpdt": "reserved_expedite", "rsvsync": "reserved_sync",
    "sched_cycle_len": "sched_cycle_length", "sched_preempt_enforce_resumption": "sched_preempt_enforce_resumption",
    "sched_server_dyn_res_alarm": "server_dyn_res_alarm", "schedit": "scheduler_iteration", "security": "security",
    "stageout_status": "Stageout_status", "convert": "qmove", "nodemux": "no_stdio_sockets", "number": "number_jobs",
    "resv_post_processing": "resv_post_processing_time", "sample_starttime": "sample_starttime", "sched_hint": "sched_hint",
    "submit_arguments": "Submit_arguments", "syscost": "system_cost",
}


def _family(prefix, members):
    return {prefix + word: number for word, number in members.items()}


FAMILIES = {
    "EVENTS": _family("EVENT_", EVENTS), "JOB_SUBSTATES": _family("JOB_SUBSTATE_", SUBSTATES), "MGR_CMDS": _family("MGR_CMD_", MGR_CMDS),
    "MGR_OBJS": _family("MGR_OBJ_", MGR_OBJS), "BATCH_OPS": _family("BATCH_OP_", BATCH_OPS),
    "BRP_CHOICES": _family("BRP_CHOICE_", BRP_CHOICES), "NODE_STATE": _family("ND_STATE_", NODE_STATES),
    "ATR_VFLAGS": _family("ATR_VFLAG_", ATR_VFLAGS),
}


def names(more):
    """All constants by their names, and for each family the names by their numbers."""
    out = {"ATTR_" + word: value for word, value in ATTRS.items()}
    out.update(_family("PBSE_", ERRORS))
    for family, members in {**FAMILIES, **more}.items():
        out.update(members)
        out["REVERSE_" + family] = {number: name for name, number in members.items()}
    out["REVERSE_JOB_SUBSTATE"] = out["REVERSE_JOB_SUBSTATES"]  # scripts have either
    return out
