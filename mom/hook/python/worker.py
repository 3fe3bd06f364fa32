"""The warm interpreter: it forks for each hook that runs, and does nothing else.

A fork is the root of a family: it holds whatever the script's process, its child, detaches, and runs no script
itself. The daemon ends the family, or what of it is to end; the root does so when there is no daemon any more."""

import base64
import gc
import json
import os
import resource
import signal
import socket
import sys
import traceback

# What hooks usually import is there already when they run.
import datetime, platform, re, shutil, string, subprocess, threading, time  # noqa: E401,F401

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import _family  # noqa: E402
import pbs  # noqa: E402

MEMORY = 8 << 30
FILES = 4096
PROCESSES = 4096  # of the account; the kernel does not hold root to it


def main():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "schema.json")) as f:
        pbs._init(json.load(f))
    door = socket.socket(fileno=3)
    os.set_inheritable(3, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    live, dead = set(), set()
    gc.collect()
    gc.freeze()  # what is here stays shared with the forks
    while True:
        try:
            message, fds, _, _ = socket.recv_fds(door, 4096, 4)
        except OSError:
            message = b""
        if not message:
            end(live)
            return
        request = json.loads(message)
        if "reap" in request:
            dead.add(request["reap"])
        for pid in list(dead):
            try:
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    continue
            except ChildProcessError:
                pass
            dead.discard(pid)
            live.discard(pid)
        if len(fds) != 4:
            continue
        try:
            pid = os.fork()
        except OSError as e:
            pid = -e.errno
        if pid == 0:
            root(door, request["id"], *fds)
        if pid > 0:
            live.add(pid)
        for fd in fds:
            os.close(fd)
        if pid < 0:
            door.send(json.dumps({"id": request["id"], "pid": pid}).encode())


def end(live):
    """The daemon is gone, or wants no hooks any more: nobody else ends what they have left."""
    _family.end(live)


def root(door, number, incoming, outgoing, noise, life):
    """Hold the family of a script's process for as long as the daemon listens. It never returns."""
    try:
        held = _family.gather()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps for it
        try:
            pid = os.fork()
        except OSError as e:
            pid = -e.errno
        if pid == 0:
            door.close()
            os.close(life)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            child(incoming, outgoing, noise)
        door.send(json.dumps({"id": number, "pid": os.getpid() if pid > 0 else pid, "session": max(pid, 0), "holds": held}).encode())
        door.close()
        for fd in (incoming, outgoing, noise):
            os.close(fd)
        if pid > 0:
            _family.hold(life)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def child(incoming, outgoing, noise):
    """Run one hook. It never returns."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for fd in (incoming, outgoing):
            os.set_inheritable(fd, False)  # what the hook starts does not speak for it
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(noise, 1)
        os.dup2(noise, 2)
        os.close(null)
        os.close(noise)
        channel = pbs._channel(os.fdopen(incoming, "rb"), outgoing)
        request = channel.receive()
        if request.get("compile"):
            channel.send({"done": check(base64.b64decode(request["script"] or ""), title(request))})
        else:
            become(request)
            serve(request, channel)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(0)


def title(request):
    return request["data"].get("path") or "<%s>" % request["data"]["hook"]["name"]


def serve(request, channel):
    """Run hooks, one after the other, as long as nothing is left behind that would disturb the next one."""
    me, environment, scripts = os.getpid(), dict(os.environ), {}
    while True:
        if request.get("script"):
            scripts[request.get("key")] = base64.b64decode(request["script"])
        wall, cpu = time.monotonic(), time.process_time()
        answer = run(request["data"], scripts.get(request.get("key"), b""), title(request), channel)
        answer["took"] = {"walltime": time.monotonic() - wall, "cputime": time.process_time() - cpu}
        if os.getpid() != me:
            os._exit(0)  # a fork of the script's own has come to its end, which is nobody's answer
        for out in (sys.stdout, sys.stderr):
            try:
                out.flush()
            except (OSError, ValueError, AttributeError):
                pass
        stays = bool(request.get("stays")) and alone()
        channel.send({"done": answer, "item": request.get("item", 0), "stays": stays})
        if not stays:
            return
        request = channel.receive()
        tidy(request, environment)


def alone():
    """Tell whether the script has left neither a thread nor a process, detached or not, and can be heard."""
    if threading.active_count() > 1 or sys.__stdout__.closed or sys.__stderr__.closed:
        return False
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return _family.children(os.getppid()) == [os.getpid()]
    return False


def tidy(request, environment):
    """Take back what a script may have changed of its process."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in (signal.SIGALRM, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    sys.stdout, sys.stderr, sys.argv = sys.__stdout__, sys.__stderr__, sys.argv[:1]
    os.umask(0o022)
    if dict(os.environ) != environment:
        os.environ.clear()
        os.environ.update(environment)
    work_in(request)


def check(script, name):
    try:
        compile(script, name, "exec", dont_inherit=True)
        return {"accept": True}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        return {"accept": False, "message": "%s: %s" % (type(e).__name__, e)}


def become(request):
    """Take the limits and the account under which the hook runs."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for which, most in ((resource.RLIMIT_NOFILE, FILES), (resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_NPROC, PROCESSES)):
        _, hard = resource.getrlimit(which)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(which, (most, most))
    os.umask(0o022)
    user = request.get("user")
    if user:
        os.setgroups(user["groups"])
        os.setgid(user["gid"])
        os.setuid(user["uid"])
        os.environ.update(HOME=user["home"], USER=user["name"], LOGNAME=user["name"])
    work_in(request)


def work_in(request):
    try:
        os.chdir(request["dir"])
    except OSError:
        os.chdir("/")


def story(e):
    """What PBS logs of an exception, its class and its text, and where in the script it came from."""
    own = e.__traceback__.tb_next if e.__traceback__ is not None else None
    told = traceback.format_exception(type(e), e, own)[:-1] if own else traceback.format_exception_only(type(e), e)
    return "%s\n%s\n%s" % (type(e), e, "".join(told)[-8192:])


def run(data, script, name, channel):
    try:
        pbs._begin(data, channel)
        code = compile(script, name, "exec", dont_inherit=True)
        exec(code, {"__name__": "__main__", "__builtins__": __builtins__, "__file__": name})
    except pbs._End as end:
        return pbs._finish(end)
    except SystemExit as end:
        if end.code not in (None, 0):
            print("the hook has ended with status %r" % (end.code,))
            return {"failed": "SystemExit: %r" % (end.code,)}
    except BaseException as e:
        traceback.print_exc()
        return {"failed": "%s: %s" % (type(e).__name__, e), "traceback": story(e)}
    return pbs._finish(pbs._End(True, "", 0))


if __name__ == "__main__":
    main()
