"""Input of Prometheus: a job per kind of exporter, and the targets of each.

Targets are host names, as /etc/hosts of every node has them, so that a new address changes no file here. One name per
line: a new node changes one line per job. `instance` is the host's name without a port in all of our jobs, so that
alerts of one node from different exporters can be told to belong together.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.dcgm import Dcgm, dcgm_types
from clustergen.cluster.features.ansible import Ssh
from clustergen.cluster.features.monitoring import Alertmanager, Blackbox, Ipmi, Snmp
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.monitoring import NodeExporter, Prometheus, Scraping, bmc_groups, static
from clustergen.records import record
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


def jobs(cluster: Cluster) -> dict[str, Job]:
    """All jobs by name, the manifest's own among them."""
    site_jobs = (Job(name, extra=extra, hosts=False) for name, extra in cluster.of(Prometheus).targets.items())
    return {job.name: job for job in (*_own_jobs(cluster), *_probes(cluster), *_snmp(cluster), *site_jobs)}


def _probes(cluster: Cluster) -> Iterator[Job]:
    if not cluster.has(Blackbox):
        return
    blackbox = cluster.of(Blackbox)
    interval, prober = blackbox.interval_s, f"localhost:{blackbox.port}"
    if blackbox.ssh:
        port = cluster.of(Ssh).port
        yield Job("probe-ssh", static(cluster.groups), port, "/probe", interval, module="ssh", prober=prober)
    if blackbox.bmc:
        yield Job("probe-bmc", bmc_groups(cluster), _HTTPS, "/probe", interval, module="tcp", prober=prober)
    if blackbox.web:
        web = blackbox.web
        yield Job("probe-web", (), 0, "/probe", interval, web, False, module="http", prober=prober)


def _snmp(cluster: Cluster) -> Iterator[Job]:
    if cluster.has(Snmp):
        snmp = cluster.of(Snmp)
        yield Job("snmp", (), snmp.port, "/snmp", snmp.interval_s, hosts=False, prober=f"localhost:{snmp.port}")


def _devices(cluster: Cluster) -> Iterator[TargetGroup]:
    """Each with the exporter's parameters as labels, which Prometheus does not store."""
    for name, device in cluster.of(Snmp).devices.items():
        labels = {
            "cluster": cluster.of(Prometheus).labels["cluster"],
            "instance": name,
            "rack": device.rack or "",
            "__param_module": device.module,
            "__param_auth": device.auth,
        }
        yield TargetGroup((device.address,), tuple((label, text) for label, text in labels.items() if text))


def _own_jobs(cluster: Cluster) -> Iterator[Job]:
    scraping = cluster.of(Scraping)
    if cluster.has(NodeExporter):
        yield Job("node", static(cluster.groups), cluster.of(NodeExporter).port)
    if cluster.has(Ipmi):
        yield Job("node-ipmi", bmc_groups(cluster), cluster.of(Ipmi).port, interval=cluster.of(Ipmi).interval_s)
    managed = dcgm_types(cluster)
    if members := tuple(group for group in static(cluster.compute) if group.type.name in managed):
        # Read more often, the same samples would come twice.
        interval = scraping.slowest_s if scraping.slowest_s > scraping.interval_s else None
        yield Job("dcgm", members, cluster.of(Dcgm).port, interval=interval)
    if own_endpoint(cluster):
        interval = max(_SLURM_INTERVAL, scraping.interval_s)
        port = cluster.slurm.daemons["slurmctld"].port
        for name, path in _SLURM_PATHS.items():
            yield Job(name, cluster.with_role("slurm-controller"), port, path, interval)
    servers = cluster.with_role("monitoring")
    yield Job("prometheus", servers, cluster.of(Prometheus).port)
    if cluster.has(Alertmanager):
        yield Job("alertmanager", servers, cluster.of(Alertmanager).port)


def targets(cluster: Cluster, job: Job) -> tuple[TargetGroup, ...]:
    """A group for the hosts of each entry of the manifest, rack and leaf, and one for the manifest's own targets."""
    racks = {host: rack.name for rack in cluster.racks for host in rack.hosts}
    leaves = {host: leaf.name for leaf in cluster.slurm.leaves for host in leaf.nodes}
    parts = [part for group in job.members for part in _split(cluster, group, racks, leaves, job)]
    if job.name == "snmp":
        parts += _devices(cluster)
    if job.extra:
        parts.append(TargetGroup(job.extra, (("cluster", cluster.of(Prometheus).labels["cluster"]),)))
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
            "cluster": cluster.of(Prometheus).labels["cluster"],
            "node_type": group.type.name,
            "roles": ",".join(group.roles),
            "rack": rack,
            "leaf": leaf,
        }
        yield TargetGroup(
            tuple(f"{host}{'-bmc' if job.name == 'probe-bmc' else ''}:{job.port}" for host in hosts),
            tuple((name, text) for name, text in labels.items() if text),
        )
