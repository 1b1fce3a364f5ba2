"""Slurm's own view of the nodes, of `scontrol -o show nodes`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.cluster.slurm.keys.devices import gpu_counts
from clustergen.hardware.discovery.plain import plain
from clustergen.hardware.drift.model import DriftFinding

_KEY = re.compile(r"(?:^| )(NodeName|Gres|Version|CPUTot|RealMemory|State|Sockets|CoresPerSocket|ThreadsPerCore)=(\S*)")
_REASON = re.compile(r" Reason=(.{0,300}?)(?: \[[^\]]{0,80}\])?(?: (?:Comment|Extra|InstanceId)=|$)")
_DOWN = frozenset(("DOWN", "FAIL", "FAILING", "ERROR", "NOT_RESPONDING", "UNKNOWN"))
_OFF = frozenset(("POWERED_DOWN", "POWERING_DOWN", "POWERING_UP", "CLOUD", "FUTURE", "PLANNED"))
_MOST_LINES = 200_000


def nodes_of(text: str) -> dict[str, dict[str, str]]:
    """Node → values. Raises ValueError where the text is not of scontrol."""
    nodes: dict[str, dict[str, str]] = {}
    for line in plain(text).splitlines()[:_MOST_LINES]:
        if not line.startswith("NodeName="):
            continue
        values: dict[str, str] = {}
        head = line.partition(" Reason=")[0]
        for key, value in _KEY.findall(head):
            values.setdefault(key, value)
        if match := _REASON.search(line):
            values["Reason"] = match[1].strip()
        nodes[values["NodeName"]] = values
    if not nodes:
        raise ValueError("no line begins with NodeName=")
    return nodes


def findings(cluster: Cluster, nodes: Mapping[str, Mapping[str, str]]) -> Iterator[DriftFinding]:
    planned: set[str] = set()
    for group in cluster.compute:
        planned.update(group.hosts)
        for host in group.hosts:
            values = nodes.get(host)
            if values is not None:
                yield from _node(host, group, values)
            elif not group.is_dynamic:
                yield DriftFinding("slurm-missing", (host,), "slurmctld", "does not know the node")
    for name in nodes:
        if name not in planned:
            yield DriftFinding("slurm-unplanned", (name,), "slurmctld", "has a node that the manifest does not plan")
    yield from _versions(nodes)


def _node(host: str, group: NodeGroup, values: Mapping[str, str]) -> Iterator[DriftFinding]:
    flags = set(re.split(r"[+*]", values.get("State", "").upper().rstrip("~#!%$@^-"))) - {""}
    reason = f" ({values['Reason']})" if values.get("Reason") else ""
    if flags & {"INVAL", "INVALID_REG"}:
        yield DriftFinding("slurm-invalid", (host,), "state", f"{values['State']}{reason}")
    elif (flags & _DOWN or "*" in values.get("State", "")) and not flags & _OFF:
        yield DriftFinding("slurm-down", (host,), "state", f"{values['State']}{reason}")
    elif "DRAIN" in flags or {"DRAINED", "DRAINING"} & flags:
        yield DriftFinding("slurm-drained", (host,), "state", f"{values['State']}{reason}")
    yield from _hardware(host, group.type, values)


def _hardware(host: str, node_type: NodeType, values: Mapping[str, str]) -> Iterator[DriftFinding]:
    if not node_type.is_resolved:
        return
    expected = {
        "Sockets": node_type.slurm_sockets,
        "CoresPerSocket": node_type.slurm_cores_per_socket,
        "ThreadsPerCore": node_type.threads_per_core,
        "RealMemory": node_type.real_memory_mib,
    }
    stated = {key.lower() for key in node_type.slurm_options}
    for key, number in expected.items():
        if key in values and key.lower() not in stated and "boards" not in stated and values[key] != str(number):
            yield DriftFinding("slurm-hardware", (host,), key, values[key] or "none", str(number))
    if "Gres" in values and "gres" not in stated:
        planned = {f"gpu:{name}" if name else "gpu": count for name, count in _planned(node_type).items()}
        actual = _gres(values["Gres"])
        if planned != actual:
            yield DriftFinding("slurm-gres", (host,), "Gres", _words(actual), _words(planned))


def _planned(node_type: NodeType) -> dict[str, int]:
    return gpu_counts(node_type.gpus) if node_type.gpus else {}


def _gres(text: str) -> dict[str, int]:
    """`gpu:h100:8(S:0-1)` as name and count; shards and other names are not compared."""
    counts: Counter[str] = Counter()
    for word in re.sub(r"\([^)]*\)", "", text).split(","):
        name, _, count = word.rpartition(":")
        if name.split(":")[0] == "gpu" and count.isdecimal():
            counts[name] += int(count[:9])
    return dict(counts)


def _words(counts: Mapping[str, int]) -> str:
    return ",".join(f"{name}:{count}" for name, count in counts.items()) or "none"


def _versions(nodes: Mapping[str, Mapping[str, str]]) -> Iterator[DriftFinding]:
    counts = Counter(values["Version"] for values in nodes.values() if values.get("Version"))
    if len(counts) < 2:
        return
    usual, count = counts.most_common(1)[0]
    for name, values in nodes.items():
        version = values.get("Version")
        if version and version != usual:
            expected = f"{usual} as on {count} of {sum(counts.values())} nodes"
            yield DriftFinding("slurm-version", (name,), "slurmd", version, expected)
