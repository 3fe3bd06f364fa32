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
}


def _family(prefix, members):
    return {prefix + word: number for word, number in members.items()}


FAMILIES = {
    "EVENTS": _family("EVENT_", EVENTS), "JOB_SUBSTATES": _family("JOB_SUBSTATE_", SUBSTATES), "MGR_CMDS": _family("MGR_CMD_", MGR_CMDS),
    "MGR_OBJS": _family("MGR_OBJ_", MGR_OBJS), "BATCH_OPS": _family("BATCH_OP_", BATCH_OPS),
    "BRP_CHOICES": _family("BRP_CHOICE_", BRP_CHOICES), "ATR_VFLAGS": _family("ATR_VFLAG_", ATR_VFLAGS),
}


def names(more):
    """All constants by their names, and for each family the names by their numbers."""
    out = {"ATTR_" + word: value for word, value in ATTRS.items()}
    for family, members in {**FAMILIES, **more}.items():
        out.update(members)
        out["REVERSE_" + family] = {number: name for name, number in members.items()}
    return out
