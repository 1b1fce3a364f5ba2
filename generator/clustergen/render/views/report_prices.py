"""Table of the tree's README.md: billing units of an hour by partition, node, GPU and slice."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.billing import UNIT, is_billed, is_summed, node_amounts, price, prices
from clustergen.cluster.slurm.model import Partition


def hour_prices_intro(cluster: Cluster) -> str:
    """The introduction to the prices: what counts them, and where they come from."""
    source = "facility.prices" if prices(cluster).stated else "the hardware"
    unit = f" The unit follows from {source}: {UNIT} for the cheapest GPU."
    if cluster.slurm.bare:
        unit = " Partitions without TRESBillingWeights bill CPUs only."
        unit *= not all(partition.billing for partition in cluster.slurm.partitions)
    pays = "the sum of its resources" if is_summed(cluster) else "the resource of which it takes the largest share"
    return (
        f"Billing units, which fair share, sreport and limits on billing count. A job pays for {pays}; a GPU comes "
        f"with the CPUs and the memory that are the default per GPU.{unit if prices(cluster).nodes else ''}"
    )


def hour_prices(cluster: Cluster) -> Iterator[dict[str, str]]:
    """A row per partition and node type."""
    partitions = cluster.slurm.partitions
    for partition in partitions if is_billed(cluster) and any(one.billing for one in partitions) else ():
        types = {group.type.name: group.type for group in cluster.compute if partition.hosts.intersection(group.hosts)}
        for kind in types.values():
            if kind.is_resolved:
                yield _row(cluster, partition, kind)


def _row(cluster: Cluster, partition: Partition, kind: NodeType) -> dict[str, str]:
    amounts = node_amounts(kind)
    types = [name for name in amounts if name.startswith("gres/gpu:")]
    each = types or (["gres/gpu"] if kind.gpus else [])
    share = {
        "cpu": partition.cpus_per_gpu or 0,
        "mem": (partition.mem_per_gpu_mib or 0) / 1024,
    }  # that a job gets with it
    gpus = {name.partition(":")[2]: price(cluster, partition, {name: 1, "gres/gpu": 1, **share}) for name in each}
    return {
        "Partition": partition.name,
        "Node type": kind.name,
        "An hour of a node": _units(price(cluster, partition, amounts)),
        "GPU and its share": ", ".join(
            f"{_units(units)} ({name})" if len(gpus) > 1 else _units(units) for name, units in gpus.items()
        ),
        "CPU": _units(price(cluster, partition, {"cpu": 1})),
        "GiB of memory": _units(price(cluster, partition, {"mem": 1})),
    }


def _units(count: float) -> str:
    return f"{count:.0f}" if count >= 100 else f"{count:.3g}"
