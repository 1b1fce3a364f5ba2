"""BeeGFS: the management server's TOML, read by Python, with the keys that the catalogue knows."""

from __future__ import annotations

import platform
import tomllib
from collections.abc import Iterator

from clustergen.catalogue.storage import beegfs_key
from clustergen.verify.check import Check, paths, unreadable
from clustergen.verify.files import Entry
from clustergen.verify.well_formed import read_by


def _complaints(entry: Entry) -> Iterator[str]:
    try:
        settings = tomllib.loads(entry.text)
    except tomllib.TOMLDecodeError as error:
        yield str(error)
        return
    for key in settings:
        if beegfs_key("beegfs-mgmtd.toml", key) is None:
            yield f"{key} is not a key of beegfs-mgmtd.toml"


CHECKS = (
    Check(
        name="beegfs-mgmtd",
        what="BeeGFS management server",
        parser="Python's tomllib",
        proves="Well-formed TOML with keys of the catalogue. beegfs-mgmtd is in no distribution and is not run.",
        reads=paths("/etc/beegfs/*.toml"),
        ask=read_by(platform.python_version(), _complaints),
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
