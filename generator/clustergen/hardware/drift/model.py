"""Findings of a comparison with the manifest."""

from __future__ import annotations

import re

from clustergen.hardware.drift.kinds import KINDS, SEVERITIES, Kind
from clustergen.hostlist import ansible_ranges, folded
from clustergen.records import record, replace

UNPLANNED = "node-unplanned"
_NOT_PLANNED = (UNPLANNED, "slurm-unplanned")


@record
class DriftFinding:
    """One difference on one node, or on all nodes that differ in the same way."""

    kind: str
    nodes: tuple[str, ...]
    subject: str
    """The object of the comparison: `GPUs`, `mlx5_3`, `/etc/nccl.conf`."""
    actual: str
    expected: str = ""
    """Empty where the kind says it."""
    has_slurm: bool = True
    """True: the cluster has Slurm."""

    @property
    def info(self) -> Kind:
        return KINDS[self.kind] if self.has_slurm else KINDS[self.kind].without_slurm

    @property
    def severity(self) -> str:
        return self.info.severity

    @property
    def message(self) -> str:
        expected = f", expected {self.expected}" if self.expected else ""
        return f"{self.subject}: {self.actual}{expected}" if self.actual else f"{self.subject}{expected}"

    @property
    def hosts(self) -> str:
        return folded(self.nodes)

    @property
    def step(self) -> str:
        """The next step with the names of its nodes in it."""
        limit = ",".join(ansible_ranges(self.nodes)) if "{limit}" in self.info.step else ""
        step = re.sub(r"(NodeName=|show node )\{nodes\}", rf"\1{_word(self.hosts)}", self.info.step)
        return step.replace("{nodes}", self.hosts).replace("{limit}", _word(limit))


@record
class DriftReport:
    """The comparison and its differences, worst first."""

    manifest: str
    compared: int
    """Nodes whose facts were compared."""
    total: int
    """Nodes of the manifest that should have facts, or have some."""
    findings: tuple[DriftFinding, ...]
    remarks: tuple[str, ...] = ()

    @property
    def affected(self) -> int:
        """Nodes of the manifest with at least one finding."""
        return len({name for finding in self.findings if finding.kind not in _NOT_PLANNED for name in finding.nodes})

    @property
    def unplanned(self) -> int:
        """Machines that have facts, or that Slurm has as nodes, and that the manifest does not plan."""
        return len({name for finding in self.findings if finding.kind in _NOT_PLANNED for name in finding.nodes})

    def filtered(self, selected: frozenset[str], ignored: frozenset[str]) -> DriftReport:
        """The same with some kinds or topics only; none selected means all."""
        kept = tuple(
            one
            for one in self.findings
            if (not selected or selected & {one.kind, one.info.topic}) and not ignored & {one.kind, one.info.topic}
        )
        return replace(self, findings=kept)

    def counts(self) -> dict[str, int]:
        """Severity → findings."""
        return {name: sum(1 for one in self.findings if one.severity == name) for name in SEVERITIES}


def _word(text: str) -> str:
    """Brackets are a pattern for the shell, and an error for zsh."""
    return f"'{text}'" if "[" in text else text
