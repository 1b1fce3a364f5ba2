"""Lines that clients and servers of BeeGFS have in common."""

from __future__ import annotations

from clustergen.features.storage.beegfs.resolved import Beegfs

Pairs = list[tuple[str, str]]


def authentication(entry: Beegfs) -> Pairs:
    return [("connAuthFile", entry.secret_path), ("connDisableAuthentication", yes(not entry.secret_path))]


def yes(value: bool) -> str:
    return "true" if value else "false"
