"""Races programs of root as the owner of the directory that they write to; runs in a sandbox.

    write_races.py ROUNDS <WRITERS    JSON: name → {"target", "command"} or {"target", "module", "arguments"}

Prints name → what went wrong; a list that is empty for a writer that held.
"""

from __future__ import annotations

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
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

OWNER = 64042
SECRET = b"precious\n"
VICTIM, PIPE, DIRECTORY = (Path("/srv/victim") / name for name in ("file", "pipe", "directory"))
PRINTED = (SECRET, b"cHJlY2lvdXMK")  # also as base64
EVENTS = 0x3E0  # inotify: opened, moved, created, deleted
PROCESSES = 400  # numbers of processes to come, for which a name is planted
CWD, EXCHANGE = -100, 2  # of renameat2
LIBC = ctypes.CDLL(None, use_errno=True)
MODULES = "ansible_collections.clustergen.cluster.plugins.modules"


def plant(path: Path, victim: Path) -> None:
    """A link in the place of whatever is there."""
    beside = path.parent / f".{os.getpid()}"
    try:
        beside.symlink_to(victim)
        beside.rename(path)
    except OSError as err:
        if err.errno not in (errno.EISDIR, errno.ENOENT, errno.EEXIST):
            raise


def exchange_names(target: Path, victim: Path) -> NoReturn:
    """Puts a link to the victim in the place of each new file, and of the names that shell scripts choose."""
    place = target.parent
    watch = LIBC.inotify_init()
    LIBC.inotify_add_watch(watch, bytes(place), EVENTS)
    for number in range(os.getpid(), os.getpid() + PROCESSES):
        plant(target.with_name(f"{target.name}.{number}"), victim)
    os.write(1, b"ready\n")
    beside = f".{os.getpid()}".encode()
    while True:
        events, start = os.read(watch, 65536), 0
        while start < len(events):
            _, _, _, size = struct.unpack_from("iIII", events, start)
            name = events[start + 16 : start + 16 + size].rstrip(b"\0")
            start += 16 + size
            path = place / os.fsdecode(name)
            if name and name != beside and not path.is_symlink():
                plant(path, victim)


def exchange_parent(target: Path, victim: Path) -> NoReturn:
    """Exchanges the directory for a link to one of root's, and back, many times in a run of the writer."""
    place = target.parent
    beside = place.with_name("other")
    beside.symlink_to(victim)
    os.write(1, b"ready\n")
    while True:
        for _ in range(50):
            LIBC.renameat2(CWD, bytes(place), CWD, bytes(beside), EXCHANGE)
        time.sleep(0.0005)


ATTACKS: dict[str, tuple[Callable[[Path, Path], NoReturn], Path]] = {
    "a link to a file": (exchange_names, VICTIM),
    "a link to a pipe": (exchange_names, PIPE),
    "a link to a directory": (exchange_parent, DIRECTORY),
}


def attacked(attack: str, target: Path) -> int:
    """The process that attacks, as the owner, once it has begun."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.dup2(writing, 1)
            os.setgroups([])
            os.setgid(OWNER)
            os.setuid(OWNER)
            function, victim = ATTACKS[attack]
            function(target, victim)
        finally:
            os._exit(1)
    os.close(writing)
    assert os.read(reading, 6) == b"ready\n"
    os.close(reading)
    return child


def scene(target: Path) -> bool:
    """Fresh victims, and an empty directory of the owner. Whether its parent is the owner's, too: outside of /etc."""
    shutil.rmtree(VICTIM.parent, ignore_errors=True)
    DIRECTORY.mkdir(parents=True)
    for path in (VICTIM, DIRECTORY / target.name):
        path.write_bytes(SECRET)
        path.chmod(0o600)
    os.mkfifo(PIPE, 0o600)
    place = target.parent
    of_owner = place.parent != Path("/etc")
    shutil.rmtree(place.parent if of_owner else place, ignore_errors=True)
    place.mkdir(parents=True)
    for directory in (place.parent, place)[not of_owner :]:
        os.chown(directory, OWNER, OWNER)
    return of_owner


def damage(pipe: int, target: Path) -> Iterator[str]:
    """Damage to files of root outside of the directory."""
    for path in (VICTIM, DIRECTORY / target.name, PIPE):
        status = path.lstat()
        if (status.st_uid, stat.S_IMODE(status.st_mode)) != (0, 0o600):
            yield f"{path} has owner {status.st_uid} and mode {status.st_mode:o}"
        if path != PIPE and path.read_bytes() != SECRET:
            yield f"{path} was overwritten"
    if len(names := sorted(path.name for path in DIRECTORY.iterdir())) > 1:
        yield f"{DIRECTORY} has {names}"
    try:
        if os.read(pipe, 4096):
            yield f"{PIPE} was written to"
    except BlockingIOError:
        pass


def run(writer: dict[str, Any]) -> tuple[int, bytes]:
    """Runs a writer once: its exit status, and its output."""
    if "command" in writer:
        done = subprocess.run(
            ["/bin/bash", "-c", writer["command"]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout
    reading, writing = os.pipe()
    child = os.fork()
    if not child:  # a module of Ansible ends its process
        status = 1
        try:
            os.dup2(writing, 1)
            sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"))
            sys.argv = [writer["module"]]
            sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps({"ANSIBLE_MODULE_ARGS": writer["arguments"]}).encode()))
            import_module(f"{MODULES}.{writer['module']}").main()
        except SystemExit as end:
            status = int(end.code or 0)
        finally:
            sys.stdout.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        output = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output


def in_peace(writer: dict[str, Any], target: Path) -> Iterator[str]:
    """Errors without an attacker."""
    scene(target)
    code, output = run(writer)
    if code:
        yield f"it ended with {code}: {output.decode()[-300:]}"
        return
    status = target.lstat()
    mode, owner = stat.S_IMODE(status.st_mode), status.st_uid
    names = [path.name for path in target.parent.iterdir()]
    expected = (writer.get("mode", 0o644), writer.get("owner", 0), [target.name])
    if (mode, owner, names) != expected or not status.st_size:
        yield f"it left mode {mode:o}, owner {owner}, {status.st_size} bytes, {names}"


def raced(writer: dict[str, Any], target: Path, rounds: int) -> Iterator[str]:
    for number, attack in enumerate(ATTACKS):
        if not scene(target) and attack == "a link to a directory":
            continue
        pipe = os.open(PIPE, os.O_RDWR | os.O_NONBLOCK)
        child = attacked(attack, target)
        for _ in range(rounds // len(ATTACKS) + (number < rounds % len(ATTACKS))):
            _, output = run(writer)
            problems = list(damage(pipe, target))
            if any(text in output for text in PRINTED):
                problems.append("it printed a file of root")
            if problems:
                yield f"{attack}: {'; '.join(problems)}"
                break
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(pipe)


def main() -> None:
    os.umask(0o022)
    rounds, results = int(sys.argv[1]), {}
    for name, writer in json.load(sys.stdin).items():
        if "module" in writer:
            import_module(f"{MODULES}.{writer['module']}")  # once, and not in each child
        target = Path(writer["target"])
        results[name] = [*in_peace(writer, target), *raced(writer, target, rounds)]
    sys.stdout.write(json.dumps(results))


if __name__ == "__main__":
    main()
