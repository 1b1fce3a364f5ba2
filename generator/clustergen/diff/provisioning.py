"""Files that a provisioning server needs: nodes take image and files from it when they boot."""

from __future__ import annotations

import re

from clustergen.diff.snapshot import Snapshot

_OVERLAY = re.compile(r"^ {6}- (\S+)\.([a-z0-9_]+)$", re.MULTILINE)


def step(old: Snapshot, new: Snapshot) -> str:
    """The step on the server; empty if its nodes and overlays stay as they are."""
    if old.provisioning and not new.provisioning:
        return (
            f"delete nodes, profiles and overlays of {old.inventory.cluster} on the Warewulf server:"
            " wwctl node delete, wwctl profile delete, wwctl overlay delete"
        )
    if new.provisioning and _is_outdated(old, new):
        return "run warewulf/install.py of the tree on the Warewulf server; it takes effect when a node boots"
    return ""


def _is_outdated(old: Snapshot, new: Snapshot) -> bool:
    """True if the server's nodes or overlays differ from the new tree."""
    groups = {group for cluster, group in _OVERLAY.findall(new.provisioning) if cluster == new.inventory.cluster}
    sides = [{path: file.same_as for path, file in side.files.items() if file.group in groups} for side in (old, new)]
    return _settings(old.provisioning) != _settings(new.provisioning) or sides[0] != sides[1]


def _settings(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]
