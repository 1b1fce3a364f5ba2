"""Contributions of DCGM to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.network import ports
from clustergen.cluster.contributions import Daemon, Exported, PackageOf, Sampling, ScrapeJob, Unit, Use, WrittenPath
from clustergen.cluster.dcgm import JOB_INFO, Dcgm, dcgm_types, job_form, runs_exporter
from clustergen.cluster.model import Cluster, NodeType, once_per_cluster
from clustergen.cluster.monitoring import Scraping, static


def daemons(cluster: Cluster) -> Iterator[Daemon]:
    managed = dcgm_types(cluster)
    if managed and cluster.of(Dcgm).exports:
        dcgm = cluster.of(Dcgm)
        members = tuple(group for group in cluster.compute if group.type.name in managed)
        yield Daemon(ports()["dcgm"].port, None, "DCGM", "gpu_node", source=None, members=members)
        yield Daemon(dcgm.port, dcgm.port_at, "dcgm-exporter", "gpu_node", members=members)


def scrape_jobs(cluster: Cluster) -> Iterator[ScrapeJob]:
    managed = dcgm_types(cluster)
    if members := tuple(group for group in static(cluster.compute) if group.type.name in managed):
        # Read more often, the same samples would come twice.
        interval_s = next((sampling.interval_s for sampling in samplings(cluster)), None)
        yield ScrapeJob("dcgm", members, cluster.of(Dcgm).port, interval_s=interval_s)


def samplings(cluster: Cluster) -> Iterator[Sampling]:
    interval_s = -(-cluster.of(Dcgm).interval_ms // 1000) if cluster.has(Dcgm) else 0
    if interval_s > cluster.of(Scraping).interval_s:
        yield Sampling(interval_s)


def paths(cluster: Cluster) -> Iterator[WrittenPath]:
    use = Use(
        "the job map of the DCGM exporter",
        "/run/dcgm-job-mapping",
        "any user could put a directory in its place",
        outlives_boot=False,
        role="slurm-compute",
        is_private=True,
    )
    if cluster.has(Dcgm):
        yield WrittenPath(("monitoring", "dcgm", "job_map"), cluster.of(Dcgm).job_map, use)


def units(cluster: Cluster) -> Iterator[Unit]:
    """The host engine, which the exporter asks."""
    for node_type in cluster.gpu_types:
        if runs_exporter(cluster, node_type):
            yield Unit(node_type.group, "nvidia-dcgm.service")


def packages(cluster: Cluster) -> Iterator[PackageOf]:
    yield PackageOf("nvidia-dcgm-exporter.service", "dcgm_exporter")
    yield PackageOf("clustergen-dcgm-guard.service", "dcgm_guard")
    if cluster.has(Dcgm):
        yield PackageOf("nvidia-dcgm.service", f"dcgm_{cluster.of(Dcgm).version[0]}")


def runs_host_engine(cluster: Cluster, node_type: NodeType) -> bool:
    """True if nvidia-dcgm runs on nodes of this type, for the exporter or for the health check."""
    return node_type.group in _groups_with_host_engine(cluster)


@once_per_cluster
def _groups_with_host_engine(cluster: Cluster) -> frozenset[str]:
    return frozenset(unit.group for unit in cluster.needs(Unit) if unit.name == "nvidia-dcgm.service")


def exported(cluster: Cluster) -> Iterator[Exported]:
    from clustergen.features.dcgm.files import counters  # the render engine, which rules do without

    for kind in dcgm_types(cluster).values():
        if listed := counters(cluster, kind):
            shown = (counter for _, part in listed.parts for counter in part if counter.kind != "label")
            yield Exported(tuple(counter.field for counter in shown))
    if job_form(cluster) == "info":
        yield Exported((JOB_INFO,))
