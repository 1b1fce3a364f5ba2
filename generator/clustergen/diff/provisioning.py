"""What a provisioning server has to get: nodes take image and files from it when they boot."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clustergen.diff.snapshot import Snapshot

NODES = "warewulf/nodes.conf"
_OVERLAY = re.compile(r"^ {6}- (\S+)\.([a-z0-9_]+)$", re.MULTILINE)


def is_outdated(old: Snapshot, new: Snapshot) -> bool:
    """Whether the server's nodes or overlays differ from the new tree."""
    if not new.provisioning:
        return False
    groups = {group for cluster, group in _OVERLAY.findall(new.provisioning) if cluster == new.cluster}
    sides = [{path: file.same_as for path, file in side.files.items() if file.group in groups} for side in (old, new)]
    return _settings(old.provisioning) != _settings(new.provisioning) or sides[0] != sides[1]


def _settings(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]
