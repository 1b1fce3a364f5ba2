"""WekaFS clients: the mount, and an agent that leaves the CPUs to Slurm."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.manifest.storage import Weka
from clustergen.records import record
from clustergen.render.effects import drain
from clustergen.render.registry import File
from clustergen.render.views.storage.mounts import MountUnit, Source, remote_mount


def weka_interfaces(entry: Weka, kind: NodeType) -> tuple[str, ...]:
    """The manifest's, else the node type's storage ports, else its first fabric port; none: Weka's UDP mode."""
    if entry.interfaces:
        return entry.interfaces
    storage = tuple(port.interface for port in kind.ports if port.network == "storage" and port.interface)
    fabric = tuple(port.interface for port in kind.fabric_ports() if port.interface)
    return storage or fabric[:1]


def weka_mount(_: Cluster, name: str, entry: Weka, kind: NodeType) -> dict[str, MountUnit]:
    interfaces = weka_interfaces(entry, kind)
    if interfaces:
        network = [f"num_cores={entry.cores or 2}", *(f"net={interface}" for interface in interfaces)]
    else:
        network = ["num_cores=0", "net=udp"]
    return remote_mount(
        name,
        entry,
        Source(
            what=f"{','.join(entry.backends)}/{entry.filesystem}",
            kind="wekafs",
            options=[*network, *([entry.mode] if entry.mode else []), "relatime"],
            wants=["weka-agent.service"],
            timeout="20min",
            note="The first mount fetches the client's software from the cluster and builds its driver: minutes.",
        ),
    )


@record
class Agent:
    """Drop-in of weka-agent.service."""

    conf: str


def agent(cluster: Cluster, kind: NodeType) -> Agent | None:
    """Only where Slurm gives out the CPUs."""
    computes = any(group.has("slurm-compute") for group in cluster.of_type[kind.name])
    return Agent("/etc/wekaio/service.conf") if computes else None


FILES: tuple[File, ...] = (
    File(
        "weka_client/etc/systemd/system/weka-agent.service.d/50-clustergen.conf",
        agent,
        drain("weka-agent.service"),
        per="type",
    ),
)
