"""Which accounts reach DCGM's host engine: rules of nftables by user, without which nvidia-dcgm does not start.

nv-hostengine could listen on a Unix socket, but dcgm-exporter up to 4.5.3-4.8.2 connects by TCP alone (dcgm.Init in
internal/pkg/dcgmprovider).
"""

from __future__ import annotations

from clustergen.catalogue.network import ports
from clustergen.cluster.dcgm import runs_exporter
from clustergen.cluster.model import Cluster, NodeType
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, reload
from clustergen.render.file import File
from clustergen.render.views.fixed import Fixed
from clustergen.render.views.slurm.health import dcgm as health_check

_UNIT = "clustergen-dcgm-guard.service"


@record
class Rules:
    """The port of nv-hostengine."""

    port: int


def has_host_engine(cluster: Cluster, node_type: NodeType) -> bool:
    """True if nvidia-dcgm runs on nodes of this type."""
    return runs_exporter(cluster, node_type) or health_check(cluster, node_type) is not None


def rules(cluster: Cluster, node_type: NodeType) -> Rules | None:
    return Rules(ports()["dcgm"].port) if has_host_engine(cluster, node_type) else None


def unit(cluster: Cluster, node_type: NodeType) -> Fixed | None:
    return Fixed() if has_host_engine(cluster, node_type) else None


FILES = (
    File("gpu_node/etc/clustergen/dcgm.nft", rules, reload(_UNIT), per="type"),
    File(f"gpu_node/etc/systemd/system/{_UNIT}", unit, DAEMON_RELOAD, per="type"),
    File("gpu_node/etc/systemd/system/nvidia-dcgm.service.d/50-clustergen.conf", unit, DAEMON_RELOAD, per="type"),
)
