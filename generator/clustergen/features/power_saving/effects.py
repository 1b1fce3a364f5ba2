"""Power saving that ends: nodes that slurmctld has switched off stay off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side

_CONF = "/etc/slurm/slurm.conf"
_PROGRAM = re.compile(r"^SuspendProgram=", re.MULTILINE | re.IGNORECASE)


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    """slurmctld calls no program for them any more; 24.11 starts no job on them, 26.05 allocates them all the same."""
    if _saves_power(old) and not _saves_power(new) and any(file.target == _CONF for file in new.files.values()):
        yield ManualStep(
            "switch on the nodes that slurmctld has switched off, and wait until they are idle: scontrol update"
            " NodeName=$(sinfo -h -t powered_down,powering_down -o %N) State=POWER_UP; without power saving they stay"
            " off",
            is_first=True,
        )


def _saves_power(side: Side) -> bool:
    return any(file.target == _CONF and _PROGRAM.search(file.text) for file in side.files.values())
