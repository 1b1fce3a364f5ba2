"""The comparison as a whole: every node's facts, its group, its files and Slurm's view, folded and in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from clustergen import regular_file
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics.redaction import redacted
from clustergen.hardware.discovery import recordings
from clustergen.hardware.discovery.facts import NodeFacts
from clustergen.hardware.drift import files, group, partitions, slurm
from clustergen.hardware.drift.hardware import NodeCheck, uncompared_settings
from clustergen.hardware.drift.kinds import KINDS, SEVERITIES
from clustergen.hardware.drift.model import UNPLANNED, DriftFinding, DriftReport
from clustergen.hostlist import natural_key
from clustergen.records import replace
from clustergen.regular_file import reason_of

_MOST_BYTES = 128 << 20
_CAUSES = {
    "slurm-down": frozenset(("node-unreachable", "node-off")),
    "slurm-invalid": frozenset(("memory-low", "cpu-count", "gpu-missing", "gpu-driver", "gpu-device")),
    "slurm-gres": frozenset(("gpu-missing", "gpu-driver", "gpu-device")),
    "memory-differs": frozenset(("memory-low",)),
    "driver-differs": frozenset(("driver-branch",)),
}
"""Kinds that only repeat what another kind reports about the same node."""


def compare(cluster: Cluster, manifest: str, directory: Path) -> DriftReport:
    """Compares a directory of recorded facts with the manifest. Raises ClustergenError where it cannot be read."""
    present = recordings.names(directory, "drift")
    comparison = _Comparison(cluster, directory, frozenset(present))
    findings = _causes(list(comparison.findings()))
    planned = {host for nodes in cluster.groups for host in nodes.hosts}
    findings += [
        DriftFinding(UNPLANNED, (name if recordings.is_host(name) else "?",), "directory", repr(name)[:80])
        for name in present
        if name not in planned
    ]
    expected = {host for nodes in cluster.groups if not nodes.is_dynamic for host in nodes.hosts}
    total = len(expected | planned.intersection(present))
    rows = [replace(one, has_slurm=cluster.has(Slurm)) for one in folded(findings)]
    return DriftReport(manifest, comparison.compared, total, tuple(rows), tuple(comparison.remarks))


def _causes(findings: Sequence[DriftFinding]) -> list[DriftFinding]:
    """Without consequences of what is reported anyway; each finding is about one node."""
    kinds: dict[str, set[str]] = {}
    for finding in findings:
        kinds.setdefault(finding.nodes[0], set()).add(finding.kind)
    return [one for one in findings if not _CAUSES.get(one.kind, frozenset()) & kinds[one.nodes[0]]]


def folded(findings: Iterable[DriftFinding]) -> list[DriftFinding]:
    """One finding for all nodes that differ in the same way; worst first, then in the order of the kinds and nodes."""
    alike: dict[tuple[str, ...], dict[str, None]] = {}
    for finding in findings:
        key = (finding.kind, finding.subject, finding.actual, finding.expected)
        alike.setdefault(key, {}).update(dict.fromkeys(finding.nodes))
    merged = [
        DriftFinding(kind, tuple(sorted(nodes, key=natural_key)), subject, redacted(actual), expected)
        for (kind, subject, actual, expected), nodes in alike.items()
    ]
    order = {kind: (SEVERITIES.index(row.severity), place) for place, (kind, row) in enumerate(KINDS.items())}
    merged.sort(key=lambda one: (order[one.kind], natural_key(one.nodes[0]), one.subject))
    return merged


class _Comparison:
    """Reads the facts of one cluster, one node at a time."""

    def __init__(self, cluster: Cluster, directory: Path, present: frozenset[str]) -> None:
        self._cluster = cluster
        self._directory = directory
        self._present = present
        self._reader = recordings.Reader(directory)
        self._check = NodeCheck(cluster)
        self.compared = 0
        self.remarks: list[str] = []

    def findings(self) -> Iterator[DriftFinding]:
        members: dict[str, list[NodeFacts]] = {}
        for nodes in self._cluster.groups:
            for index, host in enumerate(nodes.hosts):
                if host not in self._present:
                    if not nodes.is_dynamic:
                        yield DriftFinding("facts-missing", (host,), "facts", "none were recorded")
                    continue
                facts = self._reader.node(host)
                yield from _bmc(facts)
                if facts.unreachable:
                    yield _unreachable(facts, nodes.addresses[index] if nodes.addresses else host)
                    continue
                self.compared += 1
                yield from _unreadable(facts)
                yield from self._check.findings(nodes.type, facts)
                yield from files.findings(facts)
                members.setdefault(nodes.type.name, []).append(facts)
        for node_type in self._cluster.node_types:
            has_limit = bool(node_type.gpus and node_type.gpus.power_limit_w)
            if node_type.is_resolved:
                yield from group.findings(members.get(node_type.name, ()), has_power_limit=has_limit)
                if fields := uncompared_settings(self._cluster, node_type):
                    path = f"node_types.{node_type.name}.firmware"
                    why = f"the catalogue knows no attribute for {', '.join(fields)} of this system"
                    self.remarks.append(f"{path} is not compared: {why}")
        if self._cluster.has(Slurm):
            yield from self._slurm()

    def _slurm(self) -> Iterator[DriftFinding]:
        """The view that the first controller recorded."""
        for host in [name for name in self._cluster.slurm.controllers if name in self._present]:
            path = self._directory / host / recordings.SLURM
            try:
                text = regular_file.read(path, _MOST_BYTES).decode("utf-8", "replace")
                nodes = slurm.nodes_of(text)
            except FileNotFoundError:
                continue
            except (OSError, ValueError) as err:
                reason = reason_of(err)
                yield DriftFinding("facts-unreadable", (host,), recordings.SLURM, f"{reason}")
                continue
            yield from slurm.findings(self._cluster, nodes)
            yield from self._partitions(host)
            return
        self.remarks.append("Slurm's view is missing: no controller has recorded scontrol-nodes")

    def _partitions(self, host: str) -> Iterator[DriftFinding]:
        try:
            text = regular_file.read(self._directory / host / recordings.PARTITIONS, _MOST_BYTES).decode(
                "utf-8", "replace"
            )
            yield from partitions.findings(self._cluster, host, partitions.partitions_of(text))
        except FileNotFoundError:
            self.remarks.append(f"partitions are not compared: {host} has not recorded {recordings.PARTITIONS}")
        except (OSError, ValueError) as err:
            reason = reason_of(err)
            yield DriftFinding("facts-unreadable", (host,), recordings.PARTITIONS, f"{reason}")


def _unreachable(facts: NodeFacts, address: str) -> DriftFinding:
    """Without the node's name and address, so that nodes with one cause are one finding."""
    _, mark, reason = facts.unreachable.rpartition(": ssh: ")
    words = (f"ssh: {reason}" if mark else facts.unreachable).split()
    text = " ".join(word for word in words if word.strip("'\".,:[]") not in (facts.name, address))[:300]
    power = facts.bmc.power if facts.bmc else ""
    if power == "Off":
        return DriftFinding("node-off", (facts.name,), "power", "Off", "On")
    return DriftFinding("node-unreachable", (facts.name,), "unreachable", f"{text} (power: {power})" if power else text)


def _bmc(facts: NodeFacts) -> Iterator[DriftFinding]:
    if facts.bmc and facts.bmc.failure:
        yield DriftFinding("bmc-unreachable", (facts.name,), "BMC", facts.bmc.failure)
    elif facts.bmc and facts.bmc.health not in ("", "OK"):
        yield DriftFinding("machine-health", (facts.name,), "health", facts.bmc.health, "OK")


def _unreadable(facts: NodeFacts) -> Iterator[DriftFinding]:
    for text in facts.unread:
        file, _, reason = text.partition(": ")
        yield DriftFinding("facts-unreadable", (facts.name,), file, reason or "cannot be read")
