"""The objects of the module pbs. What a hook changes is kept beside what was there."""

import re
import sys
from xml.sax.saxutils import escape, unescape

import pbs._types as types
from pbs._values import boolean, resource_text, resource_value, schema, type_of

STATES = {
    "free": 0, "offline": 0x1, "down": 0x2, "unresolvable": 0x8, "job-busy": 0x10, "Stale": 0x20, "job-exclusive": 0x40,
    "busy": 0x80, "state-unknown": 0x100, "provisioning": 0x800, "wait-provisioning": 0x1000, "resv-exclusive": 0x2000,
    "maintenance": 0x20000, "sleep": 0x40000,
}
SHARINGS = ["default_shared", "ignore_excl", "force_excl", "default_excl", "default_exclhost", "force_exclhost"]
RESV_STATES = {
    "RESV_NONE": 0, "RESV_UNCONFIRMED": 1, "RESV_CONFIRMED": 2, "RESV_WAIT": 3, "RESV_TIME_TO_RUN": 4, "RESV_RUNNING": 5,
    "RESV_FINISHED": 6, "RESV_BEING_DELETED": 7, "RESV_DELETED": 8, "RESV_DELETING_JOBS": 9, "RESV_DEGRADED": 10,
    "RESV_BEING_ALTERED": 11, "RESV_IN_CONFLICT": 12,
}
JOB_STATES = {"T": 0, "Q": 1, "H": 2, "W": 3, "R": 4, "E": 5, "X": 6, "B": 7, "M": 8, "F": 9, "S": 400, "U": 410}


class constant(str):
    """A word that equals the constant for it, too."""

    _numbers = {"Execution": 0, "Route": 1, "Idle": 1, "Active": 2}

    def __eq__(self, other):
        if isinstance(other, int):
            return self._numbers.get(str(self)) == other
        return str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


_SPECIAL = {
    "job": {
        "Hold_Types": types.hold_types, "exec_vnode": types.exec_vnode, "exec_host": types.exec_host,
        "Join_Path": types.join_path, "Keep_Files": types.keep_files, "Mail_Points": types.mail_points,
        "Checkpoint": types.checkpoint, "depend": types.depend, "schedselect": types.select,
        "Variable_List": types.pbs_env, "group_list": types.group_list, "User_List": types.user_list,
        "Mail_Users": types.email_list, "Shell_Path_List": types.path_list, "stagein": types.staging_list,
        "stageout": types.staging_list, "array_indices_submitted": types.range, "array_indices_remaining": types.range,
        "argument_list": types.args,
    },
    "server": {
        "acl_hosts": types.acl, "acl_users": types.acl, "acl_groups": types.acl, "managers": types.acl, "operators": types.acl,
        "job_sort_formula": types.job_sort_formula, "license_count": types.license_count,
        "state_count": types.state_count, "node_group_key": types.node_group_key, "pbs_version": types.version,
        "server_state": constant,
    },
    "queue": {
        "acl_hosts": types.acl, "acl_users": types.acl, "acl_groups": types.acl, "state_count": types.state_count,
        "node_group_key": types.node_group_key, "route_destinations": types.route_destinations, "queue_type": constant,
    },
    "vnode": {"pbs_version": types.version},
    "resv": {
        "Reserve_Name": types.name, "Authorized_Users": types.acl, "Authorized_Groups": types.acl, "Authorized_Hosts": types.acl,
        "User_List": types.user_list, "group_list": types.group_list, "Mail_Points": types.mail_points, "Mail_Users": types.email_list,
        "Variable_List": types.pbs_env, "reserve_duration": types._seconds, "schedselect": types.select,
    },
}


class resources:
    """The values of a resource list by their names."""

    def __init__(self, owner, attribute, values):
        self.__dict__.update(_owner=owner, _attribute=attribute, _values=values)

    def _known(self, name):
        if name not in schema["resources"] and name not in self._values:
            raise types.UnsetResourceNameError("resource attribute '%s' not found" % name)

    def __getitem__(self, name):
        self._known(name)
        return resource_value(name, self._values.get(name))

    def __setitem__(self, name, value):
        self._owner._may(self._attribute)
        if name not in schema["resources"]:
            if value is None or not self._owner._defines:
                self._known(name)
            self._owner._types[name] = type_of(value)
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = resource_text(name, value)
        self._owner._changes[self._attribute + "." + name] = self._values.get(name)

    def __delitem__(self, name):
        self[name] = None

    def __contains__(self, name):
        return name in self._values

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._values)

    def keys(self):
        return list(self._values)

    def values(self):
        return [self[k] for k in self._values]

    def items(self):
        return [(k, self[k]) for k in self._values]

    def get(self, name, default=None):
        value = self[name] if name in self._values else None
        return default if value is None else value

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(str(e)) from None

    def __setattr__(self, name, value):
        self[name] = value

    def __str__(self):
        return ",".join("%s=%s" % item for item in self._values.items())

    __repr__ = __str__


class _object:
    _kind = "job"

    def __init__(self, name, attrs=(), settable=(), defines=False):
        values, lists = {}, {}
        for attribute, resource, value in attrs:
            if resource or schema[self._kind].get(attribute) == "resources":
                lists.setdefault(attribute, {})[resource] = value
            else:
                values[attribute] = value
        self.__dict__.update(
            _name=name, _values=values, _lists=lists, _settable=frozenset(settable), _defines=defines, _changes={}, _types={}
        )

    @property
    def attributes(self):
        """The names of all attributes."""
        return list(schema[self._kind])

    def __dir__(self):
        """The names of all attributes and methods: hooks go through them."""
        return sorted({*object.__dir__(self), *schema[self._kind]})

    def _may(self, attribute):
        if attribute not in self._settable:
            raise types.BadAttributeValueError("%s attribute '%s' is readonly" % (self._kind, attribute))
        if self.__dict__.get("_note") is not None:
            self._note[self._name] = self

    def __getattr__(self, name):
        kind = schema[self._kind].get(name)
        if kind is None:
            raise types.UnsetAttributeNameError("%s attribute '%s' not found" % (self._kind, name))
        if kind == "resources":
            return resources(self, name, self._lists.setdefault(name, {}))
        return self._typed(name, kind, self._values.get(name))

    def _typed(self, name, kind, text):
        if text is None:
            return None
        special = _SPECIAL[self._kind].get(name)
        try:
            if special:
                return special(text)
            if kind in ("number", "epoch"):
                return int(text)
            if kind == "boolean":
                return boolean(text)
            if kind == "duration":
                return types.duration(text)
        except ValueError:
            pass
        return text

    def __setattr__(self, name, value):
        kind = schema[self._kind].get(name)
        if kind is None:
            raise types.UnsetAttributeNameError("%s attribute '%s' not found" % (self._kind, name))
        self._may(name)
        if value is None:
            self._values.pop(name, None)
            self._lists.pop(name, None)
            self._changes[name] = None
            return
        if kind == "resources":
            raise types.BadAttributeValueError("%s is a list of resources: set one of them" % name)
        self._values[name] = self._changes[name] = self._text(name, kind, value)

    def _text(self, name, kind, value):
        if isinstance(value, bool):
            return "True" if value else "False"
        if kind in ("number", "epoch"):
            try:
                return str(int(value))
            except (TypeError, ValueError):
                raise types.BadAttributeValueError("%s: %r is no number" % (name, value)) from None
        if kind == "variables" and isinstance(value, dict):
            return str(types.pbs_env(value))
        if name == "Hold_Types":
            return str(types.hold_types(value))
        if isinstance(value, (list, tuple, set)):
            return ",".join(str(v) for v in value)
        if isinstance(value, (bytes, dict)):
            raise types.BadAttributeValueTypeError("%s: %r has no text" % (name, value))
        return str(value)

    def _answer(self):
        return {"set": self._changes, "types": self._types}


class job(_object):
    """A job."""

    _kind = "job"

    def __init__(self, name, attrs=(), settable=(), ms=False, jobdir="", releases=()):
        super().__init__(name, attrs, settable)
        self.__dict__.update(_ms=ms, _wish=None, _earlier=list(releases), _releases=[], _assignment=[])
        self.__dict__["_variables"] = None

    @property
    def id(self):
        return self._name

    def __getattr__(self, name):
        if name == "job_state":
            return JOB_STATES.get(self._values.get(name))
        if name == "queue":
            text = self._values.get(name)
            return queue(text) if text else None
        if name == "resv":
            text = self._values.get("reserve_ID")
            return _server().resv(text) if text else None
        if name == "server":
            return self._values.get(name)
        if name == "executable":
            return _plain(self._values.get(name))
        if name == "Variable_List":
            if self._variables is None:
                self.__dict__["_variables"] = types.pbs_env(self._values.get(name) or "")
                self.__dict__["_before"] = str(self._variables)
                if self.__dict__.get("_note") is not None:  # it may be changed in place
                    self._note[self._name] = self
            return self._variables
        if name == "select_requested":
            return super().__getattr__("Resource_List").get("select_requested")
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        if name == "executable" and value is not None and not str(value).startswith("<"):
            value = "<jsdl-hpcpa:Executable>%s</jsdl-hpcpa:Executable>" % escape(str(value))
        if name == "argument_list" and value is not None and not str(value).startswith("<jsdl-hpcpa:Argument>"):
            words = value if isinstance(value, (list, tuple)) else str(value).split()
            value = "".join("<jsdl-hpcpa:Argument>%s</jsdl-hpcpa:Argument>" % escape(str(word)) for word in words)
        if name == "Variable_List":
            self.__dict__["_variables"] = None
        super().__setattr__(name, value)

    def in_ms_mom(self):
        """Whether this host is the mother superior."""
        return self._ms

    def rerun(self):
        """Have the job queued again when the hook has ended."""
        self.__dict__["_wish"] = "rerun"

    def delete(self):
        """Have the job deleted when the hook has ended."""
        self.__dict__["_wish"] = "delete"

    def is_checkpointed(self):
        """Whether there is a checkpoint of the job."""
        return "_checkpointed" in self._values

    def stdout_file(self):
        """The path of the standard output on this host, while the job is here."""
        return self._values.get("_stdout")

    def stderr_file(self):
        """The path of the standard error on this host, while the job is here."""
        return self._values.get("_stderr")

    def release_nodes(self, node_list=None, keep_select=None):
        """Give back vnodes before the program begins, those of node_list or all that keep_select does not need."""
        import pbs

        return _release(self, pbs.event(), node_list, keep_select)

    def _answer(self):
        if self._variables is not None and str(self._variables) != self._before and "Variable_List" in self._settable:
            self._changes["Variable_List"] = str(self._variables)
        out = super()._answer()
        if self._wish:
            out["wish"] = self._wish
        if self._releases:
            out["release"], out["assignment"] = self._releases, self._assignment
        return out

    def __str__(self):
        return self._name


def _plain(text):
    """A program's name without the mark that it is kept with."""
    found = re.match(r"<jsdl-hpcpa:Executable>(.*)</jsdl-hpcpa:Executable>$", text or "", re.DOTALL)
    return unescape(found.group(1)) if found else text


class released(dict):
    """The vnodes that were given back, and what the job has then."""

    exec_vnode = exec_host = schedselect = None


def _release(j, event, node_list, keep_select):
    import json

    import pbs

    if event._kind not in ("execjob_prologue", "execjob_launch"):
        return None
    if node_list is None and keep_select is None:
        pbs.logmsg(pbs.LOG_ERROR, "release_nodes: neither node_list nor keep_select is given")
        return None
    out = released()
    out.exec_vnode, out.exec_host, out.schedselect = j.exec_vnode, j.exec_host, j.schedselect
    if not j._ms or event._kind == "execjob_launch" and "PBS_NODEFILE" not in event.env:
        return out
    if j._values.get("tolerate_node_failures") not in ("all", "job_start"):
        pbs.logmsg(pbs.LOG_DEBUG, "%s: no nodes released as job does not tolerate node failures" % j.id)
        return out
    wish = {"vnodes": [str(n) for n in node_list]} if node_list is not None else {"keep": str(keep_select)}
    if wish.get("vnodes") == []:
        return out
    before = j._earlier + j._releases
    found = pbs._run.channel.ask("release", json.dumps(before + [wish]))
    if not found:
        return None
    attrs, vnodes = [], event.vnode_list
    gone = {name for earlier in before for name in earlier.get("gone", ())}
    for name, resource, value in found[0]["attrs"]:
        if name == "released":
            if value not in gone:
                out[value] = vnodes[value] if value in vnodes else vnode(value)
        elif resource:
            attrs.append((resource, value))
        else:
            j._values[name] = value
    j._lists["Resource_List"] = dict(attrs)
    j._releases.append(dict(wish, gone=list(out)))
    j._assignment[:] = [a for a in found[0]["attrs"] if a[0] != "released"]
    out.exec_vnode, out.exec_host, out.schedselect = j.exec_vnode, j.exec_host, j.schedselect
    return out


class server_attribute:
    """One change of a directive."""

    def __init__(self, name="", value="", resource="", op=0, flags=0, sisters=None):
        self.name, self.value, self.resource, self.op, self.flags = name, value, resource, op, flags
        self.sisters = [server_attribute(**one) for one in sisters or ()]

    def __str__(self):
        return "name=%s,resource=%s,value=%s,op=%s,flags=%s" % (self.name, self.resource, self.value, self.op, self.flags)

    __repr__ = __str__


class vnode(_object):
    """A vnode. One that a hook makes has nothing but what the hook sets. On a mom it asks the servers who is
    admin-suspended there."""

    _kind = "vnode"

    def __init__(self, name, attrs=(), settable=None, defines=True):
        super().__init__(name, attrs, SETTABLE_VNODE if settable is None else settable, defines)

    @property
    def name(self):
        return self._name

    def __getattr__(self, name):
        text = self.__dict__.get("_values", {}).get(name)
        if name == "state":
            bits = 0
            for word in (text or "free").split(","):
                bits |= STATES.get(word.strip(), 0)
            return bits
        if name == "sharing":
            return SHARINGS.index(text) if text in SHARINGS else None
        if name == "ntype":
            return 0
        if name.startswith("hpcbp_"):
            return text
        if name == "maintenance_jobs" and self.__dict__.get("_asks"):
            known = _server().vnode(self._name)
            return known.maintenance_jobs if known else None
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        if name.startswith("hpcbp_"):
            self._may("hpcbp_*")
            return
        if name == "state" and isinstance(value, int):
            value = "offline" if value & STATES["offline"] else "free"
        if name == "state" and not all(word.strip() in STATES for word in str(value or "free").split(",")):
            raise types.BadAttributeValueError("state: %r is none" % (value,))
        if name == "sharing" and isinstance(value, str) and value not in SHARINGS:
            raise types.BadAttributeValueError("sharing: %r is none" % (value,))
        if name == "sharing" and isinstance(value, int):
            if not 0 <= value < len(SHARINGS):
                raise types.BadAttributeValueError("sharing: %r is none" % (value,))
            value = SHARINGS[value]
        if name == "ntype":
            self._may(name)
            if value not in (0, None):
                raise types.BadAttributeValueError("ntype: %r is none" % (value,))
            return
        super().__setattr__(name, value)

    def __str__(self):
        return self._name


    def extract_state_strs(self):
        """The names of the constants that the state is made of."""
        return [name for _, name in self._states()]

    def extract_state_ints(self):
        """The constants that the state is made of."""
        return [bit for bit, _ in self._states()]

    def _states(self):
        all_states = sys.modules["pbs"].REVERSE_NODE_STATE
        state = self.state
        bits = [1 << n for n in range(state.bit_length()) if state & 1 << n]
        return [(bit, all_states[bit]) for bit in bits or [0]]


SETTABLE_VNODE = ("state", "sharing", "ntype", "pcpus", "comment", "hpcbp_*", "resources_available", "current_aoe")


class queue(_object):
    """A queue. It equals its name."""

    _kind = "queue"

    def __init__(self, name, attrs=None):
        super().__init__(name, attrs or ())
        self.__dict__["_loaded"] = attrs is not None

    def _load(self):
        if not self._loaded:
            found = _server().queue(self._name)
            self.__dict__.update(_loaded=True)
            if found is not None:
                self.__dict__.update(_values=found._values, _lists=found._lists)

    @property
    def name(self):
        return self._name

    def __getattr__(self, name):
        if not name.startswith("_"):
            self._load()
        return super().__getattr__(name)

    def job(self, name):
        """The job of this queue with the id, None if there is none."""
        found = _server().job(name)
        return found if found is not None and str(found.queue) == self._name else None

    def jobs(self):
        """The jobs of this queue."""
        return (j for j in _server().jobs() if str(j.queue) == self._name)

    def __str__(self):
        return self._name

    __repr__ = __str__

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(self._name)


class resv(_object):
    """A reservation."""

    _kind = "resv"

    @property
    def resvid(self):
        return self._name

    def __getattr__(self, name):
        text = self.__dict__.get("_values", {}).get(name)
        if name == "queue":
            return queue(text) if text else None
        if name == "server":
            return _server() if text else None
        if name == "reserve_state" and text:
            return int(text) if text.isdigit() else RESV_STATES.get(text)
        return super().__getattr__(name)

    def __setattr__(self, name, value):
        if name == "resvid":
            raise types.BadAttributeValueError("attribute 'resvid' is readonly")
        super().__setattr__(name, value)

    def _may(self, attribute):
        if not self._settable:
            raise types.BadAttributeValueError("attribute '%s' is part of a readonly object" % attribute)
        super()._may(attribute)

    def __str__(self):
        return self._name


class server(_object):
    """The server as it was when it was first asked for."""

    _kind = "server"

    def __init__(self, ask):
        super().__init__("", ())
        self.__dict__.update(_ask=ask, _loaded=False, _restart=False, _changed={})

    def _load(self):
        if self._loaded:
            return
        self.__dict__["_loaded"] = True
        for found in self._ask("server", ""):
            fresh = _object.__new__(server)
            _object.__init__(fresh, found["name"], found["attrs"])
            self.__dict__.update(_name=fresh._name, _values=fresh._values, _lists=fresh._lists)

    @property
    def name(self):
        self._load()
        return self._name

    def __str__(self):
        return self.name

    def __getattr__(self, name):
        if name in schema["server"]:
            self._load()
        return super().__getattr__(name)

    def _one(self, kind, make, name):
        for found in self._ask(kind, str(name)):
            return make(found["name"], found["attrs"])
        return None

    def _all(self, kind, make):
        return (make(found["name"], found["attrs"]) for found in self._ask(kind, ""))

    def job(self, name):
        """The job with the id, None if there is none. That of postqueuejob is as it was queued."""
        import pbs

        happened = pbs.event()
        if happened is not None and happened._kind == "postqueuejob" and str(name) == happened.job.id:
            return job(happened.job.id, happened._data["job"]["attrs"])
        return self._one("job", self._job, name)

    def _job(self, name, attrs):
        """A job, which periodic hooks may change."""
        import pbs

        happened = pbs.event()
        if happened is None or happened._kind != "periodic":
            return job(name, attrs)
        found = job(name, attrs, happened._data.get("settable") or ())
        found.__dict__["_note"] = self._changed
        return found

    def queue(self, name):
        """The queue with the name, None if there is none."""
        return self._one("queue", lambda n, a: queue(n, a), name)

    def vnode(self, name):
        """The vnode with the name, None if there is none."""
        return self._one("vnode", lambda n, a: vnode(n, a, ()), name)

    def resv(self, name):
        """The reservation with the id, None if there is none."""
        return self._one("resv", resv, name)

    def jobs(self):
        """All jobs."""
        return self._all("job", self._job)

    def queues(self):
        """All queues."""
        return self._all("queue", lambda n, a: queue(n, a))

    def vnodes(self):
        """All vnodes in the order of their creation."""
        return self._all("vnode", lambda n, a: vnode(n, a, ()))

    def resvs(self):
        """All reservations in the order of their creation."""
        return self._all("resv", resv)

    def scheduler_restart_cycle(self):
        """Have a scheduling cycle begin when the hook has ended."""
        self.__dict__["_restart"] = True


def _server():
    import pbs

    return pbs.server()
