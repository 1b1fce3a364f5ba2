"""Directories of Slurm's daemons: which of them the tree may create and own."""

from __future__ import annotations

from posixpath import dirname, normpath

SHARED = frozenset(
    (
        *("/", "/tmp", "/var", "/var/tmp", "/var/spool", "/var/lib", "/var/log", "/var/run", "/run", "/dev/shm"),
        *("/etc", "/etc/slurm", "/home", "/opt", "/usr", "/root", "/mnt", "/srv"),
    )
)
"""Directories of the system, which must never become the Slurm user's own."""


def is_shared(path: str) -> bool:
    """Whether others use the directory."""
    return normpath(path) in SHARED


def directory_of(path: str) -> str | None:
    """The directory of a file as systemd-tmpfiles writes it; None where it is not the daemon's own."""
    return own_directory(dirname(normpath(path)))


def own_directory(path: str) -> str | None:
    """The directory, up to a part with the node's name (`%n`) that slurmd adds itself; None for one of the system."""
    parts = normpath(path).split("/")
    named = next((index for index, part in enumerate(parts) if "%" in part), len(parts))
    parent = "/".join(parts[:named]) or "/"
    if parent.startswith("/var/run/"):
        parent = parent.removeprefix("/var")
    return None if is_shared(parent) else parent
