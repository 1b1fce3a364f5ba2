"""The switches of the fabric, and what Slurm is to know of them."""

from __future__ import annotations

from clustergen.cluster.hardware import Report, Shelf, gbit
from clustergen.cluster.model import Leaf, Switch
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.hostlist import expand
from clustergen.manifest.model import Manifest


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
                    did_you_mean(written.model, shelf.switch_names()),
                )
            )
        ports = (model.ports_at(rate) or model.ports) if model and rate else (model.ports if model else None)
        nodes = tuple(expand(written.nodes)) if written.nodes else ()
        for name in expand(written.name):
            found.append(
                Switch(
                    name=name,
                    index=index,
                    model=model.id if model else None,
                    ports=ports,
                    port_gbit=model.port_gbit if model else None,
                    power_w=(model.power_max_w or model.power_typ_w) if model else None,
                    rack_units=(model.rack_units or 1) if model else 1,
                    nodes=nodes,
                    rail=written.rail,
                    uplinks={top: uplink.links for uplink in written.uplinks for top in expand(uplink.to)},
                )
            )
    return tuple(found)


def leaves_of(switches: tuple[Switch, ...]) -> tuple[Leaf, ...]:
    """Slurm takes a node in one leaf only, so the leaves of all rails that serve the same nodes become one."""
    merged: dict[tuple[str, ...], list[Switch]] = {}
    for switch in switches:
        if switch.nodes:
            merged.setdefault(switch.nodes, []).append(switch)
    return tuple(
        Leaf(group[0].name, nodes, tuple(dict.fromkeys(top for switch in group for top in switch.uplinks)))
        for nodes, group in merged.items()
    )
