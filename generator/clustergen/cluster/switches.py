"""The switches of the networks: those that the manifest lists, or those that its plan asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clustergen.catalogue import hardware as parts
from clustergen.cluster.catalogue_view import CatalogueView, Report, catalogue_hint, gbit
from clustergen.cluster.fat_tree import DoesNotFitError, Member, Ports, Shape, members, shape
from clustergen.cluster.management_ports import management_ports
from clustergen.cluster.model import NodeGroup, NodeType, Port, Rack, Switch
from clustergen.cluster.networks import NETWORKS
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.hostlist import count, expand
from clustergen.manifest.model import Manifest
from clustergen.manifest.networks import Fabric, FabricPlan, Network
from clustergen.manifest.networks import Switch as SwitchEntry
from clustergen.records import replace

_PREFIXES = {"fabric": "", "storage": "storage-", "management": "mgmt-", "bmc": "bmc-"}  # of the names of switches


MOST_CABLES = 1 << 18
"""Of one network: five times a SuperPOD of 2,048 nodes."""


def _too_many(path: ManifestPath, cables: int) -> Finding:
    message = f"the network would have {cables:,} cables; clustergen plans {MOST_CABLES:,} at most"
    return Finding(
        "plan-does-not-fit", path, message, "check the numbers of nodes, units, uplinks and spines", key=True
    )


def resolve_switches(
    manifest: Manifest, view: CatalogueView, groups: Sequence[NodeGroup], report: Report
) -> tuple[Switch, ...]:
    """The fabric's switches; where an entry names several leaves, its nodes are on each of them."""
    fabric = manifest.networks.fabric
    if fabric is None:
        return ()
    if fabric.plan is not None:
        return _planned(view, "fabric", fabric, groups, report)
    cables = sum(
        count(spec.name)
        * (sum(uplink.links * count(uplink.to) for uplink in spec.uplinks) + (count(spec.nodes) if spec.nodes else 0))
        for spec in fabric.switches
    )
    if cables > MOST_CABLES:
        report(_too_many(("networks", "fabric", "switches"), cables))
        return ()
    switches = []
    rate = gbit(fabric.rate) if fabric.rate else None
    for index, spec in enumerate(fabric.switches):
        path: ManifestPath = ("networks", "fabric", "switches", index, "model")
        model = _model(view, spec.model, path, report) if spec.model else None
        nodes = tuple(expand(spec.nodes)) if spec.nodes else ()
        names = expand(spec.name)
        rails = spec.rails
        if len(rails) != len(names):
            report(_unequal_rails(index, spec, len(names)))
            rails = (None,) * len(names)
        switches += [
            _switch(
                name,
                index,
                spec,
                spec.rack,
                model,
                rate,
                nodes,
                () if rail is None else (rail,),
                {top: uplink.links for uplink in spec.uplinks for top in expand(uplink.to)},
            )
            for name, rail in zip(names, rails, strict=True)
        ]
    return tuple(switches)


def _unequal_rails(index: int, spec: SwitchEntry, names: int) -> Finding:
    path: ManifestPath = ("networks", "fabric", "switches", index, "rail")
    first = min(map(int, str(spec.rail).split("-")))
    rails = f"{len(spec.rails)} {'rail' if len(spec.rails) == 1 else 'rails'}"
    switches = "1 switch" if names == 1 else f"{names} switches"
    hint = (
        f"write rail: {first}" if names == 1 else f"write rail: {first}-{first + names - 1}, or an entry for each pod"
    )
    return Finding("rail-count", path, f"{spec.rail} has {rails}, but '{spec.name}' is {switches}", hint)


def ports_in(node_type: NodeType, network: str, most: int | None = None) -> dict[int, Port]:
    """Rail → port of a node in that network, of the first `most` rails. Outside the fabric, ports count in their order.

    Every node has a port for management and one of its BMC, RJ45 where the catalogue knows nothing else.
    """
    ports = node_type.bmc_ports if network == "bmc" else [port for port in node_type.ports if port.network == network]
    if not ports and network in ("management", "bmc"):
        return {
            0: Port(
                device=network,
                interface=None,
                network=network,
                rail=None,
                numa=None,
                pci=None,
                max_gbit=None,
                connector="rj45",
            )
        }
    by_rail = {index if port.rail is None else port.rail: port for index, port in enumerate(ports)}
    return by_rail if most is None else {rail: port for rail, port in by_rail.items() if rail < most}


def resolve_other_switches(
    manifest: Manifest,
    view: CatalogueView,
    groups: Sequence[NodeGroup],
    racks: Sequence[Rack],
    fabric: Sequence[Switch],
    report: Report,
) -> dict[str, tuple[Switch, ...]]:
    """The switches of each other network that has a plan; that of BMCs is the last, and serves those of the others."""
    planned: dict[str, tuple[Switch, ...]] = {}
    for name in NETWORKS[1:]:
        network = getattr(manifest.networks, name)
        if network is not None and network.plan is not None:
            others = 0
            if name == "bmc":
                managed = [*fabric, *(switch for switches in planned.values() for switch in switches)]
                plans = [each.plan for _, each in manifest.networks if each is not None and each.plan]
                guests = [guest for plan in plans if plan.reserved_for for guest in expand(plan.reserved_for)]
                others = sum(management_ports(view, groups, racks, managed, guests).values())
            planned[name] = _planned(view, name, network, groups, report, others)
    return planned


def _planned(
    view: CatalogueView, name: str, network: Network, groups: Sequence[NodeGroup], report: Report, others: int = 0
) -> tuple[Switch, ...]:
    """The switches that the plan of a network asks for, none where they cannot carry its nodes and `others`."""
    plan = network.plan
    assert plan is not None
    path: ManifestPath = ("networks", name, "plan")
    of_tier = _models(view, plan, path, report)
    rails_of = {host: ports_in(group.type, name, plan.ports) for group in groups for host in group.hosts}
    hosts = [host for host in (expand(plan.nodes) if plan.nodes else rails_of) if rails_of.get(host)]
    rails = max((max(rails_of[host]) + 1 for host in hosts), default=0)
    rate = gbit(network.rate) if network.rate else None
    joined = plan.spines is not None or not isinstance(network, Fabric) or not network.has_separate_rails
    if not of_tier or not rails:
        return ()
    if rails % plan.planes:
        report(_unequal_planes(path, rails, plan.planes))
        return ()
    leaves = plan.leaves or (rails if name != "fabric" else 2 if plan.spines else 1)
    tree = _tree(plan, of_tier, len(hosts), others, rails // plan.planes, rate, joined, leaves, path, report)
    if tree is None:
        return ()
    units = _units(hosts, tree, plan.reserved_ports)
    first_other = max(len(hosts) + plan.reserved_ports, plan.capacity or 0)
    free = [_shared(unit, tree, range(first_other, first_other + others)) for unit in range(tree.units)]
    planned = [member for plane in range(plan.planes) for member in _members(tree, plane, plan.planes, _PREFIXES[name])]
    rack_of = _racks(planned, plan)
    switches = []
    for member in planned:
        nodes: tuple[str, ...] = ()
        if member.tier == "leaf":
            if member.unit >= len(units) and not free[member.unit]:
                continue  # of a unit that is to come
            mine = set(member.rails or range(rails))
            unit = units[member.unit] if member.unit < len(units) else ()
            nodes = tuple(host for host in unit if not mine.isdisjoint(rails_of[host]))
        rack, model = rack_of.get(member.name), of_tier[member.tier]
        made = _switch(member.name, None, None, rack, model, rate, nodes, member.rails, dict(member.uplinks))
        switches.append(replace(made, free_ports=free[member.unit] if member.tier == "leaf" else 0))
    return tuple(switches)


def _members(tree: Shape, plane: int, planes: int, prefix: str) -> Iterator[Member]:
    """The switches of one plane, whose rails are every so manieth port of a node."""
    if planes == 1:
        yield from members(tree, prefix)
        return
    for member in members(tree, f"{prefix}p{plane}-"):
        rails = member.rails or (range(tree.rails) if member.tier == "leaf" else ())
        yield replace(member, rails=tuple(rail * planes + plane for rail in rails))


def _unequal_planes(path: ManifestPath, rails: int, planes: int) -> Finding:
    ports = "1 port of a node does" if rails == 1 else f"{rails} ports of a node do"
    hint = f"list {planes * -(-rails // planes)} ports of the node type under nics, or remove planes"
    return Finding("plan-does-not-fit", (*path, "planes"), f"{ports} not make {planes} planes", hint)


def _models(view: CatalogueView, plan: FabricPlan, path: ManifestPath, report: Report) -> dict[str, parts.Switch]:
    """The model of each tier; none at all where one is not known."""
    leaf = _model(view, plan.leaf, (*path, "leaf"), report)
    spine = _model(view, plan.spine, (*path, "spine"), report) if plan.spine else leaf
    core = _model(view, plan.core, (*path, "core"), report) if plan.core else spine
    return {"leaf": leaf, "spine": spine, "core": core} if leaf and spine and core else {}


def _tree(
    plan: FabricPlan,
    of_tier: Mapping[str, parts.Switch],
    nodes: int,
    others: int,
    rails: int,
    rate: int | None,
    joined: bool,
    least_leaves: int,
    path: ManifestPath,
    report: Report,
) -> Shape | None:
    """The fat tree of a plan; None where these switches cannot carry the nodes, or with too many cables."""
    try:
        tree = shape(
            max(nodes, (plan.capacity or 0) - plan.reserved_ports) + others,
            rails,
            _leaf_ports(of_tier["leaf"], plan, rate),
            of_tier["spine"].ports,
            of_tier["core"].ports,
            plan.unit or 0,
            plan.spines or 1,
            joined,
            reserved=plan.reserved_ports,
            least_leaves=least_leaves,
        )
    except DoesNotFitError as err:
        nodes_words = f"{nodes} {'node' if nodes == 1 else 'nodes'}"
        kinds = "nodes and other devices" if others else "nodes"
        hint = f"{err.part} of these switches has {err.most} {kinds} at most; use larger ones, or more oversubscription"
        nodes_words += f" and {others} other management ports" if others else ""
        report(Finding("plan-does-not-fit", path, f"{nodes_words} do not fit: {err}", hint, key=True))
        return None
    cables = plan.planes * (tree.units * tree.unit_nodes * tree.rails + tree.switch_cables)
    if cables > MOST_CABLES:
        report(_too_many(path, cables))
        return None
    return tree


def _units(hosts: Sequence[str], tree: Shape, reserved: int) -> list[Sequence[str]]:
    """Nodes by scalable unit; the first one leaves the reserved ports free."""
    first = tree.unit_nodes - reserved
    starts = [0, *range(first, len(hosts), tree.unit_nodes)] if tree.units > 1 else [0]
    return [hosts[start:end] for start, end in zip(starts, [*starts[1:], len(hosts)], strict=True)]


def _shared(unit: int, tree: Shape, slots: range) -> int:
    """How many of these ports, counted through all units, a unit has."""
    if tree.units == 1:
        return len(slots)
    start, end = unit * tree.unit_nodes, (unit + 1) * tree.unit_nodes
    return max(0, min(end, slots.stop) - max(start, slots.start))


def _racks(planned: Sequence[Member], plan: FabricPlan) -> dict[str, str]:
    """Switch → rack, spread evenly: what serves all units first, so that a new unit moves none."""
    if not plan.racks:
        return {}
    names = expand(plan.racks)
    each = -(-len(planned) // len(names))
    ordered = sorted(planned, key=lambda member: member.tier == "leaf")
    return {member.name: names[number // each] for number, member in enumerate(ordered)}


def _model(view: CatalogueView, name: str, path: ManifestPath, report: Report) -> parts.Switch | None:
    model = view.switch(name)
    if model is None:
        guess = did_you_mean(name, view.switch_names())
        hint = catalogue_hint("switches", guess, "define it under catalogue.switches, or remove model")
        report(Finding("switch-model-unknown", path, f"switch model '{name}' is not in the catalogue", hint))
    return model


def _leaf_ports(model: parts.Switch, plan: FabricPlan, rate: int | None) -> Ports:
    """Where a switch has uplink ports of its own, all others are for nodes."""
    each = _nics_per_port(model, rate)
    if model.uplink_ports:
        return Ports(model.ports, model.uplink_ports, model.ports * each, each)
    return Ports.by_ratio(model.ports, plan.oversubscription, each)


def _nics_per_port(model: parts.Switch, rate: int | None) -> int:
    """2 where the network's rate splits a port between two nodes, and 4 between four."""
    return (model.ports_at(rate) or model.ports) // model.ports if rate else 1


def _switch(
    name: str,
    index: int | None,
    spec: SwitchEntry | None,
    rack: str | None,
    model: parts.Switch | None,
    rate: int | None,
    nodes: tuple[str, ...],
    rails: tuple[int, ...],
    uplinks: dict[str, int],
) -> Switch:
    return Switch(
        name=name,
        index=index,
        entry=spec.name if spec else "",
        entry_nodes=spec.nodes or "" if spec else "",
        rack=rack,
        model=model.id if model else None,
        ports=model.ports + (model.uplink_ports or 0) if model else None,
        nics_per_port=_nics_per_port(model, rate) if model else 1,
        port_gbit=model.port_gbit if model else None,
        power_w=(model.power_max_w or model.power_typ_w) if model else None,
        rack_units=(model.rack_units or 1) if model else 1,
        nodes=nodes,
        rails=rails,
        uplinks=uplinks,
    )
