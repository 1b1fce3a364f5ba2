"""Node descriptions: the host and the adapter that a text of at most 64 bytes stands for.

rdma-ndd and the vendors' drivers set `host mlx5_0` or `host HCA-1`; an adapter that nobody named shows its model.
Managed switches of NVIDIA show `MF0;NAME:MODEL/U1`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_SWITCH = re.compile(r"MF\d+;([^:;]+):[^:]*")
_HOST = re.compile(r"([A-Za-z0-9][A-Za-z0-9_.-]*)'?s?(?:[ \t]+([A-Za-z][A-Za-z0-9_.-]*))?")
_HCA = re.compile(r"HCA-([1-9]\d?)", re.IGNORECASE)
_INDEXED = re.compile(r"mlx[45]_(\d{1,4})")
_NOBODY = frozenset({"localhost", "localhost.localdomain", "none", "unknown", "linux"})


class Nic(NamedTuple):
    """An adapter of a host. `label` is empty where the description names the host alone."""

    host: str
    label: str


def nic_of(description: str) -> Nic | None:
    """The adapter that a node description names; None for one that nobody set."""
    match = _HOST.fullmatch(description.strip())
    if match is None or match[1].lower() in _NOBODY:
        return None
    return Nic(match[1], match[2] or "")


def is_aggregation(description: str) -> bool:
    """True if this is the reduction engine of a switch (SHARP), which looks like an adapter on one port more."""
    return "Aggregation Node" in description


def switch_name(description: str) -> str:
    """The name that somebody gave a switch; empty where the description is the vendor's."""
    text = description.strip()
    if match := _SWITCH.fullmatch(text):
        return match[1]
    return "" if not text or " " in text else text


def device_label(label: str) -> str:
    """One spelling for an adapter that drivers call HCA-1 and the kernel mlx5_0."""
    match = _HCA.fullmatch(label)
    return f"mlx5_{int(match[1]) - 1}" if match else label


def in_style_of(label: str, example: str) -> str:
    """The label as the driver of the example spells it: mlx5_0 beside HCA-2 is HCA-1."""
    match = _INDEXED.fullmatch(label)
    return f"HCA-{int(match[1]) + 1}" if match and _HCA.fullmatch(example) else label


def is_indexed(label: str) -> bool:
    """True if the label counts the adapters of its host."""
    return _INDEXED.fullmatch(device_label(label)) is not None
