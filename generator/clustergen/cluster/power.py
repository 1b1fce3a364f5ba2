"""The power that a node draws."""

from __future__ import annotations

from clustergen.cluster.model import NodeType


def kilowatts(watts: float) -> str:
    """With one digit behind the point: `10.2 kW`."""
    return f"{watts / 1000:.1f} kW"


def power_text(watts: int) -> str:
    """In the short form of labels: `700 W`, `10 kW`, `10.2 kW`."""
    return kilowatts(watts).replace(".0 ", " ") if watts >= 1000 else f"{watts} W"


def draw_w(node_type: NodeType) -> int | None:
    """The maximum wall power of a node, less the share that power limits keep from its GPUs.

    Where the maximum is not known, what its GPUs may draw, which is less than the truth; None without GPUs either.
    """
    gpus = node_type.gpus
    if node_type.power_max_w is None:
        return gpus.count * (gpus.power_limit_w or gpus.model.tdp_w or 0) or None if gpus else None
    saved = 0
    if gpus and gpus.power_limit_w and gpus.model.tdp_w:
        saved = gpus.count * max(0, gpus.model.tdp_w - gpus.power_limit_w)
    return node_type.power_max_w - saved
