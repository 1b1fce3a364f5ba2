"""Input of Prometheus: a job per kind of exporter, and the targets of each.

Targets are host names, as /etc/hosts of every node has them, so that a new address changes no file here. One name per
line: a new node changes one line per job. `instance` is the host's name without a port in all of our jobs, so that
alerts of one node match each other, whichever exporter they are from.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import ScrapeJob, Targets
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.nvlink import domains
from clustergen.cluster.slurm.model import Slurm
from clustergen.features.prometheus.resolved import Samples
from clustergen.records import record


@record
class TargetGroup:
    """Targets with the same labels."""

    targets: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]


def jobs(cluster: Cluster) -> dict[str, ScrapeJob]:
    """All jobs by name, the manifest's own among them."""
    of_site = (
        ScrapeJob(name, others=(Targets(addresses),), has_hosts=False)
        for name, addresses in cluster.of(Samples).targets.items()
    )
    return {job.name: job for job in (*cluster.needs(ScrapeJob), *of_site)}


def targets(cluster: Cluster, job: ScrapeJob) -> tuple[TargetGroup, ...]:
    """A group for the hosts of each entry, rack, leaf and NVLink domain, and one for the manifest's own targets."""
    racks = {host: rack.name for rack in cluster.racks for host in rack.hosts}
    leaves = {host: leaf.name for leaf in (cluster.slurm.leaves if cluster.has(Slurm) else ()) for host in leaf.nodes}
    domain_of = {host: name for name, hosts in domains(cluster).items() for host in hosts}
    parts = [part for group in job.members for part in _split(cluster, group, (racks, leaves, domain_of), job)]
    common = ("cluster", cluster.of(Samples).labels["cluster"])
    for other in job.others:
        labels = tuple((name, text) for name, text in other.labels if text)
        parts.append(TargetGroup(other.addresses, (common, *labels)))
    return tuple(parts)


def _split(
    cluster: Cluster, group: NodeGroup, places: tuple[dict[str, str], ...], job: ScrapeJob
) -> Iterator[TargetGroup]:
    """The hosts of one entry of the manifest, by rack, leaf switch and NVLink domain."""
    by_place: dict[tuple[str, ...], list[str]] = {}
    for host in group.hosts:
        by_place.setdefault(tuple(each.get(host, "") for each in places), []).append(host)
    for (rack, leaf, domain), hosts in by_place.items():
        labels = {
            "cluster": cluster.of(Samples).labels["cluster"],
            "node_type": group.type.name,
            "roles": ",".join(group.roles),
            "rack": rack,
            "leaf": leaf,
            "nvlink_domain": domain,
        }
        yield TargetGroup(
            tuple(f"{host}{job.suffix}:{job.port}" for host in hosts),
            tuple((name, text) for name, text in labels.items() if text),
        )
