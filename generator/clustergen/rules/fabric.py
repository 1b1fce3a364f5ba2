"""The fabric: switches, their cables and ports, rates, and who manages it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeType, Switch
from clustergen.cluster.shelf import Shelf, gbit
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.hostlist import expand, span_of
from clustergen.manifest.networks import Fabric
from clustergen.units import BitRate, ByteRate, UnitError

_SWITCHES: ManifestPath = ("networks", "fabric", "switches")


def _written(cluster: Cluster, switch: Switch) -> str:
    """The list of names in the switch's entry."""
    fabric = cluster.manifest.networks.fabric
    return fabric.switches[switch.index].name if fabric else ""


def switch_names(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for switch in cluster.switches:
        path, name = (*_SWITCHES, switch.index, "name"), switch.name
        if name in seen:
            again = seen[name] == switch.index
            yield Finding(
                "switch-duplicate",
                path,
                f"'{name}' stands here twice" if again else f"'{name}' is a switch already",
                "each switch once; all its nodes go into one list",
                at=None if again else span_of(_written(cluster, switch), name),
            )
        seen.setdefault(name, switch.index)
        if len(name) > 63:
            yield Finding(
                "switch-name-too-long",
                path,
                f"{len(name)} characters; Slurm takes 63",
                at=span_of(_written(cluster, switch), name),
            )


def uplink_unknown(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    known = dict.fromkeys(switch.name for switch in cluster.switches)
    for index, written in enumerate(fabric.switches if fabric else ()):
        for number, uplink in enumerate(written.uplinks):
            top = next((name for name in expand(uplink.to) if name not in known), None)
            if top is not None:
                yield Finding(
                    "switch-unknown",
                    (*_SWITCHES, index, "uplinks", number, "to"),
                    f"no switch is called '{top}'",
                    did_you_mean(top, known) or "switches without nodes of their own need an entry too",
                    at=span_of(uplink.to, top),
                )


def switch_cycle(cluster: Cluster) -> Iterator[Finding]:
    above = {switch.name: tuple(switch.uplinks) for switch in cluster.switches}
    done: set[str] = set()
    for switch in cluster.switches:
        if circle := _circle(switch.name, above, done):
            index = next(other.index for other in cluster.switches if other.name == circle[0])
            yield Finding(
                "switch-cycle",
                (*_SWITCHES, index, "uplinks"),
                f"the uplinks run in a circle: {' → '.join(circle)}",
                "uplinks go from leaves to spines only; a cable is stated at its lower end",
            )
            return


def _circle(start: str, above: dict[str, tuple[str, ...]], done: set[str]) -> list[str]:
    """The switches of the first circle of uplinks, the first of them again at the end; depth first, no recursion."""
    path = [start]
    stack = [iter(above.get(start, ()) if start not in done else ())]
    while stack:
        top = next(stack[-1], None)
        if top is None:
            done.add(path.pop())
            stack.pop()
        elif top in path:
            return [*path[path.index(top) :], top]
        elif top not in done:
            path.append(top)
            stack.append(iter(above.get(top, ())))
    return []


def switch_nodes(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    everybody = dict.fromkeys(cluster.hosts())
    for index, written in enumerate(fabric.switches if fabric else ()):
        host = next((host for host in expand(written.nodes) if host not in everybody), None) if written.nodes else None
        if host is not None:
            yield Finding(
                "switch-node-unknown",
                (*_SWITCHES, index, "nodes"),
                f"'{host}' is no node of this cluster",
                did_you_mean(host, everybody),
                at=span_of(written.nodes or "", host),
            )


def switch_ports(cluster: Cluster) -> Iterator[Finding]:
    """Ports against cables: the nodes' NICs below, bundles to and from other switches."""
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    below = Counter({switch.name: 0 for switch in cluster.switches})
    leaves = Counter(host for switch in cluster.switches for host in switch.nodes)
    for switch in cluster.switches:
        below.update(switch.uplinks)
    for switch in cluster.switches:
        if switch.ports is None:
            continue
        nics = sum(_nics_on(switch, kinds[host], leaves[host]) for host in switch.nodes if host in kinds)
        cables = below[switch.name] + sum(switch.uplinks.values())
        needed = -(-nics // switch.nics_per_port) + cables
        if needed > switch.ports:
            split = f", {switch.nics_per_port} to a port" if switch.nics_per_port > 1 else ""
            parts = [f"{nics} NICs{split}"] if nics else []
            parts += [f"{cables} {'cable' if cables == 1 else 'cables'} to other switches"] if cables else []
            yield Finding(
                "switch-ports",
                (*_SWITCHES, switch.index, "name"),
                f"'{switch.name}' needs {needed} ports for {' and '.join(parts)}; a {switch.model} has {switch.ports}",
                "spread the nodes over more switches, or take a larger one",
                at=span_of(_written(cluster, switch), switch.name),
            )


def _nics_on(switch: Switch, kind: NodeType, leaves: int) -> int:
    """NICs of a node that end in one leaf: one of its rail, else an even part, and never none."""
    return 1 if switch.rail is not None else max(1, -(-len(kind.fabric_ports()) // leaves))


def switch_kind(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    if fabric is None:
        return
    shelf = Shelf(cluster.manifest)
    rate = gbit(fabric.rate) if fabric.rate else None
    for index, written in enumerate(fabric.switches):
        model = shelf.switch(written.model) if written.model else None
        if model is None:
            continue
        if model.fabric != _technology(fabric):
            yield Finding(
                "switch-fabric",
                (*_SWITCHES, index, "model"),
                f"{model.model} is a switch for {model.fabric}; the fabric is {fabric.type}",
            )
        elif rate and model.port_gbit and model.port_gbit < rate:
            yield Finding(
                "switch-too-slow",
                (*_SWITCHES, index, "model"),
                f"{model.model} has ports of {model.port_gbit} Gb/s; the fabric's rate is {_rate_words(fabric)}",
            )


def _technology(fabric: Fabric) -> str:
    return "infiniband" if fabric.type == "infiniband" else "ethernet"


def _rate_words(fabric: Fabric) -> str:
    """`HDR, 200 Gb/s`, or the rate alone where it is a number already."""
    from clustergen.catalogue.hardware import link_rate

    rate = fabric.rate or ""
    named = link_rate(rate)
    return f"{named.name}, {named.gbit} Gb/s" if named else rate


def rates(cluster: Cluster) -> Iterator[Finding]:
    networks = cluster.manifest.networks
    for name in ("management", "bmc", "fabric", "storage"):
        network = getattr(networks, name)
        if network is not None and network.rate is not None:
            yield from _rate(("networks", name, "rate"), network.rate)
    for name, own in cluster.manifest.catalogue.switches.items():
        yield from _rate(("catalogue", "switches", name, "rate"), own.rate)


def _rate(path: ManifestPath, text: str) -> Iterator[Finding]:
    from clustergen.catalogue.hardware import link_rate, link_rates

    if link_rate(text) is not None:
        return
    try:
        BitRate.parse(text)
    except UnitError as err:
        number = text[:1].isdigit()
        names = did_you_mean(text, link_rates()) or "it is a name, HDR or NDR, or a bit rate, 200Gb/s"
        message = str(err) if number else f"no rate is called '{text}'"
        yield Finding("rate-malformed", path, message, (_bits_or_bytes(text) or err.hint) if number else names)


def _bits_or_bytes(text: str) -> str | None:
    """A hint for a rate with an upper-case B, which counts bytes."""
    try:
        return f"say {BitRate.parse(text.replace('B', 'b'))}, or {ByteRate.parse(text).to_bits()} if bytes are meant"
    except UnitError:
        return None


def rate_of_other_fabric(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.catalogue.hardware import link_rate

    fabric = cluster.manifest.networks.fabric
    named = link_rate(fabric.rate) if fabric and fabric.rate else None
    if fabric and named and named.fabric not in (_technology(fabric), ""):
        yield Finding(
            "rate-of-other-fabric",
            ("networks", "fabric", "rate"),
            f"{named.name} is a rate of {named.fabric}; the fabric is {fabric.type}",
            f"the same speed is {named.gbit}Gb/s",
        )


def nic_too_slow(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    rate = gbit(fabric.rate) if fabric and fabric.rate else None
    if rate is None or fabric is None:
        return
    for kind in dict.fromkeys(group.type.name for group in cluster.compute):
        resolved = next(found for found in cluster.node_types if found.name == kind)
        written = cluster.manifest.node_types.get(kind)
        named = _rate_words(fabric)
        for index, port in enumerate(resolved.ports):
            if port.network == "fabric" and port.max_gbit is not None and port.max_gbit < rate:
                stated = written is not None and written.nics is not None
                yield Finding(
                    "nic-too-slow",
                    ("node_types", kind, "nics", index, "model") if stated else ("node_types", kind, "system"),
                    f"{port.device} of '{kind}' does {port.max_gbit:g} Gb/s; the fabric's rate is {named}",
                    "jobs run at the pace of the slowest port"
                    if stated
                    else f"where yours are faster, list them: node_types.{kind}.nics",
                )
                break


def subnet_manager(cluster: Cluster) -> Iterator[Finding]:
    """Exactly one master in an InfiniBand fabric, and someone who can be it."""
    fabric = cluster.manifest.networks.fabric
    where = fabric.subnet_manager.where if fabric and fabric.type == "infiniband" else None
    path: ManifestPath = ("networks", "fabric", "subnet_manager", "where")
    for group in cluster.with_role("subnet-manager"):
        role: ManifestPath = ("nodes", group.index, "roles", group.roles.index("subnet-manager"))
        if where is None:
            yield Finding(
                "subnet-manager-useless", role, "there is no InfiniBand fabric to manage", "take the role away"
            )
        elif where != "node":
            runs = "UFM runs the subnet manager" if where == "ufm" else "a switch runs the subnet manager"
            yield Finding(
                "subnet-manager-useless",
                role,
                f"{runs}, and a second one would compete with it",
                "take the role away, or say networks.fabric.subnet_manager: {where: node}",
            )
    if where == "node" and not cluster.hosts("subnet-manager"):
        yield Finding(
            "subnet-manager-missing",
            path,
            "no node has the role subnet-manager, so no port of the fabric would come up",
            "give it to a node with a port in the fabric, or two for failover",
        )
    elif where == "switch" and fabric and cluster.switches:
        shelf = Shelf(cluster.manifest)
        models = [shelf.switch(written.model) if written.model else None for written in fabric.switches]
        if not any(model is None or model.managed for model in models):
            yield Finding(
                "subnet-manager-missing",
                path,
                "none of the switches is a managed one, so none can run the subnet manager",
                "say networks.fabric.subnet_manager: {where: node}, and give a node the role subnet-manager",
            )


RULES = (
    switch_names,
    uplink_unknown,
    switch_cycle,
    switch_nodes,
    switch_ports,
    switch_kind,
    rates,
    rate_of_other_fabric,
    nic_too_slow,
    subnet_manager,
)
