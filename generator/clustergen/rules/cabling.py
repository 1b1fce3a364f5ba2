"""Cables and ports: what fits, what reaches, and whether ports of both ends have one rate."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, Switch
from clustergen.cluster.networks import Fabric
from clustergen.cluster.switches import ports_in
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.facility.cabling import cables
from clustergen.facility.model import Cable
from clustergen.facility.placement import switches_of
from clustergen.facility.unfit import alternatives, cause, reach_m
from clustergen.hostlist import compress, span_of
from clustergen.rules.fabric import fitting_switches, of_other_rate
from clustergen.units import BitRate


def link_without_cable(cluster: Cluster) -> Iterator[Finding]:
    """Links that nothing carries: one finding for each network and pair of cages."""
    several: dict[tuple[str, ...], list[Cable]] = {}
    for cable in cables(cluster):
        if cable.medium is None and cause(cable) in ("fit", "reach"):
            key = (cable.network, cause(cable), str(cable.gbit), cable.a.connector, cable.b.connector)
            several.setdefault(key, []).append(cable)
    for (network, why, *_), links in several.items():
        first = max(links, key=lambda cable: cable.derived_m or 0)
        count = f"{len(links)} {'link has' if len(links) == 1 else 'links have'} no cable"
        ends = f"{first.a.device} ({first.a.connector}) to {first.b.device} ({first.b.connector})"
        if why == "fit":
            message = f"{count}: nothing joins {ends} at {first.gbit} Gb/s"
            hint = ", or ".join(list(alternatives(first))[:2]) or "use switches with other cages"
        else:
            message = f"{count}: from {ends} are {first.derived_m:g} m at {first.gbit} Gb/s"
            hint = f"bring the racks closer, so that all links of a cage have at most {reach_m(first):g} m"
        yield Finding("link-without-cable", ("networks", network), message, hint, key=True)


def planned_switches(cluster: Cluster) -> Iterator[Finding]:
    """The models of a plan against the network's rate, and against the fabric's type."""
    view = cluster.catalogue
    for name in ("fabric", "storage", "management", "bmc"):
        network = cluster.networks.get(name)
        if network is None or network.plan is None:
            continue
        rate = network.rate_gbit
        kind = network.type if isinstance(network, Fabric) else None
        for tier in ("leaf", "spine", "core"):
            chosen = getattr(network.plan, tier)
            model = view.switch(chosen) if chosen else None
            path: ManifestPath = ("networks", name, "plan", tier)
            if model is None:
                continue
            if kind and (model.fabric == "infiniband") != (kind == "infiniband"):
                message = f"{model.model} is an {model.fabric} switch, but the fabric is {kind}"
                hint = fitting_switches("infiniband" if kind == "infiniband" else "ethernet", rate)
                yield Finding("switch-fabric", path, message, hint)
            elif other := of_other_rate(cluster, name, model, path):
                yield other
            elif tier == "leaf" and rate and model.port_gbit and model.port_gbit < rate:
                message = f"{model.model} has {model.port_gbit} Gb/s ports, but the rate of {name} is {network.rate}"
                yield Finding("switch-too-slow", path, message, fitting_switches(model.fabric, rate))


def nic_faster_than_switch(cluster: Cluster) -> Iterator[Finding]:
    """NICs that are faster than their switch ports, where the network states no rate."""
    several = switches_of(cluster)
    kinds = {host: group.type for group in cluster.groups for host in group.hosts} if several else {}
    for name, switches in several.items():
        if cluster.networks[name].rate is not None:
            continue
        reported: set[str] = set()
        for switch in switches:
            for kind in {kinds[host].name: kinds[host] for host in switch.nodes if host in kinds}.values():
                fastest = max((port.max_gbit or 0 for port in ports_in(kind, name).values()), default=0)
                if switch.port_gbit and fastest > switch.port_gbit and kind.name not in reported:
                    reported.add(kind.name)
                    yield Finding(
                        "nic-faster-than-switch",
                        ("networks", name),
                        f"'{kind.name}' has ports of {fastest:g} Gb/s, but {switch.name} ({switch.model}) of"
                        f" {switch.port_gbit:g} Gb/s",
                        f"set networks.{name}.rate: {switch.port_gbit:g}Gb/s if that is meant, or use a faster switch",
                        key=True,
                    )


def gpus_share_ports(cluster: Cluster) -> Iterator[Finding]:
    """More than four GPUs behind one fabric port, where NVSwitch joins the GPUs of a node."""
    fabric = cluster.networks.fabric
    rate = fabric.rate_gbit if fabric else None
    for kind in {group.type.name: group.type for group in cluster.compute}.values():
        count = sum(len(group.hosts) for group in cluster.of_type[kind.name] if group.has("slurm-compute"))
        ports = kind.fabric_ports()
        gpus = kind.gpus
        if gpus is None or gpus.nvlink != "nvswitch" or not ports or count < 2 or gpus.count <= 4 * len(ports):
            continue
        speeds = [min(filter(None, (rate, port.max_gbit)), default=0) for port in ports]
        bits = BitRate(int(sum(speeds) * 10**9))
        if not bits.value:
            continue
        node = bits.to_bytes()
        stated = "nics" in kind.stated
        each = f"{len(ports)} {'port' if len(ports) == 1 else 'ports'} of {max(speeds):g} Gb/s"
        yield Finding(
            "gpus-share-ports",
            ("node_types", kind.name, "nics" if stated else "system"),
            f"{count * gpus.count} GPUs share {count * len(ports)} fabric ports: {gpus.count} GPUs of a node have"
            f" {each}, which is {node.gb:g} GB/s a node and {node.gb / gpus.count:.1f} GB/s a GPU",
            f"plan one port for each GPU: {gpus.count * max(speeds) / 8:g} GB/s a node",
            key=True,
        )


def rails_apart(cluster: Cluster) -> Iterator[Finding]:
    """Nodes that share a leaf on one rail share one on every rail; otherwise a job's rails differ in distance."""
    fabric = cluster.networks.fabric
    leaves = [switch for switch in cluster.switches if switch.rail is not None and switch.nodes]
    rails = sorted({switch.rail for switch in leaves if switch.rail is not None})
    if not rails or fabric is None or fabric.plan:
        return
    first = {host: switch for switch in leaves if switch.rail == rails[0] for host in switch.nodes}
    for switch in leaves:
        apart = _apart(switch, first)
        if apart and switch.rail != rails[0] and switch.index is not None:
            one, two = apart[:2]
            yield Finding(
                "rails-apart",
                ("networks", "fabric", "switches", switch.index, "nodes"),
                f"'{switch.name}' of rail {switch.rail} joins nodes that rail {rails[0]} has on"
                f" '{first[one].name}' ({_folded(switch, first, one)}) and '{first[two].name}'"
                f" ({_folded(switch, first, two)})",
                "connect nodes that share a leaf on one rail to one leaf on every rail",
                at=span_of(switch.entry_nodes, two),
            )
            return


def _apart(switch: Switch, first: dict[str, Switch]) -> list[str]:
    """A node for each leaf of the first rail that nodes of this leaf are on, where these are several."""
    one_each = {first[host].name: host for host in reversed(switch.nodes) if host in first}
    return list(reversed(one_each.values())) if len(one_each) > 1 else []


def _folded(switch: Switch, first: dict[str, Switch], host: str) -> str:
    return compress([other for other in switch.nodes if first.get(other) is first[host]])
