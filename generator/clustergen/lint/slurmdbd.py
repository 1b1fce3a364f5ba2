"""slurmdbd.conf, and what slurm.conf says of it."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.diagnostics import Severity
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site
from clustergen.slurmrules import values
from clustergen.slurmrules.combinations import slurmdbd_lacks_hash

_STORAGE = "accounting_storage/mysql"
_REQUIRED = {
    "StorageType": (
        "slurm-key-lacking",
        Severity.ERROR,
        "StorageType is not set; slurmdbd does not start",
        f"add StorageType={_STORAGE}",
    ),
    "DbdHost": (
        "slurm-key-lacking",
        Severity.WARNING,
        "DbdHost is not set: slurmdbd uses localhost and logs an error",
        "add DbdHost=…, the host name of slurmdbd",
    ),
    "SlurmUser": (
        "slurm-user-root",
        Severity.WARNING,
        "SlurmUser is not set, so slurmdbd runs as root",
        "add SlurmUser=slurm, as in slurm.conf",
    ),
}
"""Required key of slurmdbd.conf → code, severity, message and hint if it is missing."""
_SAME = {"DbdPort": "AccountingStoragePort", "SlurmUser": "SlurmUser", "AuthType": "AuthType"}
"""Key of slurmdbd.conf → the key of slurm.conf that means the same, with the same default."""


def required(site: Site) -> Iterator[LintFinding]:
    config = site.directory.config("slurmdbd.conf")
    if config is None:
        return
    for key, (code, severity, message, hint) in _REQUIRED.items():
        if config.value(key) is None:
            yield site.finding(code, severity, config.name, message, hint)


def plugins(site: Site) -> Iterator[LintFinding]:
    """The plugins that slurmdbd starts with."""
    config = site.directory.config("slurmdbd.conf")
    if config is None:
        return
    auth, storage = config.value("AuthType"), config.value("StorageType")
    if auth and auth.text:
        yield from site.remarks(auth, values.plugins(site.release, "AuthType", auth.text))
    if storage and storage.text != _STORAGE:
        message = f"'{storage.text}' is not a plugin of slurmdbd, which does not start"
        yield site.error("slurm-plugin-unknown", storage, message, f"write StorageType={_STORAGE}")


def agreement(site: Site) -> Iterator[LintFinding]:
    config = site.directory.config("slurmdbd.conf")
    if config is None or site.slurm is None:
        return
    for theirs, ours in _SAME.items():
        default = slurm.default("slurm.conf", "", ours, site.release) or ""
        one, other = config.value(theirs), site.setting(ours)
        value, other_value = one.text if one else default, other.text if other else default
        spot = one or other
        if spot is not None and value != other_value:
            other_text = other_value if other else f"{default} by default"
            message = f"{theirs} is {value} in slurmdbd.conf, but {ours} is {other_text} in slurm.conf"
            yield site.warning("slurm-value-harmful", spot, message)


def hashes(site: Site) -> Iterator[LintFinding]:
    config, ours = site.directory.config("slurmdbd.conf"), site.setting("HashPlugin")
    theirs = config.value("HashPlugin") if config else None
    if config and ours and slurmdbd_lacks_hash(ours.text, theirs.text if theirs else ""):
        yield site.warning(
            "slurm-value-harmful",
            ours,
            f"slurmdbd does not load {ours.text}, so slurmctld and sacctmgr cannot connect to it",
            f"write HashPlugin={ours.text} in slurmdbd.conf too",
        )


def secrets(site: Site) -> Iterator[LintFinding]:
    """The file holds a password: slurmdbd wants it closed."""
    config = site.directory.config("slurmdbd.conf")
    if config is None:
        return
    mode = stat.S_IMODE(site.directory.where(config.name).stat().st_mode)
    allowed = (0o600, 0o640) if site.has("password-for-group") else (0o600,)
    secret = config.value("StoragePass")
    if mode not in allowed and secret is not None:
        words = " or ".join(f"{one:o}" for one in allowed)
        yield site.warning(
            "slurm-secret-readable",
            secret,
            f"this file contains a password and has mode {mode:o}; slurmdbd {site.release} requires {words} to start",
            f"run chmod 600 {site.directory.shown(config.name)}",
            key=True,
        )
