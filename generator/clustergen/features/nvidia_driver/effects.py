"""The driver branch of nodes: packages hold it after a manifest no longer names one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side

_VARIABLES = "inventory/group_vars/all.yml"
TEXTS = (_VARIABLES,)
_BRANCH = re.compile(r"^nvidia_driver_branch: \W(\d+)", re.MULTILINE)


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    """The step on nodes whose branch is left open from now on."""
    before, after = (side.texts.get(_VARIABLES, "") for side in (old, new))
    branch = _BRANCH.search(before)
    if branch and "\nnvidia_kernel_modules: " in after and not _BRANCH.search(after):
        yield ManualStep(
            f"release branch {branch[1]} of the driver on GPU nodes: apt-get purge nvidia-driver-pinning-{branch[1]}, or"
            " dnf module reset nvidia-driver; site.yml leaves it pinned"
        )
