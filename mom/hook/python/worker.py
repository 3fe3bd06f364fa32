"""The warm interpreter: it forks for each hook that runs, and does nothing else."""

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
import datetime, platform, re, shutil, string, subprocess, time  # noqa: E401,F401

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import pbs  # noqa: E402

MEMORY = 8 << 30
FILES = 4096


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
            message, fds, _, _ = socket.recv_fds(door, 4096, 3)
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
        if len(fds) != 3:
            continue
        try:
            pid = os.fork()
        except OSError as e:
            pid = -e.errno
        if pid == 0:
            door.close()
            child(*fds)
        if pid > 0:
            live.add(pid)
        for fd in fds:
            os.close(fd)
        door.send(json.dumps({"id": request["id"], "pid": pid}).encode())


def end(live):
    """The daemon is gone: nobody else ends what its hooks have left."""
    for pid in live:
        for kill in (os.killpg, os.kill):
            try:
                kill(pid, signal.SIGKILL)
            except OSError:
                pass


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
        script = base64.b64decode(request["script"])
        name = "<%s>" % request["data"]["hook"]["name"]
        if request.get("compile"):
            channel.send({"done": check(script, name)})
        else:
            become(request)
            channel.send({"done": run(request["data"], script, name, channel)})
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(0)


def check(script, name):
    try:
        compile(script, name, "exec", dont_inherit=True)
        return {"accept": True}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
        return {"accept": False, "message": "%s: %s" % (type(e).__name__, e)}


def become(request):
    """Take the limits and the account under which the hook runs."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for which, most in ((resource.RLIMIT_NOFILE, FILES), (resource.RLIMIT_AS, MEMORY)):
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
    try:
        os.chdir(request["dir"])
    except OSError:
        os.chdir("/")


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
        return {"failed": "%s: %s" % (type(e).__name__, e), "traceback": traceback.format_exc()[-8192:]}
    return pbs._finish(pbs._End(True, "", 0))


if __name__ == "__main__":
    main()
