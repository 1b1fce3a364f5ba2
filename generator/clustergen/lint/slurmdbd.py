"""slurmdbd.conf, and what slurm.conf says of it."""

from __future__ import annotations

import stat
from collections.abc import Iterator

from clustergen.lint.found import Found
from clustergen.lint.site import Site


def required(site: Site) -> Iterator[Found]:
    config = site.folder.config("slurmdbd.conf")
    if config is None:
        return
    if config.value("StorageType") is None:
        yield site.error(
            "slurm-key-lacking",
            config.name,
            "no StorageType: slurmdbd does not start",
            "StorageType=accounting_storage/mysql",
        )
    if config.value("DbdHost") is None:
        yield site.warning(
            "slurm-key-lacking",
            config.name,
            "no DbdHost: slurmdbd takes localhost, and logs an error",
            "DbdHost=…, the name of its machine",
        )
    if config.value("SlurmUser") is None:
        yield site.warning(
            "slurm-user-root", config.name, "no SlurmUser: slurmdbd runs as root", "SlurmUser=slurm, as in slurm.conf"
        )


def agreement(site: Site) -> Iterator[Found]:
    config = site.folder.config("slurmdbd.conf")
    if config is None or site.slurm is None:
        return
    for theirs, ours, default in (
        ("DbdPort", "AccountingStoragePort", "6819"),
        ("SlurmUser", "SlurmUser", "root"),
        ("AuthType", "AuthType", "auth/munge"),
    ):
        one, other = config.value(theirs), site.setting(ours)
        if (one or other) and (one.text if one else default) != (other.text if other else default):
            spot = one or other
            if spot is not None:
                said = other.text if other else f"{default} by default"
                yield site.warning(
                    "slurm-value-harmful",
                    spot,
                    f"{theirs} is {one.text if one else default} in slurmdbd.conf, but {ours} is {said} in slurm.conf",
                )


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


CHECKS = (required, agreement, secrets)
