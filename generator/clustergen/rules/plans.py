"""Plans of networks, and where their switches and nodes stand."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set

from clustergen.cluster.model import Cluster, Rack, Switch
from clustergen.cluster.networks import NETWORKS, Plan
from clustergen.cluster.nodes import is_pending
from clustergen.cluster.switches import ports_in
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.diagnostics.model_path import value_at
from clustergen.diagnostics.words import counted
from clustergen.facility.cabling import cables
from clustergen.facility.model import Device
from clustergen.facility.placement import devices, fixtures, stated_places, switches_of
from clustergen.hostlist import compress, expand, span_of
from clustergen.manifest.networks import Fabric, Networks

_MOST_EXAMPLES = 4


def _plans(cluster: Cluster) -> Iterator[tuple[str, Plan]]:
    for name in NETWORKS:
        network = cluster.networks.get(name)
        if network is not None and network.plan is not None:
            yield name, network.plan


def _span(section: Networks, network: str, key: str, name: str) -> tuple[int, int] | None:
    """Where a list of a plan has a name."""
    return span_of(str(value_at(section, f"{network}.plan.{key}")), name)


def plan_and_switches(_: Cluster, section: Fabric) -> Iterator[Finding]:
    if section.plan and section.switches:
        yield Finding(
            "plan-and-switches",
            ("networks", "fabric", "switches"),
            "the switches follow from networks.fabric.plan, and are listed as well",
            "remove switches, or remove plan to describe the fabric yourself",
            key=True,
        )


def plan_does_not_fit(_: Cluster, section: Fabric) -> Iterator[Finding]:
    if section.plan and section.plan.planes > 1 and section.type == "infiniband":
        yield Finding(
            "plan-does-not-fit",
            ("networks", "fabric", "plan", "planes"),
            "planes are networks of their own, and an InfiniBand fabric is one subnet",
            "remove planes, or set networks.fabric.type: roce",
        )


def plan_node(cluster: Cluster, section: Networks) -> Iterator[Finding]:
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    pending = {host for group in cluster.groups if is_pending(group) for host in group.hosts}
    for name, plan in _plans(cluster):
        path: ManifestPath = ("networks", name, "plan", "nodes")
        for host in plan.nodes:
            if host not in kinds:
                message, hint = f"'{host}' is not a node of this cluster", did_you_mean(host, kinds)
            elif host not in pending and not ports_in(kinds[host], name):
                kind = kinds[host].name
                message = f"'{host}' has no port in the {name} network"
                hint = f"give node type '{kind}' nics with network: {name}, or remove the node from the plan"
            else:
                continue
            yield Finding("plan-node", path, message, hint, at=_span(section, name, "nodes", host))
            break
        if not plan.nodes and not pending and not any(ports_in(kind, name) for kind in kinds.values()):
            message = f"no node has a port in the {name} network, so the plan is empty"
            hint = f"give a node type nics with network: {name}"
            yield Finding("plan-node", ("networks", name, "plan"), message, hint, key=True)


def plan_racks(cluster: Cluster, section: Networks) -> Iterator[Finding]:
    names = {rack.name: rack for rack in cluster.racks}
    for network, plan in _plans(cluster):
        unknown = next((name for name in plan.racks if name not in names), None)
        if unknown is not None:
            yield Finding(
                "rack-unknown",
                ("networks", network, "plan", "racks"),
                f"rack '{unknown}' is not defined",
                did_you_mean(unknown, names) or (f"use {one_of(names)}" if names else "define it under racks"),
                at=_span(section, network, "racks", unknown),
            )


def plan_without_racks(cluster: Cluster) -> Iterator[Finding]:
    """Once, for the first plan: racks are those of all networks."""
    name = next((name for name, _ in _plans(cluster)), None)
    if name is not None and not cluster.racks:
        hosts = compress([host for group in cluster.compute for host in group.hosts][:_MOST_EXAMPLES])
        yield Finding(
            "plan-without-racks",
            ("networks", name, "plan"),
            "no racks are defined, so the plan has no cable lengths, rack units or power by rack",
            f'add racks, such as racks: {{rack1: {{nodes: "{hosts}"}}}}, one for each rack of the room',
            key=True,
        )


def switches_without_racks(cluster: Cluster) -> Iterator[Finding]:
    """Racks for the nodes alone give the cables of a plan no length."""
    for name, plan in _plans(cluster):
        count = len(switches_of(cluster).get(name, ()))
        if plan.racks or not cluster.racks or not count:
            continue
        lost = sum(cable.derived_m is None for cable in cables(cluster) if cable.network == name)
        yield Finding(
            "plan-without-racks",
            ("networks", name, "plan"),
            f"the plan names no racks for its {counted(count, 'switch')}, so {lost}"
            f" {'cables have' if lost > 1 else 'cable has'} no length",
            f"add the racks of the switches to the plan, such as racks: {cluster.racks[-1].name}",
            key=True,
        )


def capacities(cluster: Cluster) -> Iterator[Finding]:
    for name, plan in _plans(cluster):
        leaves = [switch for switch in switches_of(cluster).get(name, ()) if switch.nodes]
        nodes = len({host for switch in leaves for host in switch.nodes}) + plan.reserved_ports
        if plan.capacity and leaves and plan.capacity < nodes:
            reserved = " and reserved ports" if plan.reserved_ports else ""
            yield Finding(
                "value-out-of-range",
                ("networks", name, "plan", "capacity"),
                f"the plan has {nodes} nodes{reserved} already, more than its capacity of {plan.capacity}",
                f"write {nodes} or more, or remove capacity",
            )


def rack_duplicate(cluster: Cluster) -> Iterator[Finding]:
    """A name twice, and two racks in one place of a row."""
    names: set[str] = set()
    taken: dict[tuple[str, int], str] = {}
    for rack in cluster.racks:
        if rack.name in names:
            message = f"rack '{rack.name}' is defined twice"
            yield Finding("rack-duplicate", ("racks", rack.entry), message, key=True)
            return
        names.add(rack.name)
        other = taken.setdefault((rack.row, rack.position), rack.name)
        if other != rack.name:
            row = f" of row '{rack.row}'" if rack.row else ""
            yield Finding(
                "rack-duplicate",
                ("racks", rack.entry),
                f"racks '{other}' and '{rack.name}' both stand at position {rack.position}{row}",
                "give each rack a position of its own",
                key=True,
            )
            return


def rack_places(cluster: Cluster) -> Iterator[Finding]:
    """Devices placed by hand have to be in their rack, inside it, and alone there."""
    of_rack: dict[str, dict[str, int]] = {rack.name: {} for rack in cluster.racks}
    for name, device in devices(cluster).items():
        of_rack.get(device.rack or "", {})[name] = device.height
    of_entry: dict[str, set[str]] = {}
    for rack in cluster.racks:
        of_entry.setdefault(rack.entry, set()).update(rack.hosts)
    for rack in cluster.racks:
        heights = of_rack[rack.name]
        finding = _not_inside(rack, {*heights, *of_entry[rack.entry]}) or _overlap(rack, heights)
        if finding:
            yield finding
            return


def _not_inside(rack: Rack, inside: Set[str]) -> Finding | None:
    """The first device of `places` that is neither in this rack nor, of racks of one entry, in another one."""
    for folded in rack.places:
        for name in expand(folded):
            if name not in inside:
                message = f"'{name}' is not in rack '{rack.name}'"
                path: ManifestPath = ("racks", rack.entry, "places", folded)
                return Finding("rack-place", path, message, did_you_mean(name, inside), key=True)
    return None


def _overlap(rack: Rack, heights: Mapping[str, int]) -> Finding | None:
    """The first device of `places` on units of another one, or above the rack."""
    units: dict[int, str] = {}
    for folded, name, unit in stated_places(rack, heights):
        span = range(unit, unit + heights[name])
        clash = next((units[number] for number in span if number in units), None)
        if clash or span.stop - 1 > rack.units:
            where = f"units {span.start} to {span.stop - 1}" if len(span) > 1 else f"unit {span.start}"
            why = f"which '{clash}' occupies" if clash else f"but rack '{rack.name}' has {rack.units}"
            path: ManifestPath = ("racks", rack.entry, "places", folded)
            return Finding("rack-place", path, f"'{name}' would occupy {where}, {why}", key=True)
        units.update(dict.fromkeys(span, name))
    return None


def rack_gaps(cluster: Cluster) -> Iterator[Finding]:
    """Devices whose rack has enough units, but not side by side."""
    of_rack: defaultdict[str | None, list[Device]] = defaultdict(list)
    for device in devices(cluster).values():
        if device.height:
            of_rack[device.rack].append(device)
    for rack in cluster.racks:
        inside = of_rack[rack.name]
        homeless = [device.name for device in inside if device.place is None]
        parts = len(fixtures(cluster).get(rack.name, ()))  # a rack that is too low has a finding of its own
        if homeless and sum(device.height for device in inside) + parts <= rack.units:
            yield Finding(
                "rack-place",
                ("racks", rack.entry, "places"),
                f"{compress(homeless)} {'does' if len(homeless) == 1 else 'do'} not fit between the devices that have a"
                f" place in rack '{rack.name}'",
                "move these together, or leave the places to clustergen",
                key=True,
            )
            return


def plan_value_unused(cluster: Cluster) -> Iterator[Finding]:
    """Models and numbers of switches of tiers that the network does not need, and ports of BMCs, which have one."""
    bmc = cluster.networks.bmc
    if bmc and bmc.plan and bmc.plan.ports:
        message = "ports has no effect: a node has one port in the bmc network"
        yield Finding("network-value-unused", ("networks", "bmc", "plan", "ports"), message, "remove ports", key=True)
    networks = switches_of(cluster)
    for name, plan in _plans(cluster):
        switches = networks.get(name, ())
        has_core = any(switch.uplinks and not switch.is_leaf for switch in switches)
        tiers = 3 if has_core else 2 if any(switch.uplinks for switch in switches) else 1
        for tier, key in ((2, "spine"), (2, "spines"), (3, "core")):
            if switches and tiers < tier and getattr(plan, key):
                path: ManifestPath = ("networks", name, "plan", key)
                needs = "leaves and spines only" if tiers == 2 else "leaves only"
                message = f"{key} has no effect: the plan of the {name} network needs {needs}"
                yield Finding("network-value-unused", path, message, f"remove {key}", key=True)
        if plan.leaves and switches:
            yield from _unused_leaves(name, plan.leaves, switches)


def _unused_leaves(network: str, least: int, switches: Sequence[Switch]) -> Iterator[Finding]:
    """More leaves than a node has ports."""
    on = Counter(host for switch in switches for host in switch.nodes)
    most = max(on.values())
    if least > most:
        yield Finding(
            "network-value-unused",
            ("networks", network, "plan", "leaves"),
            f"{least} leaves have no effect: the nodes have ports for {most} in the {network} network",
            f"write {most}",
        )
