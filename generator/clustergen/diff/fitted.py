"""Memory and GPUs that machines in service get or lose; slurmctld drains a node that has less than slurm.conf says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.diff.snapshot import Snapshot
from clustergen.render.node_hardware import Hardware


def fitted(old: Snapshot, new: Snapshot) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Hardware that each node gets before Slurm reads of it, and that it loses afterwards: `GPUs: 4 → 8`."""
    gained: dict[str, list[str]] = {}
    lost: dict[str, list[str]] = {}
    for host, groups in new.inventory.hosts.items():
        before = _hardware(old, old.inventory.hosts.get(host, ()))
        after = _hardware(new, groups)
        for is_more, words in _differences(before, after) if before and after else ():
            (gained if is_more else lost).setdefault(host, []).append(words)
    return _joined(gained), _joined(lost)


def _joined(side: Mapping[str, list[str]]) -> dict[str, str]:
    return {host: ", ".join(words) for host, words in side.items()}


def _hardware(side: Snapshot, groups: tuple[str, ...]) -> Hardware | None:
    return next((side.hardware[group] for group in groups if group in side.hardware), None)


def _differences(before: Hardware, after: Hardware) -> Iterator[tuple[bool, str]]:
    if before.memory and after.memory and before.memory != after.memory:
        yield after.memory > before.memory, f"memory: {before.memory >> 10} → {after.memory >> 10} GiB"
    counts = (len(before.cpus), len(after.cpus))
    if counts[0] != counts[1]:
        yield counts[1] > counts[0], f"GPUs: {counts[0]} → {counts[1]}"
    elif before.gpu != after.gpu and before.gpu and after.gpu:
        yield True, f"GPUs: {before.gpu} → {after.gpu}"
