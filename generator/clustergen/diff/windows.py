"""File systems that move to another server, which nodes cannot do one by one: jobs would write to both."""

from __future__ import annotations

import re

_NETWORK = ("nfs", "nfs4", "lustre", "ceph")
_UNIT = re.compile(r"^(What|Type)=(\S+)", re.MULTILINE)
_BEEGFS = re.compile(r"^sysMgmtdHost\s*=\s*(\S+)", re.MULTILINE)


def source(target: str, text: str) -> str | None:
    """Place of a network file system by a file of a node: `What` of a mount unit, or the management server of
    BeeGFS. None where the file has none.
    """
    if target.endswith(".mount"):
        values = dict(_UNIT.findall(text))
        return values.get("What") if values.get("Type") in _NETWORK else None
    if target.startswith("/etc/beegfs/"):
        host = _BEEGFS.search(text)
        return host[1] if host else None
    return None


def moved(target: str, old: str, new: str) -> tuple[str, str] | None:
    """The old and the new source; None where they are of one server. Lustre's servers have several addresses: one that
    stays is enough.
    """
    before, after = source(target, old), source(target, new)
    if before is None or after is None or before == after:
        return None
    if _places(before) & _places(after):
        return None
    return before, after


def _places(source: str) -> set[str]:
    """Each NID of a Lustre source with its file system; anything else as a whole."""
    nids, _, name = source.rpartition(":/")
    return {f"{nid}:/{name}" for nid in re.split("[:,]", nids)} if "@" in nids else {source}
