"""slurmdbd.conf, and what slurm.conf says of it."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.lint.found import Found
from clustergen.lint.site import Site
from clustergen.slurmrules import values

_STORAGE = "accounting_storage/mysql"
_REQUIRED = {
    "StorageType": (
        "slurm-key-lacking",
        Severity.ERROR,
        "no StorageType: slurmdbd does not start",
        f"StorageType={_STORAGE}",
    ),
    "DbdHost": (
        "slurm-key-lacking",
        Severity.WARNING,
        "no DbdHost: slurmdbd takes localhost, and logs an error",
        "DbdHost=…, the name of its machine",
    ),
    "SlurmUser": (
        "slurm-user-root",
        Severity.WARNING,
        "no SlurmUser: slurmdbd runs as root",
        "SlurmUser=slurm, as in slurm.conf",
    ),
}
"""What slurmdbd.conf has to say → code, severity, message and hint where it does not."""
_SAME = (
    ("DbdPort", "AccountingStoragePort", "6819"),
    ("SlurmUser", "SlurmUser", "root"),
    ("AuthType", "AuthType", "auth/munge"),
)
"""Key of slurmdbd.conf, the key of slurm.conf that means the same, and the default of both."""


def required(site: Site) -> Iterator[Found]:
    config = site.folder.config("slurmdbd.conf")
    if config is None:
        return
    for key, (code, severity, message, hint) in _REQUIRED.items():
        if config.value(key) is None:
            yield site.found(code, severity, config.name, message, hint)


def plugins(site: Site) -> Iterator[Found]:
    """The plugins that slurmdbd starts with."""
    config = site.folder.config("slurmdbd.conf")
    if config is None:
        return
    auth, storage = config.value("AuthType"), config.value("StorageType")
    if auth and auth.text:
        yield from site.remarks(auth, values.plugins(site.release, "AuthType", auth.text))
    if storage and storage.text != _STORAGE:
        message = f"slurmdbd has no plugin '{storage.text}', and does not start"
        yield site.error("slurm-plugin-unknown", storage, message, f"StorageType={_STORAGE}")


def agreement(site: Site) -> Iterator[Found]:
    config = site.folder.config("slurmdbd.conf")
    if config is None or site.slurm is None:
        return
    for theirs, ours, default in _SAME:
        one, other = config.value(theirs), site.setting(ours)
        here, there = one.text if one else default, other.text if other else default
        spot = one or other
        if spot is not None and here != there:
            said = there if other else f"{default} by default"
            message = f"{theirs} is {here} in slurmdbd.conf, but {ours} is {said} in slurm.conf"
            yield site.warning("slurm-value-harmful", spot, message)


def secrets(site: Site) -> Iterator[Found]:
    """The file holds a password: slurmdbd wants it closed."""
    config = site.folder.config("slurmdbd.conf")
    if config is None:
        return
    mode = stat.S_IMODE(site.folder.where(config.name).stat().st_mode)
    allowed = (0o600, 0o640) if site.since("25.11") else (0o600,)
    secret = config.value("StoragePass")
    if mode not in allowed and secret is not None:
        words = " or ".join(f"{one:o}" for one in allowed)
        yield site.warning(
            "slurm-secret-readable",
            secret,
            f"a password in a file of mode {mode:o}; slurmdbd {site.release} wants {words}, or does not start",
            f"chmod 600 {site.folder.shown(config.name)}",
            key=True,
        )


CHECKS = (required, plugins, agreement, secrets)
