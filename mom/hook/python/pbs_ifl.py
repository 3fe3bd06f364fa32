"""PBS's programming interface: its constants, and its functions, which ask the commands of this installation.

The functions have the names, arguments and results of PBS's library in C. A connection is a number, and names a
server. Lists are linked by next, as there, and can be iterated over, too. What fails returns None, -1 or the number
of the error, which is in pbs_errno until the next call; pbs_geterrmsg tells its text.
"""

import json
import os
import subprocess

from pbs._constants import ATTRS as _ATTRS, ERRORS as _ERRORS, MGR_CMDS as _MGR_CMDS, names as _names

globals().update(_names({}))

PBSE_NONE, PBSE_SYSTEM, PBSE_IVALREQ = (_ERRORS[word] for word in ("NONE", "SYSTEM", "IVALREQ"))

pbs_errno = PBSE_NONE

SET, UNSET, INCR, DECR, EQ, NE, GE, GT, LE, LT, DFLT = range(11)
_SIGNS = {SET: "=", INCR: "+=", DECR: "-="}
_TESTS = {SET: ".eq.", EQ: ".eq.", NE: ".ne.", GE: ".ge.", GT: ".gt.", LE: ".le.", LT: ".lt."}
_VERBS = {number: word.lower() for word, number in _MGR_CMDS.items()}
_OBJECTS = {0: "server", 1: "queue", 3: "node", 5: "resource", 6: "sched", 7: "node", 8: "hook", 9: "pbshook"}

# The options of qsub and qalter by the attribute that they set; the others are set by -W.
_OPTIONS = {_ATTRS[letter]: "-" + letter for letter in "aAcehjJklmMNoprRSuvq"}
_OPTIONS["project"] = "-P"


class _linked:
    next = None

    def __iter__(self):
        one = self
        while one is not None:
            yield one
            one = one.next


class attrl(_linked):
    """An attribute, or one resource of it, and the next one."""

    def __init__(self, name=None, resource=None, value=None, op=SET, next=None):
        self.name, self.resource, self.value, self.op, self.next = name, resource, value, op, next


attropl = attrl


class batch_status(_linked):
    """An object with its attributes, and the next one."""

    def __init__(self, name=None, attribs=None, text=None, next=None):
        self.name, self.attribs, self.text, self.next = name, attribs, text, next


_connections, _texts = {}, {}


def _configured():
    """What pbs.conf and the environment say."""
    found = {}
    try:
        with open(os.environ.get("PBS_CONF_FILE", "/etc/pbs.conf"), errors="replace") as f:
            for line in f:
                name, sign, value = line.strip().partition("=")
                if sign and not name.startswith("#"):
                    found[name.strip()] = value.strip().strip("'\"")
    except OSError:
        pass
    found.update((name, value) for name, value in os.environ.items() if name.startswith("PBS_"))
    return found


def _program(name):
    home = _configured().get("PBS_EXEC") or os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3)
    return os.path.join(home, "bin", name)


def _failed(connection, number, text=""):
    global pbs_errno
    pbs_errno, _texts[connection] = number, text.strip() or None
    return number


def _number(status, text):
    """The error that a command ended with: it says its number, or has the last eight bits of it as its status."""
    said = text.rpartition("Error (")[2].partition(")")[0]
    if said.isdigit():
        return int(said)
    if status < 3:
        return PBSE_SYSTEM
    return 14848 + status if status >= 152 else 15104 + status


def _ask(connection, name, *args):
    """What a command prints; None if it fails."""
    if connection not in _connections:
        _failed(connection, PBSE_IVALREQ, "no such connection")
        return None
    env = dict(os.environ)
    if _connections[connection]:
        env["PBS_DEFAULT"] = _connections[connection]
    try:
        done = subprocess.run([_program(name)] + [str(a) for a in args], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as e:
        _failed(connection, PBSE_SYSTEM, str(e))
        return None
    errors = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        _failed(connection, _number(done.returncode, errors), errors)
        return None
    _failed(connection, PBSE_NONE)
    return done.stdout.decode(errors="replace")


def _do(connection, name, *args):
    """0, or the number of the error."""
    return PBSE_NONE if _ask(connection, name, *args) is not None else pbs_errno


def _chain(items):
    first = None
    for item in reversed(items):
        item.next, first = first, item
    return first


def _shown(value):
    return value if isinstance(value, str) else json.dumps(value)


def _attributes(found, wanted):
    """A list of attributes: pairs of a name, and of a value or of values by resource."""
    names = {a.name for a in wanted} if wanted is not None else None
    out = []
    for name, value in found:
        if names is not None and name not in names:
            continue
        if name == "Variable_List" and isinstance(value, dict):
            value = ",".join("%s=%s" % (k, _shown(v)) for k, v in value.items())
        if isinstance(value, dict):
            out += [attrl(name, resource, _shown(v)) for resource, v in value.items()]
        else:
            out.append(attrl(name, None, _shown(value)))
    return _chain(out)


def _json(connection, key, wanted, name, *args):
    text = _ask(connection, name, *args)
    if text is None:
        return None
    objects = json.loads(text, object_pairs_hook=dict).get(key, {}) if text.strip() else {}
    return _chain([batch_status(n, _attributes(o.items(), wanted)) for n, o in objects.items()])


def _lines(connection, wanted, head, name, *args):
    """Objects of which each begins with a line of its name, and has lines ATTRIBUTE[.RESOURCE] = VALUE."""
    text = _ask(connection, name, *args)
    if text is None:
        return None
    found = []
    for line in text.splitlines():
        if line.startswith(head):
            found.append((line[len(head):].strip(), []))
            continue
        name, sign, value = line.strip().partition(" = ")
        if sign and found:
            attribute, dot, resource = name.partition(".")
            found[-1][1].append((attribute, {resource: value} if dot else value))
    return _chain([batch_status(n, _attributes(attributes, wanted)) for n, attributes in found])


def _of(id):
    return [id] if id else []


def pbs_default():
    """The name of the default server."""
    conf = _configured()
    return conf.get("PBS_DEFAULT") or conf.get("PBS_SERVER")


def pbs_connect(server):
    """The number of a connection to a server, None being the default one; -1 if there is none."""
    number = max(_connections, default=0) + 1
    _connections[number] = server or ""
    if _ask(number, "qstat", "-B") is None:
        del _connections[number]
        return -1
    return number


def pbs_disconnect(connection):
    if _connections.pop(connection, None) is None:
        return -1
    _texts.pop(connection, None)
    return 0


def pbs_geterrmsg(connection):
    """The text of the last error of a connection, None if its last call was well."""
    return _texts.get(connection)


def pbs_statfree(status):
    """There is nothing to free."""


def pbs_statserver(connection, attrib, extend):
    return _json(connection, "Server", attrib, "qstat", "-B", "-f", "-F", "json")


def pbs_statque(connection, id, attrib, extend):
    return _json(connection, "Queue", attrib, "qstat", "-Q", "-f", "-F", "json", *_of(id))


def pbs_statjob(connection, id, attrib, extend):
    options = [option for letter, option in (("x", "-x"), ("t", "-t")) if letter in (extend or "")]
    return _json(connection, "Jobs", attrib, "qstat", "-f", "-F", "json", *options, *_of(id))


def pbs_statvnode(connection, id, attrib, extend):
    return _json(connection, "nodes", attrib, "pbsnodes", "-v", "-F", "json", *(_of(id) or ["-a"]))


def pbs_stathost(connection, id, attrib, extend):
    return _json(connection, "nodes", attrib, "pbsnodes", "-F", "json", *(["-H", id] if id else ["-a"]))


pbs_statnode = pbs_stathost


def pbs_statresv(connection, id, attrib, extend):
    return _lines(connection, attrib, "Resv ID:", "pbs_rstat", "-F", *_of(id))


def pbs_statsched(connection, attrib, extend):
    return _lines(connection, attrib, "Sched ", "qmgr", "-c", "list sched")


def pbs_statrsc(connection, id, attrib, extend):
    return _lines(connection, attrib, "Resource ", "qmgr", "-c", "list resource " + (id or ""))


def _conditions(attrib):
    args = []
    for a in attrib or ():
        test = _TESTS.get(a.op, ".eq.")
        if a.name == "Resource_List":
            args += ["-l", "%s%s%s" % (a.resource, test, a.value)]
        elif a.name == "job_state":
            args += ["-s", a.value]
        elif a.name in ("Job_Owner", "User_List"):
            args += ["-u", a.value]
        elif a.name in ("queue", "destination"):
            args += ["-q", a.value]
        elif a.name == "array":
            args += ["-J"]
        elif a.name in ("Priority", "Execution_Time", "Checkpoint"):
            args += [_OPTIONS[a.name], test + str(a.value)]
        elif a.name in ("Account_Name", "Hold_Types", "Job_Name", "project", "Rerunable"):
            args += [_OPTIONS[a.name], a.value]
        else:
            return None
    return args


def pbs_selectjob(connection, attrib, extend):
    """The identifiers of the jobs that meet conditions."""
    args = _conditions(attrib)
    if args is None:
        _failed(connection, PBSE_IVALREQ, "an attribute by which jobs cannot be selected")
        return None
    options = [option for letter, option in (("x", "-x"), ("T", "-T")) if letter in (extend or "")]
    text = _ask(connection, "qselect", *args, *options)
    return None if text is None else text.split()


def _options(attrib):
    args = []
    for a in attrib or ():
        value = "" if a.value is None else str(a.value)
        if a.name == "Resource_List":
            args += ["-l", "%s=%s" % (a.resource, value)]
        elif a.name in _OPTIONS:
            args += [_OPTIONS[a.name], value]
        else:
            args += ["-W", "%s=%s" % (a.name, value)]
    return args


def pbs_submit(connection, attrib, script, destination, extend):
    """Submit the script in a file, and return the job's identifier."""
    attrib = list(attrib or ())
    args = _options(a for a in attrib if a.name != "Hold_Types")
    if any(a.name == "Hold_Types" and a.value not in (None, "", "n") for a in attrib):
        args += ["-h"]  # it has no argument here, and holds for the user
    if destination:
        args += ["-q", destination]
    text = _ask(connection, "qsub", *args, *_of(script))
    return None if text is None else text.strip()


def pbs_alterjob(connection, id, attrib, extend):
    return _do(connection, "qalter", *_options(attrib), id)


def pbs_deljob(connection, id, extend):
    options = []
    if "force" in (extend or ""):
        options += ["-W", "force"]
    if "deletehist" in (extend or ""):
        options += ["-x"]
    return _do(connection, "qdel", *options, id)


def pbs_holdjob(connection, id, hold, extend):
    return _do(connection, "qhold", "-h", hold or "u", id)


def pbs_rlsjob(connection, id, hold, extend):
    return _do(connection, "qrls", "-h", hold or "u", id)


def pbs_sigjob(connection, id, signal, extend):
    return _do(connection, "qsig", "-s", signal, id)


def pbs_rerunjob(connection, id, extend):
    return _do(connection, "qrerun", *(["-W", "force"] if extend == "force" else []), id)


def pbs_runjob(connection, id, location, extend):
    return _do(connection, "qrun", *(["-H", location] if location else []), id)


pbs_asyrunjob = pbs_runjob


def pbs_movejob(connection, id, destination, extend):
    return _do(connection, "qmove", destination, id)


def pbs_orderjob(connection, first, second, extend):
    return _do(connection, "qorder", first, second)


def pbs_msgjob(connection, id, file, message, extend):
    return _do(connection, "qmsg", *([o for bit, o in ((1, "-E"), (2, "-O")) if file & bit]), message, id)


def pbs_delresv(connection, id, extend):
    return _do(connection, "pbs_rdel", id)


def pbs_manager(connection, command, kind, name, attrib, extend):
    """Create, delete, set or unset, as qmgr does."""
    changes = []
    for a in attrib or ():
        change = a.name + ("." + a.resource if a.resource else "")
        if command != _MGR_CMDS["UNSET"]:
            value = "" if a.value is None else str(a.value)
            change += " %s %s" % (_SIGNS.get(a.op, "="), '"%s"' % value if '"' not in value else "'%s'" % value)
        changes.append(change)
    if command not in _VERBS or kind not in _OBJECTS:
        return _failed(connection, PBSE_IVALREQ, "no such command or object")
    return _do(connection, "qmgr", "-c", " ".join([_VERBS[command], _OBJECTS[kind], name or "", ", ".join(changes)]))
