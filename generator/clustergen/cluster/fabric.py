"""The switches of the fabric, and what Slurm is to know of them."""

from __future__ import annotations

import re
from collections.abc import Container

from clustergen.catalogue.systems import system
from clustergen.cluster.model import Cluster, Leaf, NodeType, Port, Switch
from clustergen.cluster.shelf import Report, Shelf, gbit
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.hostlist import expand
from clustergen.manifest.model import Manifest

_INFINIBAND_DEVICE = re.compile(r"ib[opsxP][0-9a-f]")  # and not ib0, as the kernel calls an interface


def resolve_switches(manifest: Manifest, report: Report) -> tuple[Switch, ...]:
    """One `Switch` per switch; where an entry names several leaves, its nodes are on each of them."""
    fabric = manifest.networks.fabric
    if fabric is None:
        return ()
    shelf = Shelf(manifest)
    found = []
    rate = gbit(fabric.rate) if fabric.rate else None
    for index, written in enumerate(fabric.switches):
        model = shelf.switch(written.model) if written.model else None
        if written.model and model is None:
            report(
                Finding(
                    "switch-model-unknown",
                    ("networks", "fabric", "switches", index, "model"),
                    f"the catalogue has no switch called '{written.model}'",
                    did_you_mean(written.model, shelf.switch_names())
                    or "describe yours under catalogue.switches, or leave model out",
                )
            )
        split = bool(model and model.split_ports and rate and rate == model.split_gbit != model.port_gbit)
        nodes = tuple(expand(written.nodes)) if written.nodes else ()
        found += [
            Switch(
                name=name,
                index=index,
                model=model.id if model else None,
                ports=model.ports if model else None,
                nics_per_port=model.split_ports // model.ports if model and model.split_ports and split else 1,
                port_gbit=model.port_gbit if model else None,
                power_w=(model.power_max_w or model.power_typ_w) if model else None,
                rack_units=(model.rack_units or 1) if model else 1,
                nodes=nodes,
                rail=written.rail,
                uplinks={top: uplink.links for uplink in written.uplinks for top in expand(uplink.to)},
            )
            for name in expand(written.name)
        ]
    return tuple(found)


def leaves_of(switches: tuple[Switch, ...], compute: Container[str]) -> tuple[Leaf, ...]:
    """Slurm takes a node in one leaf only, so the leaves of all rails that serve the same nodes become one.

    Only `compute` nodes count: a head node or a file server on one of the rails makes no other leaf of it.
    """
    merged: dict[frozenset[str], list[Switch]] = {}
    for switch in switches:
        if here := frozenset(host for host in switch.nodes if host in compute):
            merged.setdefault(here, []).append(switch)
    return tuple(
        Leaf(
            group[0].name,
            tuple(dict.fromkeys(host for host in group[0].nodes if host in nodes)),
            tuple(dict.fromkeys(top for switch in group for top in switch.uplinks)),
        )
        for nodes, group in merged.items()
    )


def are_guessed(cluster: Cluster, kind: NodeType) -> bool:
    """Whether the names of a node type's RDMA devices are the catalogue's assumption, which nobody has confirmed."""
    written = cluster.manifest.node_types.get(kind.name)
    if kind.system is None or (written is not None and written.nics is not None):
        return False
    found = None if kind.system in cluster.manifest.catalogue.systems else system(kind.system)
    return found is not None and any("rdma" in nic.unverified for nic in found.nics_of("compute"))


def has_rdma(port: Port, *, infiniband: bool) -> bool:
    """Whether a port is known by an RDMA device. rdma-core names those of InfiniBand as their interfaces: ibp24s0."""
    return port.device != port.interface or (infiniband and _INFINIBAND_DEVICE.match(port.device) is not None)
