"""The kinds of drift: how bad each is, its likely cause and the next step."""

from __future__ import annotations

import re

from clustergen.catalogue.tables import table
from clustergen.records import record, replace

SEVERITIES = ("error", "warning", "info")
TOPICS = ("facts", "hardware", "group", "files", "slurm")


@record
class Kind:
    """One kind of drift. The head of drift_kinds.tsv explains its fields."""

    kind: str
    topic: str
    severity: str
    cause: str
    step: str

    @property
    def without_slurm(self) -> Kind:
        """The same in a cluster without Slurm, where no node is drained and no slurmd restarted."""
        cause = re.sub(r"(; slurmctld|, so slurmd) .*", "", self.cause)
        step = re.sub(r"scontrol update NodeName=\S+ State=DRAIN Reason=[\w-]+(;|  #) ", "", self.step)
        return replace(self, cause=cause, step=step.replace(" && systemctl restart slurmd", ""))


KINDS = {row.kind: row for row in table("drift_kinds.tsv", Kind)}
