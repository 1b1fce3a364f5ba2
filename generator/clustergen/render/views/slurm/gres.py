"""gres.conf: the devices of GPUs and other GRES, by node type."""

from __future__ import annotations

from clustergen.cluster.assumptions import of_gpu_places
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.keys.devices import gres_types
from clustergen.cluster.slurm.keys.gres import autodetect, device_lines, own_gres_lines
from clustergen.records import record
from clustergen.render.formats import Safe, comment_text
from clustergen.render.views.slurm.layout import TypeLines, assumption_text, lines_of

_SOURCES = {
    "off": "by device file",
    "nvml": "detected by NVML",
    "nvidia": "found in the driver's files below /proc",
}


@record
class GresConf:
    types: tuple[TypeLines, ...]
    lines: tuple[Safe, ...]
    """The manifest's own, in place of all others."""


def gres_conf(cluster: Cluster) -> GresConf | None:
    if cluster.slurm.gres_lines is not None:
        lines = lines_of(own_gres_lines(cluster))
        return GresConf((), lines) if lines else None
    types = tuple(
        TypeLines(
            comment_text(_title(node_type)),
            lines_of(device_lines(cluster, node_type)),
            assumption_text(of_gpu_places(cluster, node_type)),
        )
        for node_type in gres_types(cluster)
    )
    return GresConf(types, ()) if types else None


def _title(node_type: NodeType) -> str:
    gpus, others = node_type.gpus, [one.name for one in node_type.gres]
    kinds = [f"{gpus.count} x {gpus.model.nvml_name}, {_SOURCES[autodetect(gpus)]}"] if gpus else []
    return f"{node_type.name}: {'; '.join([*kinds, *others])}"
