"""Mounts whose files change: those that stay as they are, and those of file systems that move to another server, which
nodes cannot do one by one: jobs would write to both.
"""

from __future__ import annotations

import re

from clustergen.diff.comments import same_but_for_comments
from clustergen.render.effects import DAEMON_RELOAD, NONE, Effect

_TYPES = ("nfs", "nfs4", "lustre", "ceph", "wekafs", "none")  # none: a bind mount on the server itself
_KEYS = re.compile(r"^(What|Type|Options) *= *(.*)", re.MULTILINE)
_OF_SYSTEMD = re.compile("_netdev|(no)?(fail|auto)|x-.*")  # options that no file system is mounted with
_NAMED = re.compile(r"(?:^|,)(?:fs|mds_namespace)=([^,]+)")  # of CephFS, whose monitors serve several file systems
_BEEGFS = re.compile(r"^sysMgmtdHost\s*=\s*(\S+)", re.MULTILINE)


def effect_inside(target: str, effect: Effect, old: str, new: str) -> Effect:
    """The effect of a changed file of a node by the difference of its texts; `effect`: that of the tree."""
    if same_but_for_comments(old, new):
        return NONE
    if effect.kind != "remount":
        return effect
    if target.endswith(".mount") and _mounted(old) == _mounted(new):
        return DAEMON_RELOAD
    return Effect("window", effect.unit) if moved(target, old, new) else effect


def moved(target: str, old: str, new: str) -> tuple[str, str] | None:
    """The old and the new source by a file of a node, `What` of a mount unit or the management server of BeeGFS; None
    where both are of one place. Of several addresses or monitors one that stays is enough.
    """
    before, after = _source(target, old), _source(target, new)
    if before is None or after is None or _places(*before) & _places(*after):
        return None
    return before[0], after[0]


def _mounted(text: str) -> dict[str, frozenset[str]]:
    """The keys of a mount unit that mount(8) gets."""
    values = {key: value.split(",") if key == "Options" else [value] for key, value in _KEYS.findall(text)}
    return {key: frozenset(word for word in words if not _OF_SYSTEMD.fullmatch(word)) for key, words in values.items()}


def _source(target: str, text: str) -> tuple[str, str] | None:
    """The source and the name of the file system there; None where the file says nothing of a source."""
    if target.endswith(".mount"):
        values = dict(_KEYS.findall(text))
        name = _NAMED.search(values.get("Options", ""))
        return (values["What"], name[1] if name else "") if values.get("Type") in _TYPES else None
    host = _BEEGFS.search(text) if target.startswith("/etc/beegfs/") else None
    return (host[1], "") if host else None


def _places(source: str, name: str) -> set[tuple[str, str, str]]:
    """Each server with the directory and the name, of `10.1.0.1@o2ib,10.0.0.1@tcp:/fs`, `mon1,mon2:/`, `weka1/data`."""
    servers, _, directory = source.partition(":/" if ":/" in source else "/")
    return {(server, directory, name) for server in re.split("[:,]" if "@" in servers else ",", servers)}
