"""Slurm's own view of the partitions, of `scontrol -o show partitions`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Partition
from clustergen.hardware.discovery.plain import plain
from clustergen.hardware.drift.model import DriftFinding
from clustergen.hostlist import HostlistError, compress, expand
from clustergen.units.duration import slurm_minutes

_KEY = re.compile(r"(?:^| )(PartitionName|Default|DefaultTime|MaxTime|Nodes|PriorityTier|State)=(\S*)")
_MOST_LINES = 10_000
_KIND = "slurm-partition"


def partitions_of(text: str) -> dict[str, dict[str, str]]:
    """Partition → values. Raises ValueError where the text is not of scontrol."""
    partitions: dict[str, dict[str, str]] = {}
    for line in plain(text).splitlines()[:_MOST_LINES]:
        if line.startswith("PartitionName="):
            values: dict[str, str] = {}
            for key, value in _KEY.findall(line):
                values.setdefault(key, value)
            partitions[values["PartitionName"]] = values
    if not partitions:
        raise ValueError("no line begins with PartitionName=")
    return partitions


def findings(cluster: Cluster, controller: str, partitions: Mapping[str, Mapping[str, str]]) -> Iterator[DriftFinding]:
    """Settings in which slurmctld on `controller` differs from the manifest."""
    dynamic = frozenset(host for group in cluster.compute if group.is_dynamic for host in group.hosts)
    for partition in cluster.slurm.partitions:
        subject = f"partition {partition.name}"
        values = partitions.get(partition.name)
        if values is None:
            yield DriftFinding(_KIND, (controller,), subject, "slurmctld does not have it")
            continue
        stated = {key.lower() for key in partition.options}
        for key, expected in _expected(cluster, partition).items():
            if key in values and key.lower() not in stated and values[key] != expected:
                yield DriftFinding(_KIND, (controller,), f"{subject} {key}", values[key] or "none", expected)
        yield from _nodes(subject, controller, values.get("Nodes"), partition.hosts, dynamic)
    for name in partitions.keys() - {partition.name for partition in cluster.slurm.partitions}:
        yield DriftFinding(_KIND, (controller,), f"partition {name}", "is not in the manifest")


def _expected(cluster: Cluster, partition: Partition) -> dict[str, str]:
    """The values that `scontrol` shows if slurmctld has the rendered slurm.conf."""
    expected = {"State": partition.state, "Default": "YES" if partition.default else "NO"}
    if partition.priority_tier is not None:
        expected["PriorityTier"] = str(partition.priority_tier)
    if partition.max_time_at or not cluster.slurm.bare:
        expected["MaxTime"] = slurm_minutes(partition.max_time_minutes)
    if partition.default_time_at or not cluster.slurm.bare:
        expected["DefaultTime"] = slurm_minutes(partition.default_time_minutes)
    return expected


def _nodes(
    subject: str, controller: str, text: str | None, planned: frozenset[str], dynamic: frozenset[str]
) -> Iterator[DriftFinding]:
    """Nodes that exist only when Slurm starts them are not compared: releases differ in whether they show them."""
    if text is None or text == "ALL":
        return
    expected = planned - dynamic
    try:
        actual = frozenset(() if text in ("", "(null)") else expand(text)) - dynamic
    except HostlistError:
        yield DriftFinding(_KIND, (controller,), f"{subject} Nodes", text[:300], _folded(expected))
        return
    if actual != expected:
        yield DriftFinding(_KIND, (controller,), f"{subject} Nodes", _folded(actual), _folded(expected))


def _folded(hosts: frozenset[str]) -> str:
    return compress(list(hosts), sort=True)[:300] if hosts else "none"
