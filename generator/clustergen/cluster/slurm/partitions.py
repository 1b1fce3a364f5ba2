"""Partitions, with the defaults per GPU worked out from the hardware."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clustergen.cluster.catalogue_view import Report
from clustergen.cluster.model import NodeGroup, NodeType
from clustergen.cluster.slurm.billing import Prices, prices_of, weights_of
from clustergen.cluster.slurm.model import Partition
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, quote
from clustergen.hostlist import compress, expand, span_of
from clustergen.manifest.partitions import Partition as Spec
from clustergen.manifest.slurm import Slurm as Section
from clustergen.records import copied

DEFAULT_PARTITION = "main"
_HOUR = 60


def resolve_partitions(
    section: Section, groups: tuple[NodeGroup, ...], report: Report, costs: Mapping[str, float]
) -> tuple[Partition, ...]:
    """The partitions of the manifest, or one of all nodes where it has none. `costs`: `facility.prices.items`."""
    bare = section.defaults == "slurm"
    specs = section.partitions
    if not specs and not bare:
        specs = {DEFAULT_PARTITION: Spec(nodes="all", default=True)}
    compute = [group for group in groups if group.has("slurm-compute")]
    where = {host: group.type for group in compute for host in group.hosts}
    hosts = {host for group in groups for host in group.hosts}
    sets = {
        name: _existing(expand(text), text, ("slurm", "node_sets", name), where, hosts, (), report)
        for name, text in section.node_sets.items()
    }
    only = len(specs) == 1
    prices = None if bare else prices_of({id(kind): kind for kind in where.values()}.values(), costs)
    return tuple(
        _partition(name, spec, where, hosts, sets, report, only=only, prices=prices) for name, spec in specs.items()
    )


def _existing(
    names: Iterable[str],
    text: str,
    path: ManifestPath,
    where: dict[str, NodeType],
    all_hosts: set[str],
    sets: Iterable[str],
    report: Report,
) -> list[str]:
    listed = list(names)
    unique = set(listed)
    if where.keys() >= unique:  # as nearly always; the sets are compared much faster than the names one by one
        return listed
    existing = [name for name in listed if name in where] if not unique.isdisjoint(where) else []
    idle = [name for name in listed if name not in where and name in all_hosts]
    strange = [name for name in listed if name not in all_hosts] if not all_hosts >= unique else []

    def refuse(code: str, names: list[str], whys: tuple[str, str], hint: str | None) -> None:
        message = f"{quote(compress(names))} {whys[len(names) > 1]}"
        report(Finding(code, path, message, hint, at=span_of(text, names[0])))

    if strange:
        every = "write all for every node that runs slurmd" if strange[0] == "ALL" else None
        meant = every or _of_type(strange, where) or _padded(strange, where)
        has_number = any(char.isdigit() for char in strange[0])  # gpus is not gpu8
        candidates = [*sets, *(where if has_number else ())] if len(strange) == 1 else ()  # no node for a whole list
        guess = meant or did_you_mean(strange[0], candidates)
        rest = f'write "{compress(existing)}", the nodes that exist' if existing else None
        choice = f"write all, or nodes of {compress(list(where))}" if where else None
        whys = "is not a node of this cluster", "are not nodes of this cluster"
        refuse("node-unknown", strange, whys, guess or rest or choice)
    if idle:
        hint = "add the role slurm-compute to it, or remove it here"
        refuse("node-not-compute", idle, ("does not run jobs", "do not run jobs"), hint)
    return existing


def _of_type(strange: list[str], where: dict[str, NodeType]) -> str | None:
    """The hint where a node type is named in place of its nodes."""
    kinds = {*strange, *(name.removesuffix("s") for name in strange)}
    nodes = [name for name, kind in where.items() if kind.name in kinds]
    return f"write {compress(nodes)}: partitions name nodes, not node types" if nodes else None


def _padded(strange: list[str], where: Iterable[str]) -> str | None:
    """The hint where the names differ from nodes in leading zeros alone: gpu1 and gpu01."""
    nodes = {_number(name): name for name in where}
    meant = [nodes.get(_number(name), "") for name in strange]
    return f"write {compress(meant)}: leading zeros count" if all(meant) else None


def _number(name: str) -> tuple[str, str]:
    """gpu01 as gpu and 1."""
    prefix = name.rstrip("0123456789")
    return prefix, name[len(prefix) :].lstrip("0")


def _partition(
    name: str,
    spec: Spec,
    where: dict[str, NodeType],
    all_hosts: set[str],
    sets: dict[str, list[str]],
    report: Report,
    *,
    only: bool,
    prices: Prices | None,
) -> Partition:
    """`prices`: None where Slurm's own defaults hold."""
    hosts: list[str] = []
    if spec.nodes == "all":
        hosts = list(where)
    elif spec.nodes != "none":
        single = expand(spec.nodes)
        if not sets.keys().isdisjoint(single):
            hosts = [host for item in single for host in sets.get(item, ())]
            single = [item for item in single if item not in sets]
        hosts += _existing(single, spec.nodes, ("slurm", "partitions", name, "nodes"), where, all_hosts, sets, report)
    kinds = list({id(kind): kind for kind in map(where.__getitem__, hosts)}.values())
    path: ManifestPath = ("slurm", "partitions", name)
    limit, default = spec.max_time, spec.default_time
    longest = limit.minutes if limit else None
    usual = longest if prices is None else min(_HOUR, longest or _HOUR)  # Slurm's DefaultTime is MaxTime
    return copied(
        Partition,
        spec,
        name=name,
        nodes="ALL" if spec.nodes == "all" else spec.nodes,
        hosts=frozenset(hosts),
        default=spec.default or (only and prices is not None),
        max_time_minutes=longest,
        max_time_at=(*path, "max_time") if limit else None,
        default_time_minutes=default.minutes if default else usual,
        default_time_at=(*path, "default_time") if default else None,
        **(_stated_shares(spec) if prices is None else _shares(spec, kinds, prices)),
    )


def _stated_shares(spec: Spec) -> dict[str, Any]:
    """Defaults of a job's resources by field, without what follows from the hardware."""
    return {
        "cpus_per_gpu": spec.cpus_per_gpu,
        "mem_per_gpu_mib": spec.memory_per_gpu.mib if spec.memory_per_gpu else None,
        "mem_per_cpu_mib": spec.memory_per_cpu.mib if spec.memory_per_cpu else None,
        "billing": _weights(spec.billing or {}),
    }


def _shares(spec: Spec, kinds: list[NodeType], prices: Prices) -> dict[str, Any]:
    """The same, worked out where the manifest does not state them; Slurm takes one of the three defaults of memory."""
    stated = _stated_shares(spec)
    cpus, memory = _per_gpu(kinds, spec.max_cpus_per_node)
    own_memory = spec.memory_per_node or spec.memory_per_cpu
    without_gpus = not any(kind.gpus for kind in kinds)
    mem_per_cpu = min(
        (kind.job_memory_mib // max(1, kind.job_cores * kind.threads_per_core) for kind in kinds), default=0
    )
    return {
        "cpus_per_gpu": stated["cpus_per_gpu"] or cpus,
        "mem_per_gpu_mib": stated["mem_per_gpu_mib"] if spec.memory_per_gpu else None if own_memory else memory,
        "mem_per_cpu_mib": stated["mem_per_cpu_mib"]
        if spec.memory_per_cpu
        else (mem_per_cpu or None if without_gpus and not own_memory else None),
        "billing": weights_of(kinds, prices) if spec.billing is None else stated["billing"],
    }


def _job_cores(node_type: NodeType, most_cpus: int | None) -> int:
    return min(node_type.job_cores, most_cpus // node_type.threads_per_core) if most_cpus else node_type.job_cores


def _per_gpu(kinds: list[NodeType], most_cpus: int | None = None) -> tuple[int | None, int | None]:
    """CPUs and MiB of one GPU's share, on the leanest of the node types, so that all GPUs of a node can be had.

    `most_cpus`: of a node that the partition may use (MaxCPUsPerNode).

    Whole cores: Slurm hands out no half ones, and would round up.
    """
    shares = [
        (
            _job_cores(kind, most_cpus) // kind.gpus.gres_count * kind.threads_per_core,
            kind.job_memory_mib // kind.gpus.gres_count,
        )
        for kind in kinds
        if kind.gpus
    ]
    if not shares:
        return None, None
    return max(1, min(cpus for cpus, _ in shares)), max(1, min(memory for _, memory in shares))


def _weights(stated: Mapping[str, float | str]) -> dict[str, float]:
    """Weights of memory by the GiB; one without a unit is by the MiB, as in Slurm."""
    return {
        name: weight if isinstance(weight, float) and name.lower() != "mem" else _by_gib(str(weight))
        for name, weight in stated.items()
    }


def _by_gib(weight: str) -> float:
    unit = weight[-1] if weight[-1].isalpha() else "M"
    return float(weight.removesuffix(unit)) * 1024.0 ** ("KMGTP".index("G") - "KMGTP".index(unit))
