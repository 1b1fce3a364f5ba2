"""Lossless Ethernet on the hosts: trust, PFC, ECN and the mark on RDMA packets."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.fabric import is_rdma_name
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.monitoring import textfile
from clustergen.cluster.networks import Roce
from clustergen.cluster.rails import interface, rdma_device
from clustergen.features.roce.needs import TEXTFILE, is_exported
from clustergen.records import copied, record
from clustergen.render.effects import DAEMON_RELOAD, run
from clustergen.render.file import Context, File, sbin
from clustergen.render.timers import timed


def metrics_values(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """Of the program that exports counters of ports."""
    return {"metrics_file": textfile(cluster, os, TEXTFILE)} if is_exported(cluster) else None


@record
class RoceQos:
    trust: str
    dscp: int
    priority: int
    cnp_dscp: int
    cnp_priority: int
    traffic_class: int
    pfc: str  # 1 or 0 by priority
    ecn: int  # 1 or 0


@record
class RocePort:
    """One port, as the script on the node reads it; a dash stands for an interface that is not known."""

    label: str  # rail-0, storage-0
    device: str
    interface: str


def roce_ports(cluster: Cluster, node_type: NodeType) -> Context | None:
    """The RDMA ports of nodes of a RoCE fabric: the fabric's, and those of the storage network."""
    fabric = cluster.networks.fabric
    if fabric is None or fabric.type != "roce":
        return None
    storage = [port for port in node_type.ports if port.network == "storage" and is_rdma_name(port.device)]
    ports = [(f"rail-{port.rail}", port) for port in node_type.fabric_ports() if port.rail is not None]
    ports += [(f"storage-{number}", port) for number, port in enumerate(storage)]
    rows = (RocePort(label, rdma_device(port, fabric) or "-", interface(port, fabric) or "-") for label, port in ports)
    return {"rows": tuple(rows)} if ports else None


def roce_qos(_: Cluster, roce: Roce) -> RoceQos:
    return copied(
        RoceQos,
        roce,
        pfc=",".join("1" if roce.pfc and priority == roce.priority else "0" for priority in range(8)),
        ecn=int(roce.ecn),
    )


_ROCE = run("clustergen-roce-qos.service")
FILES: tuple[File, ...] = (
    File("fabric_node/etc/clustergen/roce-ports", roce_ports, _ROCE, per="type"),
    File("fabric_node/etc/clustergen/roce-qos.sh", roce_qos, _ROCE, values=True),
    sbin("fabric_node", "fabric/clustergen-roce-qos.sh", roce_qos, _ROCE),
    File("fabric_node/etc/systemd/system/clustergen-roce-qos.service", roce_qos, DAEMON_RELOAD),
    *timed("fabric_node", "metrics/clustergen-roce-metrics.sh", metrics_values),
)
