"""Races programs of root as the owner of the directory that they write to; runs in a sandbox, with the standard library.

    write_races.py ROUNDS <WRITERS    JSON: name → {"target", "command"} or {"target", "module", "arguments"}

Prints name → what went wrong; a list that is empty for a writer that held.
"""

import ctypes
import errno
import io
import json
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time

OWNER = 64042
SECRET = b"precious\n"
VICTIM, PIPE, DIRECTORY = "/srv/victim/file", "/srv/victim/pipe", "/srv/victim/directory"
CREATED, DELETED, MOVED, OPENED = 0x100, 0x200, 0xC0, 0x20
PROCESSES = 400  # numbers of processes to come, for which a name is planted
LIBC = ctypes.CDLL(None, use_errno=True)


def plant(path, target):
    """A link in the place of whatever is there."""
    beside = "%s/.%d" % (os.path.dirname(path), os.getpid())
    try:
        os.symlink(target, beside)
        os.rename(beside, path)
    except OSError as err:
        if err.errno == errno.EISDIR:
            return
        if err.errno not in (errno.ENOENT, errno.EEXIST):
            raise


def exchange_names(target, victim):
    """Puts a link to the victim in the place of each new file, and of the names that shell scripts choose."""
    place = os.path.dirname(target)
    watch = LIBC.inotify_init()
    LIBC.inotify_add_watch(watch, place.encode(), CREATED | DELETED | MOVED | OPENED)
    for number in range(os.getpid(), os.getpid() + PROCESSES):
        plant("%s.%d" % (target, number), victim)
    os.write(1, b"ready\n")
    own = b".%d" % os.getpid()
    while True:
        events = os.read(watch, 65536)
        start = 0
        while start < len(events):
            _, _, _, size = struct.unpack_from("iIII", events, start)
            name = events[start + 16 : start + 16 + size].rstrip(b"\0")
            start += 16 + size
            path = place + "/" + os.fsdecode(name)
            if name and name != own and not os.path.islink(path):
                plant(path, victim)


def exchange_parent(target, victim):
    """Exchanges the directory for a link to one of root's, and back, without a pause."""
    place, beside = os.path.dirname(target), os.path.dirname(target) + ".other"
    os.symlink(victim, beside)
    os.write(1, b"ready\n")
    while True:
        for _ in range(50):
            LIBC.renameat2(-100, place.encode(), -100, beside.encode(), 2)
        time.sleep(0.0005)


ATTACKS = {"a link to a file": (exchange_names, VICTIM), "a link to a pipe": (exchange_names, PIPE),
           "a link to a directory": (exchange_parent, DIRECTORY)}  # fmt: skip


def attacked(attack, target):
    """The process that attacks, as the owner, once it has begun."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.dup2(writing, 1)
            os.setgroups([])
            os.setgid(OWNER)
            os.setuid(OWNER)
            signal.alarm(300)
            function, victim = ATTACKS[attack]
            function(target, victim)
        finally:
            os._exit(1)
    os.close(writing)
    assert os.read(reading, 6) == b"ready\n"
    os.close(reading)
    return child


def scene(target, attack):
    """Fresh victims, and an empty directory of the owner; its parent is the owner's, too, unless it is /etc."""
    shutil.rmtree("/srv/victim", ignore_errors=True)
    os.makedirs(DIRECTORY)
    for path in (VICTIM, DIRECTORY + "/" + os.path.basename(target)):
        with open(path, "wb") as file:
            file.write(SECRET)
        os.chmod(path, 0o600)
    os.mkfifo(PIPE, 0o600)
    place = os.path.dirname(target)
    parent = os.path.dirname(place)
    if parent != "/etc":
        shutil.rmtree(parent, ignore_errors=True)
        os.mkdir(parent)
        os.chown(parent, OWNER, OWNER)
    else:
        shutil.rmtree(place, ignore_errors=True)
    os.mkdir(place)
    os.chown(place, OWNER, OWNER)
    return not (parent == "/etc" and attack == "a link to a directory")


def damage(pipe, target):
    """What happened to files of root outside of the directory."""
    for path in (VICTIM, "%s/%s" % (DIRECTORY, os.path.basename(target))):
        status = os.lstat(path)
        with open(path, "rb") as file:
            if file.read() != SECRET:
                yield "%s was overwritten" % path
        if (status.st_uid, stat.S_IMODE(status.st_mode)) != (0, 0o600):
            yield "%s has owner %d and mode %o" % (path, status.st_uid, status.st_mode)
    for name in os.listdir(DIRECTORY)[1:]:
        yield "a file was created beside %s in %s" % (name, DIRECTORY)
    try:
        if os.read(pipe, 4096):
            yield "%s was written to" % PIPE
    except BlockingIOError:
        pass
    status = os.lstat(PIPE)
    if (status.st_uid, stat.S_IMODE(status.st_mode)) != (0, 0o600):
        yield "%s has owner %d and mode %o" % (PIPE, status.st_uid, status.st_mode)


def run(writer):
    """Runs a writer once: its exit status, and its output."""
    if "command" in writer:
        done = subprocess.run(["/bin/bash", "-c", writer["command"]], stdin=subprocess.DEVNULL, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        return done.returncode, done.stdout
    reading, writing = os.pipe()
    child = os.fork()
    if not child:  # a module of Ansible, which ends its process
        status = 1
        try:
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"))
            sys.argv = [writer["module"]]
            text = json.dumps({"ANSIBLE_MODULE_ARGS": writer["arguments"]})
            sys.stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
            getattr(MODULES, writer["module"]).main()
        except SystemExit as end:
            status = end.code or 0
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        output = file.read()
    return os.WEXITSTATUS(os.waitpid(child, 0)[1]), output


def raced(writer, rounds):
    target, problems = writer["target"], []
    for number, attack in enumerate(ATTACKS):
        if not scene(target, attack):
            continue
        pipe = os.open(PIPE, os.O_RDWR | os.O_NONBLOCK)
        child = attacked(attack, target)
        for _ in range(rounds // len(ATTACKS) + (number < rounds % len(ATTACKS))):
            _, output = run(writer)
            found = list(damage(pipe, target))
            if SECRET in output or b"cHJlY2lvdXMK" in output:
                found.append("it printed a file of root")
            if found:
                problems.append("%s: %s" % (attack, "; ".join(found)))
                break
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(pipe)
    return problems


def in_peace(writer):
    """What is wrong where nobody attacks."""
    scene(writer["target"], "")
    code, output = run(writer)
    if code:
        return ["it ended with %d: %s" % (code, output.decode()[-300:])]
    names = os.listdir(os.path.dirname(writer["target"]))
    status = os.lstat(writer["target"])
    result = (names, stat.S_IMODE(status.st_mode), status.st_uid, bool(status.st_size))
    expected = ([os.path.basename(writer["target"])], int(writer.get("mode", "644"), 8), writer.get("owner", 0), True)
    return [] if result == expected else ["it left %r" % (result,)]


if __name__ == "__main__":
    os.umask(0o022)
    from ansible_collections.clustergen.cluster.plugins import modules as MODULES  # noqa: N812
    from ansible_collections.clustergen.cluster.plugins.modules import node_put, node_secret  # noqa: F401

    writers = json.load(sys.stdin)
    print(json.dumps({name: in_peace(one) + raced(one, int(sys.argv[1])) for name, one in writers.items()}))
