"""The layout for nvidia-mig-parted, and the unit that applies it."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.mig.needs import UNIT, is_split
from clustergen.records import record
from clustergen.render.effects import drain
from clustergen.render.file import Context, File
from clustergen.render.formats import Safe


@record
class MigGpus:
    """GPUs of a node that are split alike."""

    devices: Safe  # `all`, or a list of numbers
    profiles: tuple[tuple[str, int], ...]  # profile, instances; empty: MIG is off


def mig_config(_: Cluster, node_type: NodeType) -> Context | None:
    """nvidia-mig-parted's file with one layout."""
    if not is_split(node_type) or node_type.gpus is None:
        return None
    alike: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for index, layout in enumerate(node_type.gpus.mig):
        alike.setdefault(tuple(layout.profiles.items()) if layout else (), []).append(index)
    every = len(alike) == 1
    return {
        "label": node_type.name,
        "gpus": tuple(MigGpus(Safe("all" if every else devices), profiles) for profiles, devices in alike.items()),
    }


def mig_manager(_: Cluster, node_type: NodeType) -> Context | None:
    """Drop-in of nvidia-mig-manager.service."""
    return (
        {"config": "/etc/nvidia-mig-manager/clustergen.yaml", "label": node_type.name} if is_split(node_type) else None
    )


FILES: tuple[File, ...] = (
    File("gpu_node/etc/nvidia-mig-manager/clustergen.yaml", mig_config, drain(UNIT), per="type"),
    File(f"gpu_node/etc/systemd/system/{UNIT}.d/zz-clustergen.conf", mig_manager, drain(UNIT), per="type"),
)
