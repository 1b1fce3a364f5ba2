"""Which systemd units are to run on the nodes of each group, read off the files that the group gets."""

from __future__ import annotations

from clustergen.cluster.contributions import Unit
from clustergen.cluster.model import Cluster
from clustergen.render.tree import Outline

_UNIT_DIRECTORY = "/etc/systemd/system/"


def units_by_group(cluster: Cluster, outline: Outline) -> dict[str, tuple[str, ...]]:
    """Group → units: those that run without a file of the tree, that a file has an effect on, and that we bring."""
    collected: dict[str, dict[str, None]] = {name: {} for name in outline.groups}
    for unit in cluster.needs(Unit):
        collected.get(unit.group, {})[unit.name] = None
    for file in outline.files.values():
        if file.group is None or file.target is None:
            continue
        name = file.effect.unit
        if name and file.effect.kind in ("reload", "restart", "drain") and not name.startswith("systemd-"):
            collected[file.group][name] = None
        file_name = file.target.removeprefix(_UNIT_DIRECTORY)
        if file_name != file.target and "/" not in file_name and b"\n[Install]\n" in file.content:
            collected[file.group][file_name] = None
    return {name: tuple(units) for name, units in collected.items() if units}
