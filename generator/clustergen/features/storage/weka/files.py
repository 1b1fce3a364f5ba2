"""WekaFS clients: the mount, and an agent that leaves the CPUs to Slurm."""

from __future__ import annotations

from clustergen.cluster.cores import linux_cpus
from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.storage.weka.resolved import Weka, interfaces_of, storage_interface
from clustergen.records import record
from clustergen.render.effects import drain
from clustergen.render.file import Context, File, sbin
from clustergen.render.mounts import MountUnit, Source, remote_mount


def mount_units(cluster: Cluster, entry: Weka, node_type: NodeType) -> dict[str, MountUnit]:
    interfaces = interfaces_of(entry, node_type, storage_interface(cluster, node_type))
    network = [f"net={interface}" for interface in interfaces] or ["net=udp"]
    if polling := node_type.polling.get(entry.name):
        cores = [f"core={cpu}" for cpu in linux_cpus(node_type, polling)]
    else:
        cores = [f"num_cores={entry.cores if interfaces else 0}"]
    return remote_mount(
        entry,
        Source(
            what=f"{','.join(entry.backends)}/{entry.filesystem}",
            kind="wekafs",
            options=[*cores, *network, *([entry.mode] if entry.mode else []), "relatime"],
            wants=["weka-agent.service"],
            timeout="20min",
            note="The first mount downloads the client from the cluster and builds its driver, which takes minutes.",
        ),
    )


def agent(cluster: Cluster, node_type: NodeType) -> Context | None:
    """Only where Slurm gives out the CPUs. `checks`: their numbers are checked first."""
    computes = any(group.has("slurm-compute") for group in cluster.of_type[node_type.name])
    return {"conf": "/etc/wekaio/service.conf", "checks": bool(node_type.polling)} if computes else None


@record
class Core:
    """A core of WEKA's: its CPUs as Linux numbers them, and its NUMA node."""

    numa: int
    cpus: str  # in order, with commas between


def cpu_check(_: Cluster, node_type: NodeType) -> Context | None:
    """The values of clustergen-weka-cpus, which compares the tree's CPU numbers with the machine's."""
    width = node_type.cores_per_socket // node_type.numa_per_socket
    cores = sorted({core for polling in node_type.polling.values() for core in polling})
    rows = (Core(core // width, ",".join(map(str, linux_cpus(node_type, [core])))) for core in cores)
    return {"node_type": node_type.name, "cores": tuple(rows)} if cores else None


FILES: tuple[File, ...] = (
    sbin("weka_client", "storage/clustergen-weka-cpus.sh", cpu_check, per="type"),
    File("weka_client/etc/clustergen/weka-cpus.sh", cpu_check, values=True, per="type"),
    File(
        "weka_client/etc/systemd/system/weka-agent.service.d/50-clustergen.conf",
        agent,
        drain("weka-agent.service"),
        per="type",
    ),
)
