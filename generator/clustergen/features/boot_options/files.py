"""Options of the kernel's command line, for GRUB's own configuration or for grubby."""

from __future__ import annotations

from clustergen.cluster.contributions import BootKernel, BootOption
from clustergen.cluster.model import Cluster, NodeType
from clustergen.render.effects import REBOOT
from clustergen.render.file import Context, File
from clustergen.render.formats import SHELL

_DEBIAN = "debian"


def _options(cluster: Cluster, node_type: NodeType) -> Context | None:
    options = tuple(cluster.needs_by_type(BootOption).get(node_type.name, ()))
    kernel = next(iter(cluster.needs_by_type(BootKernel).get(node_type.name, ())), None)
    return {"options": options, "kernel": kernel} if options or kernel else None


def grub(cluster: Cluster, node_type: NodeType) -> Context | None:
    return _options(cluster, node_type) if node_type.os.fact("family") == _DEBIAN else None


def grubby(cluster: Cluster, node_type: NodeType) -> Context | None:
    return _options(cluster, node_type) if node_type.os.fact("family") != _DEBIAN else None


FILES: tuple[File, ...] = (
    File("all/etc/default/grub.d/90-clustergen.cfg", grub, REBOOT, per="type", format=SHELL),
    File("all/etc/clustergen/kernel-options", grubby, REBOOT, per="type"),
)
