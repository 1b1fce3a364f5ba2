"""The driver branch of nodes: packages hold it after a manifest no longer names one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from clustergen.render.inventory_file import VARIABLES
from clustergen.render.side import ManualStep, Side

TEXTS = (VARIABLES,)


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    """A step for the nodes of types whose branch is left open from now on."""
    before, after = (_by_group(side, "nvidia_driver_branches") for side in (old, new))
    released = {group: before[group] for group in _by_group(new, "nvidia_kernel_modules") if group in before}
    for branch in sorted({released[group] for group in released.keys() - after.keys()}):
        groups = " ".join(group for group in released if released[group] == branch and group not in after)
        yield ManualStep(
            f"release branch {branch} of the driver on {groups}: apt-get purge nvidia-driver-pinning-{branch}, or dnf"
            " module reset nvidia-driver; site.yml leaves it pinned"
        )


def _by_group(side: Side, name: str) -> Mapping[str, str]:
    """A variable of the inventory: group of a node type → its value."""
    line = re.search(rf"^{name}: (\{{.*\}})$", side.texts.get(VARIABLES, ""), re.MULTILINE)
    values: Mapping[str, str] = json.loads(line[1]) if line else {}
    return values
