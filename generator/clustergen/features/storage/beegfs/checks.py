"""BeeGFS: the management server's TOML, read by Python, with the keys that the catalogue knows."""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Iterator, Sequence

from clustergen.catalogue.storage import beegfs_key
from clustergen.verify.check import Check, Trial, paths, unreadable
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row


def _complaints(entry: Entry) -> Iterator[str]:
    try:
        settings = tomllib.loads(entry.text)
    except tomllib.TOMLDecodeError as error:
        yield f"{entry.path}: {error}"
        return
    for key in settings:
        if beegfs_key("beegfs-mgmtd.toml", key) is None:
            yield f"{entry.path}: {key} is not a key of beegfs-mgmtd.toml"


def _read(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    complaints = [complaint for entry in entries for complaint in _complaints(entry)]
    yield check.judged(entries, complaints, (), platform.python_version())


CHECKS = (
    Check(
        "beegfs-mgmtd",
        "BeeGFS management server",
        "Python's tomllib",
        "Well-formed TOML with keys of the catalogue. beegfs-mgmtd is in no distribution and is not run.",
        paths("/etc/beegfs/*.toml"),
        _read,
    ),
    unreadable(
        "beegfs",
        "BeeGFS",
        "beegfs-client",
        "BeeGFS is in no distribution, and its client's files are read by the kernel module. Keys are checked "
        "against the catalogue.",
        "/etc/beegfs/*.conf",
        "/etc/beegfs/*.interfaces",
        "/etc/beegfs/*.netfilter",
    ),
)
