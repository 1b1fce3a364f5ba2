"""slurm.conf: the sections of all topics, with the manifest's own values in their places, then nodes and partitions."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.formats import Safe
from clustergen.render.views.slurm import accounting, daemons, hooks, power_saving, private_tmp, resources, scheduling
from clustergen.render.views.slurm.nodes import TypeNodes, node_sets, nodes, partition_line, weights_derived
from clustergen.render.views.slurm.settings import Section, own_lines, with_options
from clustergen.render.views.slurm.stated import as_stated

TOPICS = (
    daemons.controllers,
    daemons.messages,
    resources.resources,
    resources.jobs,
    scheduling.scheduler,
    scheduling.priority,
    scheduling.preemption,
    scheduling.topology,
    accounting.accounting,
    hooks.hooks,
    private_tmp.namespace,
    power_saving.settings,
    daemons.logging,
)


@record
class SlurmConf:
    release: str
    sections: tuple[Section, ...]
    node_sets: tuple[Safe, ...]
    weights_derived: bool
    """Whether a Weight is ours, and not the manifest's."""
    types: tuple[TypeNodes, ...]
    partitions: tuple[Safe, ...]
    lines: tuple[Safe, ...]


def sections(cluster: Cluster) -> tuple[Section, ...]:
    """The settings of slurm.conf by topic, each row with its reason."""
    slurm = cluster.slurm
    site_keys = {key.lower() for line in slurm.lines for key in line}
    made = as_stated(cluster, "slurm.conf", [topic(cluster) for topic in TOPICS])
    ours = [Section(part.title, tuple(row for row in part.rows if row.key.lower() not in site_keys)) for part in made]
    return with_options(ours, slurm.options, "slurm.options")


def slurm_conf(cluster: Cluster) -> SlurmConf | None:
    if not cluster.slurm.controllers:
        return None
    return SlurmConf(
        release=str(cluster.slurm.release),
        sections=sections(cluster),
        node_sets=node_sets(cluster),
        weights_derived=weights_derived(cluster),
        types=nodes(cluster),
        partitions=tuple(partition_line(cluster, partition) for partition in cluster.slurm.partitions),
        lines=own_lines(cluster.slurm.lines),
    )
