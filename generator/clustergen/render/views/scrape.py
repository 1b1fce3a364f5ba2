"""Input of Prometheus: a job per kind of exporter, and the targets of each.

Targets are host names, as /etc/hosts of every node has them, so that a new address changes no file here. One name per
line: a new node changes one line per job. `instance` is the host's name without a port in all of our jobs, so that
alerts of one node from different exporters can be told to belong together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.cluster.features.ansible import Ssh
from clustergen.cluster.model import Cluster, NodeGroup, once_per_cluster
from clustergen.records import record
from clustergen.render.views.alerts.model import dcgm_types
from clustergen.render.views.alerts.slurm import own_endpoint

_SLURM_PATHS = {  # job → path; /metrics itself is an index
    "slurm-jobs": "/metrics/jobs",
    "slurm-nodes": "/metrics/nodes",
    "slurm-partitions": "/metrics/partitions",
    "slurm-scheduler": "/metrics/scheduler",
    "slurm-users": "/metrics/jobs-users-accts",
}
_HTTPS = 443
_SLURM_INTERVAL = 60  # seconds; slurmctld walks all jobs and nodes for each answer


@record
class TargetGroup:
    """Targets with the same labels."""

    targets: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]


@record
class Job:
    """A scrape job. `interval` in seconds where it is not the general one; `hosts`: `instance` is the bare name."""

    name: str
    members: tuple[NodeGroup, ...] = ()
    port: int = 0
    path: str | None = None
    interval: int | None = None
    extra: tuple[str, ...] = ()  # the manifest's own targets, with their ports
    hosts: bool = True
    module: str | None = None  # of the blackbox exporter
    prober: str = ""  # address of an exporter that asks the target; with no module, targets have it as a label


@once_per_cluster
def monitored(cluster: Cluster) -> bool:
    return cluster.manifest.monitoring.enabled and bool(cluster.hosts("monitoring"))


def cluster_label(cluster: Cluster) -> str:
    return cluster.manifest.monitoring.labels.get("cluster", cluster.name)


def jobs(cluster: Cluster) -> dict[str, Job]:
    """All jobs by name, the manifest's own among them."""
    site_jobs = (Job(name, extra=extra, hosts=False) for name, extra in cluster.manifest.monitoring.targets.items())
    return {job.name: job for job in (*_own_jobs(cluster), *_probes(cluster), *_snmp(cluster), *site_jobs)}


def has_bmcs(cluster: Cluster) -> tuple[NodeGroup, ...]:
    """Entries of the manifest whose nodes have a BMC with an address."""
    return tuple(group for group in _static(cluster.groups) if group.bmc)


def _probes(cluster: Cluster) -> Iterator[Job]:
    blackbox = cluster.manifest.monitoring.blackbox
    if blackbox is None:
        return
    interval, prober = max(blackbox.interval, cluster.manifest.monitoring.scrape_interval), f"localhost:{blackbox.port}"
    if blackbox.ssh:
        port = cluster.of(Ssh).port
        yield Job("probe-ssh", _static(cluster.groups), port, "/probe", interval, module="ssh", prober=prober)
    if blackbox.bmc and has_bmcs(cluster):
        yield Job("probe-bmc", has_bmcs(cluster), _HTTPS, "/probe", interval, module="tcp", prober=prober)
    if blackbox.web:
        web = blackbox.web
        yield Job("probe-web", (), 0, "/probe", interval, web, False, module="http", prober=prober)


def _snmp(cluster: Cluster) -> Iterator[Job]:
    if snmp := cluster.manifest.monitoring.snmp:
        every = max(snmp.interval, cluster.manifest.monitoring.scrape_interval)
        yield Job("snmp", (), snmp.port, "/snmp", every, hosts=False, prober=f"localhost:{snmp.port}")


def _devices(cluster: Cluster) -> Iterator[TargetGroup]:
    """Each with the exporter's parameters as labels, which Prometheus does not store."""
    snmp = cluster.manifest.monitoring.snmp
    for name, device in snmp.devices.items() if snmp else ():
        labels = {
            "cluster": cluster_label(cluster),
            "instance": name,
            "rack": device.rack or "",
            "__param_module": device.module,
            "__param_auth": device.auth,
        }
        yield TargetGroup((device.address,), tuple((label, text) for label, text in labels.items() if text))


def _static(groups: Iterable[NodeGroup]) -> tuple[NodeGroup, ...]:
    """Without nodes of a cloud and of the future: while they are down, an alert for each would be false."""
    return tuple(group for group in groups if not group.is_dynamic)


def _own_jobs(cluster: Cluster) -> Iterator[Job]:
    monitoring = cluster.manifest.monitoring
    if monitoring.node_exporter.enabled:
        yield Job("node", _static(cluster.groups), monitoring.node_exporter.port)
    if monitoring.ipmi and has_bmcs(cluster):
        every = max(monitoring.ipmi.interval, monitoring.scrape_interval)
        yield Job("node-ipmi", has_bmcs(cluster), monitoring.ipmi.port, interval=every)
    managed = dcgm_types(cluster)
    if members := tuple(group for group in _static(cluster.compute) if group.type.name in managed):
        slower = -(-monitoring.dcgm.interval // 1000)  # read more often, the same samples would come twice
        interval = slower if slower > monitoring.scrape_interval else None
        yield Job("dcgm", members, monitoring.dcgm.port, interval=interval)
    if own_endpoint(cluster):
        interval = max(_SLURM_INTERVAL, monitoring.scrape_interval)
        port = cluster.slurm.daemons["slurmctld"].port
        for name, path in _SLURM_PATHS.items():
            yield Job(name, cluster.with_role("slurm-controller"), port, path, interval)
    servers = cluster.with_role("monitoring")
    yield Job("prometheus", servers, monitoring.port)
    if monitoring.alertmanager:
        yield Job("alertmanager", servers, monitoring.alertmanager_port)


def targets(cluster: Cluster, job: Job) -> tuple[TargetGroup, ...]:
    """A group for the hosts of each entry of the manifest, rack and leaf, and one for the manifest's own targets."""
    racks = {host: rack.name for rack in cluster.racks for host in rack.hosts}
    leaves = {host: leaf.name for leaf in cluster.leaves for host in leaf.nodes}
    parts = [part for group in job.members for part in _split(cluster, group, racks, leaves, job)]
    if job.name == "snmp":
        parts += _devices(cluster)
    if job.extra:
        parts.append(TargetGroup(job.extra, (("cluster", cluster_label(cluster)),)))
    return tuple(parts)


def _split(
    cluster: Cluster, group: NodeGroup, racks: dict[str, str], leaves: dict[str, str], job: Job
) -> Iterator[TargetGroup]:
    """The hosts of one entry of the manifest, by rack and leaf switch."""
    by_place: dict[tuple[str, str], list[str]] = {}
    for host in group.hosts:
        by_place.setdefault((racks.get(host, ""), leaves.get(host, "")), []).append(host)
    for (rack, leaf), hosts in by_place.items():
        labels = {
            "cluster": cluster_label(cluster),
            "node_type": group.type.name,
            "roles": ",".join(group.roles),
            "rack": rack,
            "leaf": leaf,
        }
        yield TargetGroup(
            tuple(f"{host}{'-bmc' if job.name == 'probe-bmc' else ''}:{job.port}" for host in hosts),
            tuple((name, text) for name, text in labels.items() if text),
        )
