"""User namespaces: what an ordinary user's sandbox requires, and the command that grants what is missing."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from clustergen.records import record

_SYSCTLS = {
    "user/max_user_namespaces": ("0", "15000"),
    "kernel/unprivileged_userns_clone": ("0", "1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
}
"""Switch below /proc/sys → the value that forbids user namespaces, and one that allows them."""
_RANGE = 65536
_CAPABILITIES = 1 << 12 | 1 << 19 | 1 << 21  # CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_SYS_ADMIN
_OF_CONTAINER = "start it with --cap-add sys_admin"


@record
class Lack:
    """Something that this machine lacks. `package` or `command` is what an administrator installs or runs once."""

    what: str
    package: str = ""
    command: str = ""


def is_privileged() -> bool:
    """True if this is root with the capabilities that a sandbox requires; a container's root has few."""
    status = Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    effective = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    return os.geteuid() == 0 and int(effective, 16) & _CAPABILITIES == _CAPABILITIES


def are_permitted() -> bool:
    """True if this user may make a user namespace. To be asked first: refused, `unshare --map-auto` waits forever."""
    return _allowed("--map-root-user", "--mount")


def lacks() -> list[Lack]:
    """The reason that keeps this user from making a sandbox; empty for privileged root, and where nothing is
    missing.
    """
    if not shutil.which("unshare"):
        return [Lack("the program unshare is not installed", package="util-linux")]
    if is_privileged():
        return []
    if not are_permitted():
        return [_forbidden()]
    if _allowed("--map-root-user", "--map-auto", "--mount"):
        return []
    missing = [] if shutil.which("newuidmap") else [Lack("newuidmap is not installed", package="uidmap")]
    user = _name()
    if not (_has_range("/etc/subuid", user) and _has_range("/etc/subgid", user)):
        first = max(_first_free("/etc/subuid"), _first_free("/etc/subgid"))
        ids = f"{first}-{first + _RANGE - 1}"
        command = f"sudo usermod --add-subuids {ids} --add-subgids {ids} {user}"
        missing.append(Lack(f"{user} has no range of ids in /etc/subuid and /etc/subgid", command=command))
    return missing or [Lack("unshare cannot map a range of ids; util-linux 2.38 or newer is required")]


def _allowed(*options: str) -> bool:
    try:
        done = subprocess.run(["unshare", *options, "true"], capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _forbidden() -> Lack:
    for switch, (forbids, allows) in _SYSCTLS.items():
        path = Path("/proc/sys") / switch
        if path.is_file() and path.read_text(encoding="ascii").strip() == forbids:
            name = switch.replace("/", ".")
            command = f"sudo sysctl -w {name}={allows}"
            return Lack(f"{name} is {forbids}, which forbids user namespaces", command=command)

    return Lack(f"user namespaces are not permitted; if this is a container, {_OF_CONTAINER}")


def _name() -> str:
    """This user's name; the id where none is listed, as in a container that runs as any user."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _ranges(file: str) -> list[tuple[str, int, int]]:
    """Owner, first id and number of ids of each line; a malformed line is none."""
    path = Path(file)
    fields = (
        [line.strip().split(":") for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
    )
    return [(f[0], int(f[1]), int(f[2])) for f in fields if len(f) == 3 and f[1].isdecimal() and f[2].isdecimal()]


def _has_range(file: str, user: str) -> bool:
    return any(owner in (user, str(os.getuid())) and count >= _RANGE for owner, _, count in _ranges(file))


def _first_free(file: str) -> int:
    return max((first + count for _, first, count in _ranges(file)), default=100_000)
