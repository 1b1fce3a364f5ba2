"""Billing weights that the manifest states: one unit for all partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.billing import is_billed, node_amounts, price, prices, weights_of
from clustergen.cluster.slurm.model import Partition as Resolved
from clustergen.diagnostics import Finding
from clustergen.manifest.partitions import Partition

REQUIRES = "slurm"
_FACTOR = 3
"""A site may charge more or less for a partition; a unit of another kind is further apart."""


def billing_units_differ(cluster: Cluster, section: Mapping[str, Partition]) -> Iterator[Finding]:
    stated = {name for name, spec in section.items() if spec.billing is not None}
    if not is_billed(cluster) or not stated:
        return
    rates = [
        (_rate(cluster, partition, kind), partition, kind)
        for partition in cluster.slurm.partitions
        for kind in _types(cluster, partition)
    ]
    billed = [each for each in rates if each[0] > 0]  # a partition may be free of charge
    if not billed:
        return
    derived = [each for each in billed if each[1].name not in stated]
    rate, other, usual = (derived or billed)[0]
    for partition in cluster.slurm.partitions:
        of_it = [each for each in billed if each[1] is partition and partition.name in stated]
        worst = max(of_it, key=lambda each: max(each[0] / rate, rate / each[0]), default=None)
        factor = max(worst[0] / rate, rate / worst[0]) if worst else 1
        if worst is not None and factor > _FACTOR:
            kind = worst[2]
            costs = (price(cluster, partition, node_amounts(kind)), price(cluster, other, node_amounts(usual)))
            yield Finding(
                "billing-units-differ",
                ("slurm", "partitions", partition.name, *(["billing"] if section[partition.name].billing else [])),
                f"an hour of a '{kind.name}' node bills {costs[0]:.6g} in partition '{partition.name}', and one of a "
                f"'{usual.name}' node {costs[1]:.6g} in '{other.name}': {factor:.3g} times "
                f"{'more' if worst[0] > rate else 'less'} than in proportion to their hardware",
                _hint(cluster, partition, rate, is_derived=bool(derived)),
                key=True,
            )


def _types(cluster: Cluster, partition: Resolved) -> list[NodeType]:
    types = {group.type.name: group.type for group in cluster.compute if partition.hosts.intersection(group.hosts)}
    return [kind for kind in types.values() if kind.is_resolved]


def _rate(cluster: Cluster, partition: Resolved, kind: NodeType) -> float:
    """Units of an hour of a node, by what it is worth: its price, or its CPUs where there are no GPUs."""
    amounts = node_amounts(kind)
    return price(cluster, partition, amounts) / (prices(cluster).nodes.get(kind.name) or amounts["cpu"])


def _hint(cluster: Cluster, partition: Resolved, rate: float, *, is_derived: bool) -> str:
    """`rate`: of the partition that it is compared with, in which the weights are written."""
    everywhere = "remove billing from all partitions"
    weights = weights_of(_types(cluster, partition), prices(cluster))
    if not weights:
        return f"{everywhere}: Slurm then bills CPUs"
    text = ", ".join(f"{name}: {rate * weight:.4g}{'G' if name == 'Mem' else ''}" for name, weight in weights.items())
    other = "" if cluster.slurm.bare else ", or remove it" if is_derived else f", or {everywhere}"
    return f"write billing: {{{text}}}{other}"
