"""Faults of a cabling, each planted into a right net, with the code that reports it and what the message names."""

from __future__ import annotations

from collections.abc import Callable

from strategies.fabric_nets import Net

Fault = tuple[Callable[[Net], object], str, str]
UNNAMED = "MT4129 ConnectX7   Mellanox Technologies"


def _uplink(net: Net, leaf: str = "leaf01-r0", number: int = 0) -> tuple[str, int]:
    """A port of a leaf that leads to another switch."""
    return sorted(end for end, other in net.links.items() if end[0] == leaf and other[0] in net.switches)[number]


def _rail_swap(net: Net) -> None:
    net.exchange(("gpu0004 mlx5_0", 1), (net.adapters_of("gpu0004")[3], 1))


def _crossed_nodes(net: Net) -> None:
    """Two nodes of different units on one rail."""
    net.exchange(("gpu0002 mlx5_0", 1), ("gpu0035 mlx5_0", 1))


def _crossed_uplinks(net: Net) -> None:
    """A cable between two leaves, and one between two spines."""
    a, b = _uplink(net), _uplink(net, "leaf01-r1", 9)
    one, two = net.cut(a), net.cut(b)
    net.join(a, b)
    net.join(one, two)


def _misplaced(net: Net) -> None:
    """A node port in a free port of the right rail's leaf in the other unit."""
    net.cut(("gpu0002 mlx5_0", 1))
    net.join(("gpu0002 mlx5_0", 1), ("leaf02-r0", 30))


def _other_port(net: Net) -> None:
    net.cut(("gpu0033 mlx5_0", 1))
    net.join(("gpu0033 mlx5_0", 1), ("leaf02-r0", 30))


def _stranger(net: Net) -> None:
    net.join(("ufm01 mlx5_0", 1), ("leaf02-r0", 30))


def _head(net: Net) -> None:
    net.join(("head mlx5_0", 1), ("leaf02-r0", 30))


def _another_switch(net: Net) -> None:
    net.switches["gateway"] = 40
    net.join(("gateway", 1), ("leaf02-r0", 30))


def _unplugged_node(net: Net) -> None:
    for adapter in net.adapters_of("gpu0007"):
        net.cut((adapter, 1))


FAULTS: dict[str, Fault] = {
    "rail-swapped": (_rail_swap, "rail-swapped", "gpu0004"),
    "cable-crossed": (_crossed_uplinks, "cable-crossed", "leaf01-r0"),
    "crossed nodes": (_crossed_nodes, "cable-crossed", "gpu0035"),
    "cable-misplaced": (_misplaced, "cable-misplaced", "leaf02-r0 port 30"),
    "cable-missing": (lambda net: net.cut(_uplink(net)), "cable-missing", "leaf01-r0 port 33"),
    "node cable missing": (lambda net: net.cut(("gpu0003 mlx5_0", 1)), "cable-missing", "gpu0003 mlx5_0"),
    "switch-missing": (lambda net: net.remove("spine03"), "switch-missing", "spine03"),
    "leaf missing": (lambda net: net.remove("leaf01-r5"), "switch-missing", "leaf01-r5"),
    "fabric-node-missing": (_unplugged_node, "fabric-node-missing", "gpu0007"),
    "cable-port": (_other_port, "cable-port", "port 30 of leaf02-r0 instead of port 1"),
    "fabric-node-unplanned": (_stranger, "fabric-node-unplanned", "ufm01"),
    "cable-unplanned": (_head, "cable-unplanned", "head"),
    "switch-unplanned": (_another_switch, "switch-unplanned", "gateway"),
    "adapter-unnamed": (
        lambda net: net.rename({"gpu0006 mlx5_0": UNNAMED}), "adapter-unnamed", "gpu0006 mlx5_0 is planned"
    ),
}  # fmt: skip
"""On a pod of two units of DGX H100; each gives that code and no other."""
