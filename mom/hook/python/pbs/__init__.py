"""The module pbs that hooks import (specification: hooks section 6)."""

import json
import os
import sys
from types import SimpleNamespace

from pbs import _constants, _objects
from pbs._objects import job, queue, resv, server as _server_type, vnode
from pbs._types import *  # noqa: F401,F403
from pbs._types import (
    BadAttributeValueError, BadAttributeValueTypeError, BadResourceValueError, BadResourceValueTypeError,
    EventIncompatibleError, UnsetAttributeNameError, UnsetResourceNameError,
)

LOG_DEBUG, LOG_WARNING, LOG_ERROR = 7, 4, 3

ND_PBS = 0
_states = {
    "ND_" + {"state-unknown": "STATE_UNKNOWN", "provisioning": "PROV", "wait-provisioning": "WAIT_PROV",
             "job-busy": "JOBBUSY"}.get(_word, _word.upper().replace("-", "_")): _bit for _word, _bit in _objects.STATES.items()
}
globals().update(_states)
for _n, _word in enumerate(_objects.SHARINGS):
    globals()["ND_" + _word.upper()] = _n

JOB_STATE_TRANSIT, JOB_STATE_QUEUED, JOB_STATE_HELD, JOB_STATE_WAITING, JOB_STATE_RUNNING = 0, 1, 2, 3, 4
JOB_STATE_EXITING, JOB_STATE_EXPIRED, JOB_STATE_BEGUN, JOB_STATE_MOVED, JOB_STATE_FINISHED = 5, 6, 7, 8, 9
JOB_STATE_SUSPEND, JOB_STATE_SUSPEND_USERACTIVE = 400, 410
QTYPE_EXECUTION, QTYPE_ROUTE = 0, 1
SV_STATE_IDLE, SV_STATE_ACTIVE, SV_STATE_HOT, SV_STATE_SHUTDEL, SV_STATE_SHUTIMM, SV_STATE_SHUTSIG = 1, 2, 3, 4, 5, 6

hook_config_filename = None
pbs_conf = {}

globals().update(_constants.names({
    "RESV_STATE": {n.replace("RESV_", "RESV_STATE_", 1): v for n, v in _objects.RESV_STATES.items()},
    "JOB_STATE": {n: v for n, v in globals().items() if n.startswith("JOB_STATE_")},
}))

_run = SimpleNamespace(event=None, server=None, channel=None, host="", conf={}, conf_file="", reboot=None)


class _channel:
    """The two pipes to the daemon: lines of JSON."""

    def __init__(self, incoming, outgoing):
        self.incoming, self.outgoing = incoming, outgoing

    def send(self, what):
        data = (json.dumps(what) + "\n").encode()
        while data:
            data = data[os.write(self.outgoing, data):]

    def receive(self):
        line = self.incoming.readline()
        if not line:
            raise SystemExit(1)  # nobody listens any more
        return json.loads(line)

    def ask(self, kind, name):
        self.send({"ask": kind, "name": name})
        found = []
        while True:
            answer = self.receive()
            if "name" not in answer:
                return found
            found.append(answer)


class _env(dict):
    """The environment of a program: strings by their names."""


# What events have besides the common members.
_MEMBERS = {
    "queuejob": ("job",), "postqueuejob": ("job",), "modifyjob": ("job", "job_o"), "movejob": ("job", "src_queue"),
    "runjob": ("job",), "jobobit": ("job",), "resvsub": ("resv",), "modifyresv": ("resv", "resv_o"),
    "resv_confirm": ("resv",), "resv_begin": ("resv",), "resv_end": ("resv",), "modifyvnode": ("vnode", "vnode_o"),
    "management": ("management",), "periodic": ("vnode_list", "resv_list"), "provision": ("vnode", "aoe"),
    "execjob_begin": ("job", "vnode_list"), "execjob_prologue": ("job", "vnode_list", "vnode_list_fail"),
    "execjob_launch": ("job", "vnode_list", "vnode_list_fail", "progname", "argv", "env"),
    "execjob_attach": ("job", "vnode_list", "pid"), "execjob_resize": ("job", "vnode_list"),
    "execjob_preterm": ("job", "vnode_list"), "execjob_postsuspend": ("job", "vnode_list"),
    "execjob_preresume": ("job", "vnode_list"), "execjob_epilogue": ("job", "vnode_list"),
    "execjob_end": ("job", "vnode_list"), "execjob_abort": ("job", "vnode_list"),
    "exechost_startup": ("vnode_list",), "exechost_periodic": ("vnode_list", "job_list"),
}
_COMMON = ("type", "hook_name", "hook_type", "requestor", "requestor_host", "user", "alarm", "debug", "enabled", "freq",
           "order", "fail_action")
_WRITABLE = ("progname", "argv", "env")
# What counts of what a hook has set of the job that it refuses.
_AT_REFUSAL = {"runjob": ("Hold_Types", "Execution_Time", "depend", "project")}


class _vnodes(dict):
    """Vnodes by their names; one can be added."""

    def __init__(self, found, settable, addable, mom):
        super().__init__((v["name"], vnode(v["name"], v["attrs"], _objects.SETTABLE_VNODE if settable else ())) for v in found)
        for one in self.values():
            one.__dict__["_asks"] = mom
        self._addable = addable

    def __setitem__(self, name, value):
        if not self._addable or not isinstance(value, vnode):
            raise BadAttributeValueError("a vnode cannot be added here")
        super().__setitem__(name, value)


class _event:
    """What happened."""

    def __init__(self, data):
        hook, kind = data["hook"], data["event"]
        members = {
            "type": _objects.schema["events"][kind], "hook_name": hook["name"], "hook_type": hook.get("type", "site"),
            "requestor": data.get("requestor", ""), "requestor_host": data.get("requestor_host", ""),
            "user": hook.get("user"), "alarm": int(hook.get("alarm", 30)), "debug": hook.get("debug") == "true",
            "enabled": True, "freq": int(hook.get("freq") or 120) if "periodic" in kind else None, "order": int(hook.get("order", 1)),
            "fail_action": hook.get("fail_action", "none"),
        }
        mom = data.get("mom", False)
        for member in _MEMBERS[kind]:
            members[member] = self._member(member, data, mom)
        self.__dict__.update(_kind=kind, _members=members, _set=set(), _data=data)

    @staticmethod
    def _member(member, data, mom):
        found = data.get(member)
        settable = data.get("settable", ())
        if member in ("job", "job_o"):
            if found is None:
                return None
            releases = data.get("releases", ()) if member == "job" else ()
            return job(found["name"], found["attrs"], settable if member == "job" else (), data.get("ms", False), releases=releases)
        if member in ("resv", "resv_o"):
            return resv(found["name"], found["attrs"], settable if member == "resv" else ()) if found else None
        if member == "src_queue":
            return queue(found) if found else None
        if member in ("vnode", "vnode_o"):
            return vnode(found["name"], found["attrs"], ()) if found else None
        if member in ("vnode_list", "vnode_list_fail"):
            changes = data.get("vnodes_settable", False)
            return _vnodes(found or (), changes, changes, mom)
        if member == "job_list":
            return {j["name"]: job(j["name"], j["attrs"], settable, j.get("ms", False)) for j in found or ()}
        if member == "resv_list":
            return None  # until somebody looks at it
        if member == "env":
            return _env(found or {})
        if member == "argv":
            return list(found or ())
        if member == "management" and found is not None:
            return SimpleNamespace(**{**found, "attribs": [_objects.server_attribute(**a) for a in found.get("attribs") or ()]})
        return found

    def __getattr__(self, name):
        members = self.__dict__.get("_members", {})
        if name == "resv_list" and members.get(name, 0) is None:
            members[name] = {r.resvid: r for r in server().resvs()}
        if name in members:
            return members[name]
        raise EventIncompatibleError("'%s' is not a member of this event" % name)

    def __setattr__(self, name, value):
        if name not in self._members:
            raise EventIncompatibleError("'%s' is not a member of this event" % name)
        if name not in _WRITABLE:
            raise BadAttributeValueError("'%s' of an event cannot be set" % name)
        self._members[name] = value

    def __dir__(self):
        return sorted({*object.__dir__(self), *self._members})

    def accept(self):
        """End the hook; what it has changed takes effect."""
        raise _End(True, "", 0)

    def reject(self, message="", code=255):
        """End the hook; the action is refused."""
        raise _End(False, str(message), int(code))

    def _answer(self):
        out = {}
        m = self._members
        if isinstance(m.get("job"), job):
            out["job"] = m["job"]._answer()
        if isinstance(m.get("resv"), resv):
            out["resv"] = m["resv"]._answer()
        if "job_list" in m:
            out["jobs"] = _changed(m["job_list"])
        for member in ("vnode_list", "vnode_list_fail"):
            for name, v in m.get(member, {}).items():
                before = any(f["name"] == name for f in self._data.get(member) or ())
                if v._changes or not before:
                    known, more = out.setdefault("vnodes", {}).get(name, {}), v._answer()
                    out["vnodes"][name] = {key: {**known.get(key, {}), **more[key]} for key in more}
        for member in _WRITABLE:
            if member in m:
                out[member] = m[member]
        if "argv" in out:
            out["argv"] = [str(a) for a in out["argv"]]
        if "env" in out:
            out["env"] = {str(k): str(v) for k, v in dict(out["env"]).items()}
        return out


def _changed(jobs):
    """What is told of those of several jobs that a hook has changed."""
    answers = ((name, one._answer()) for name, one in jobs.items())
    return {name: answer for name, answer in answers if answer["set"] or "wish" in answer}


class _End(SystemExit):
    """The end of a hook by its own word."""

    def __init__(self, accepted, message, code):
        super().__init__(0)
        self.accepted, self.message, self.status = accepted, message, code


def event():
    """The event at which the hook runs."""
    return _run.event


def server():
    """The server."""
    return _run.server


def logmsg(level, text):
    """Write a line into the log of this host's daemon."""
    _run.channel.send({"log": int(level), "text": str(text)})


def logjobmsg(jobid, text):
    """Write a line about a job into the log of this host's daemon."""
    _run.channel.send({"log": LOG_DEBUG, "job": str(jobid), "text": str(text)})


def get_local_nodename():
    """The name of this host's natural vnode."""
    return _run.node


def get_local_host_name():
    """The name of this host."""
    return _run.host


def get_pbs_server_name():
    """The name of the server. PBS_SERVER names the hosts of all replicas."""
    return server().name


def get_pbs_conf():
    """The configuration file of this host, by keys."""
    conf = {}
    try:
        with open(_run.conf_file) as f:
            for line in f:
                key, sign, value = line.strip().partition("=")
                if sign and not key.startswith("#"):
                    conf[key.strip()] = value.strip().strip('"')
    except OSError:
        pass
    conf.update(_run.conf)
    return conf


def get_hook_config_file():
    """The path of the hook's configuration file, None if it has none."""
    return hook_config_filename


def reboot(command=""):
    """End the hook and restart this host."""
    _run.reboot = command or "reboot"
    raise _End(False, "reboot", 0)


def _constants():
    for name, bit in _objects.schema["events"].items():
        globals()[name.upper()] = globals()["HOOK_EVENT_" + name.upper()] = bit


def _init(schema):
    """Learn the tables of attributes, resources and events."""
    _objects.schema.update(schema)
    _constants()


def _begin(data, channel):
    """Prepare the run of one hook."""
    global hook_config_filename, pbs_conf
    _objects.schema["resources"] = {**_objects.schema["resources"], **data.get("resources", {})}
    _run.channel, _run.reboot = channel, None
    _run.host = data.get("host", "").split(".")[0]
    _run.node = data.get("node") or _run.host
    _run.conf, _run.conf_file = data.get("conf", {}), data.get("conf_file", "")
    _run.server = _server_type(channel.ask)
    _run.event = _event(data)
    hook_config_filename = data.get("config") or None
    if hook_config_filename:
        os.environ["PBS_HOOK_CONFIG_FILE"] = hook_config_filename
    else:
        os.environ.pop("PBS_HOOK_CONFIG_FILE", None)
    pbs_conf = get_pbs_conf()


def _finish(end):
    """What is told to the daemon about a hook that has come to its end."""
    out = {"accept": end.accepted, "message": end.message, "code": end.status}
    if end.accepted:
        out.update(_run.event._answer())
        changed = _changed(_run.server._changed)
        if changed:
            out.setdefault("jobs", {}).update(changed)
    else:
        wished = _run.event._members.get("job")
        if isinstance(wished, job) and wished._wish:
            out["job"] = {"set": {}, "types": {}, "wish": wished._wish}
        kept = {n: v for n, v in wished._changes.items() if n in _AT_REFUSAL.get(_run.event._kind, ("Hold_Types",))} if isinstance(wished, job) else {}
        if kept:
            out.setdefault("job", {"types": {}})["set"] = kept
        vnodes = _run.event._answer().get("vnodes")
        if vnodes:
            out["vnodes"] = vnodes
    if _run.server._restart:
        out["restart"] = True
    if _run.reboot:
        out["reboot"] = _run.reboot
    return out
