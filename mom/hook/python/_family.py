"""Processes that belong together: a root with all that is below it."""

import os
import select
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
WITHIN = 10  # seconds; what does not die then is left behind

try:
    import ctypes

    _prctl = ctypes.CDLL(None, use_errno=True).prctl
except (ImportError, OSError, AttributeError) as e:
    print("hooks: no ctypes in this Python (%s): programs that hooks detach outlive hooks that fail" % e, file=sys.stderr)
    _prctl = None


def gather():
    """Have whatever is detached below this process become its child; tell whether that is so."""
    return _prctl is not None and _prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def hold(pipe):
    """Wait until nobody has the other end of the pipe, then end what is below this process."""
    watch = select.poll()
    watch.register(pipe, 0)  # nothing is ever written to it
    while not watch.poll():
        pass
    end([os.getpid()])


TELLS = os.path.exists("/proc/self/task/%d/children" % os.getpid())  # the kernel does


def offspring():
    """The children of all live processes of the host, by number."""
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, errors="replace") as f:
                    fields = f.read().rpartition(")")[2].split()
            except OSError:
                continue
            if len(fields) > 1 and fields[0] not in "ZX":
                found.setdefault(int(fields[1]), []).append(int(name))
    return found


def children(pid):
    """The numbers of the children of a process: as long as it has any, some of them, whatever they do meanwhile."""
    if not TELLS:
        return offspring().get(pid, [])
    found = []
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, thread)) as f:
                found += [int(number) for number in f.read().split()]
    except OSError:
        pass
    return found


def below(roots):
    """The numbers of the processes below some."""
    table = None if TELLS else offspring()
    found, walk = set(), list(roots)
    while walk:
        pid = walk.pop()
        for child in children(pid) if table is None else table.get(pid, ()):
            if child not in found and child not in roots:
                found.add(child)
                walk.append(child)
    return found


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def end(roots):
    """Stop all that is below some processes, so that nobody forks any more, kill it, and then them."""
    deadline, roots, stopped = time.monotonic() + WITHIN, set(roots), set()
    while time.monotonic() < deadline:
        left = below(roots)
        if not left:
            break
        if left - stopped:
            send(left - stopped, signal.SIGSTOP)
            stopped |= left
            continue
        send(left, signal.SIGKILL)
        time.sleep(0.001)
    send(roots, signal.SIGKILL)
