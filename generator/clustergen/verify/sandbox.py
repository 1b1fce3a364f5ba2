"""Runs one program in a root file system of its own, with the files under test where they lie on the node.

Everything happens in fresh mount, network, process and host name namespaces over a copy-on-write view: nothing of this
machine or of the root changes, nothing outside can be reached, nothing outlives the call, and calls may overlap.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from clustergen import log
from clustergen.catalogue import system_paths
from clustergen.records import record
from clustergen.verify.namespaces import are_permitted, is_privileged, lacks

NAMESPACES = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child")
# Engines hide parts of /proc from a container, and while they do, the kernel refuses a /proc of other namespaces.
_WHOLE_PROC = (
    *("unshare", "--mount", "sh", "-c"),
    r"""sed -nE 's#^(\S+ ){4}(/proc/\S+) .*#\2#p' /proc/self/mountinfo | tac | xargs -r umount && exec "$@" """,
    "sh",
)


class SandboxError(Exception):
    """The sandbox could not be made; the text says why."""


@record
class Sandbox:
    """A root to look at, and what of the node's surroundings to put into it.

    `files` are (directory here, directory inside) pairs, laid over the root in order; a pair that ends in "/" keeps
    symbolic links, any other follows them. `empty` are directories whose content in the root is hidden first. `hosts`
    is the text of /etc/hosts, `addresses` are the machine's own (without a prefix length), `devices` are device files
    that must exist.
    `is_one_user`: no program changes to another user, so that a user namespace without a range of ids is enough.
    """

    root: Path
    files: tuple[tuple[Path, str], ...] = ()
    empty: tuple[str, ...] = ()
    hosts: str = ""
    hostname: str = "localhost"
    addresses: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    is_one_user: bool = False


@record
class Outcome:
    """`code` is the exit status, None when it ran out of time; `files` is what it left in /run/clustergen."""

    code: int | None
    stdout: str
    stderr: str
    files: Mapping[str, str] = MappingProxyType({})


@cache
def _unshare(is_one_user: bool) -> tuple[tuple[str, ...] | None, str]:
    """The command that makes namespaces here, or why there is none."""
    if shutil.which("unshare") is None:
        return None, "the program unshare (util-linux) is not installed"
    # With the range of ids that /etc/subuid grants, else with this user as the only one; so does a container's root.
    users = (("--map-root-user", "--map-auto"), ("--map-root-user",))[: 2 if is_one_user else 1]
    commands = [("unshare", *options, *NAMESPACES) for options in users]
    if is_privileged():
        commands = [("unshare", *NAMESPACES)]
    elif not are_permitted():
        commands = []
    elif os.geteuid() == 0:
        commands = [command for plain in commands for command in ((*_WHOLE_PROC, *plain), plain)]
    error = ""
    for command in commands:
        try:
            done = subprocess.run([*command, "true"], capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return None, "unshare did not return"
        if done.returncode == 0:
            return command, ""
        error = done.stderr.strip()
    missing = lacks()
    reason = "; ".join(lack.what for lack in missing) or error
    if any(lack.package or lack.command for lack in missing):
        reason += ": run clustergen setup parsers for the command that an administrator has to run"
    return None, reason


def unavailable(root: Path, *, is_one_user: bool = False) -> str | None:
    """Why programs of `root` cannot be run here; None where they can."""
    command, reason = _unshare(is_one_user)
    if command is None:
        return reason
    # Where no program changes its user, sandbox.sh makes do with a copy of a part of the root.
    if os.geteuid() != 0 and not is_one_user and not os.access(root / "etc", os.W_OK):
        return f"{root} belongs to another user; only root can use it"
    return None


def lines(items: Iterable[object]) -> str:
    """A note with a line for each item."""
    return "".join(f"{item}\n" for item in items)


def scripts(*names: str) -> dict[str, str]:
    """Notes with scripts that lie beside this module."""
    return {name: Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names}


def run(
    sandbox: Sandbox,
    program: Sequence[str],
    *,
    timeout: float,
    env: Mapping[str, str] | None = None,
    notes: Mapping[str, str] | None = None,
) -> Outcome:
    """Runs `program` (a path inside) in the sandbox; `notes` are files that it finds in /run/clustergen.

    Raises SandboxError where `unavailable` gives a reason or the sandbox itself cannot be set up.
    """
    command, _ = _unshare(sandbox.is_one_user)
    reason = unavailable(sandbox.root, is_one_user=sandbox.is_one_user)
    if command is None or reason is not None:
        raise SandboxError(reason)
    with tempfile.TemporaryDirectory(prefix="clustergen-", ignore_cleanup_errors=True) as directory:
        work = Path(directory)
        out = work / "out"
        for place in (out, work / "fs"):
            place.mkdir()
        for name, text in (notes or {}).items():
            (out / name).write_text(text, encoding="utf-8")
        _describe(sandbox, work)
        script = Path(__file__).with_name("sandbox.sh")
        argv = [*command, "/bin/bash", str(script), str(work), str(sandbox.root), *program]
        environment = {"PATH": system_paths.PATH, "LANG": "C.UTF-8", "HOME": "/root", **(env or {})}
        log.debug(__name__, "run in %s: %s", sandbox.root, " ".join(program))
        try:
            done = subprocess.run(
                argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, env=environment, check=False
            )
        except subprocess.TimeoutExpired as late:
            return Outcome(None, _text(late.stdout), _text(late.stderr), _left_in(out))
        if not (work / "entered").exists():
            raise SandboxError(_text(done.stderr).strip() or f"sandbox.sh: exit status {done.returncode}")
        return Outcome(done.returncode, _text(done.stdout), _text(done.stderr), _left_in(out))


def _describe(sandbox: Sandbox, work: Path) -> None:
    def put(name: str, lines: Sequence[str]) -> None:
        (work / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    put(
        "copy",
        [f"{source.absolute()}\t{target}\t{'P' if target.endswith('/') else 'L'}" for source, target in sandbox.files],
    )
    put("empty", sandbox.empty)
    put("devices", sandbox.devices)
    put("addresses", [f"{address}/{128 if ':' in address else 32}" for address in sandbox.addresses])
    put("hostname", [sandbox.hostname, *(["optional"] if sandbox.is_one_user else [])])
    (work / "hosts").write_text(f"127.0.0.1 localhost\n{sandbox.hosts}\n", encoding="utf-8")


def _left_in(out: Path) -> dict[str, str]:
    return {path.name: _text(path.read_bytes()) for path in sorted(out.iterdir()) if path.is_file()}


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")
