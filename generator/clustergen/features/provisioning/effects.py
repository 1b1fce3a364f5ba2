"""Files that a provisioning server needs: nodes take image and files from it when they boot."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side

_NODES = "warewulf/nodes.conf"
TEXTS = (_NODES,)
_OVERLAY = re.compile(r"^ {6}- (\S+)\.([a-z0-9_]+)$", re.MULTILINE)


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    """The step on the server, unless its nodes and overlays stay as they are."""
    if _NODES in new.texts:
        if _is_outdated(old, new):
            text = "run warewulf/install.py of the tree on the Warewulf server; it takes effect when a node boots"
            yield ManualStep(text)
    elif _NODES in old.texts:
        yield ManualStep(
            f"delete nodes, profiles and overlays of {old.cluster} on the Warewulf server:"
            " wwctl node delete, wwctl profile delete, wwctl overlay delete"
        )


def _is_outdated(old: Side, new: Side) -> bool:
    """True if the server's nodes or overlays differ from the new tree."""
    groups = {group for cluster, group in _OVERLAY.findall(new.texts[_NODES]) if cluster == new.cluster}
    sides = [{path: file.same_as for path, file in side.files.items() if file.group in groups} for side in (old, new)]
    return _settings(old) != _settings(new) or sides[0] != sides[1]


def _settings(side: Side) -> list[str]:
    return [line for line in side.texts.get(_NODES, "").splitlines() if not line.startswith("#")]
