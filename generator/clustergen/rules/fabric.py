"""The fabric: switches, their cables and ports, and who manages it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from clustergen.catalogue.hardware import Switch as SwitchModel
from clustergen.cluster import networks
from clustergen.cluster.model import Cluster, NodeType, Switch
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.hostlist import compress, expand, span_of
from clustergen.manifest.networks import Fabric
from clustergen.manifest.stated import is_stated
from clustergen.rules.rates import rate_words, technology

_SWITCHES: ManifestPath = ("networks", "fabric", "switches")


_PLAN: ManifestPath = ("networks", "fabric", "plan")


def _entry(switch: Switch) -> ManifestPath:
    """Where the manifest names the switch."""
    return _PLAN if switch.index is None else (*_SWITCHES, switch.index, "name")


def _span(switch: Switch) -> tuple[int, int] | None:
    """The place of its name in the list of names of its entry; None where a plan names it."""
    return span_of(switch.entry, switch.name) if switch.entry else None


def switch_names(cluster: Cluster) -> Iterator[Finding]:
    seen: dict[str, int | None] = {}
    hosts = set(cluster.hosts())
    for switch in cluster.switches:
        path, name = _entry(switch), switch.name
        if name in hosts:
            at = _span(switch)
            yield Finding(
                "host-duplicate", path, f"'{name}' is a node of the cluster", "name the switch otherwise", at=at
            )
        if name in seen:
            again = seen[name] == switch.index
            yield Finding(
                "switch-duplicate",
                path,
                f"switch '{name}' is listed twice" if again else f"switch '{name}' is already defined",
                "list each switch once, with all its nodes in one list",
                at=None if again else _span(switch),
            )
        seen.setdefault(name, switch.index)
        if len(name) > 63:
            yield Finding(
                "switch-name-too-long",
                path,
                f"the switch name has {len(name)} characters; Slurm accepts at most 63",
                at=_span(switch),
            )
    for network, switches in cluster.other_switches.items():
        if clash := next((switch.name for switch in switches if switch.name in hosts), None):
            path = ("networks", network, "plan")
            yield Finding("host-duplicate", path, f"'{clash}' is a node of the cluster", "rename the node")


def switch_unknown(cluster: Cluster, section: Fabric) -> Iterator[Finding]:
    names = dict.fromkeys(switch.name for switch in cluster.switches)
    for index, spec in enumerate(section.switches):
        for number, uplink in enumerate(spec.uplinks):
            top = next((name for name in expand(uplink.to) if name not in names), None)
            if top is not None:
                yield Finding(
                    "switch-unknown",
                    (*_SWITCHES, index, "uplinks", number, "to"),
                    f"switch '{top}' is not defined",
                    did_you_mean(top, names) or f"add an entry for '{top}' to networks.fabric.switches",
                    at=span_of(uplink.to, top),
                )


def switch_cycle(cluster: Cluster) -> Iterator[Finding]:
    above = {switch.name: tuple(switch.uplinks) for switch in cluster.switches}
    done: set[str] = set()
    for switch in cluster.switches:
        if circle := _circle(switch.name, above, done):
            index = next(other.index for other in cluster.switches if other.name == circle[0])
            assert index is not None, "a plan has no circles"
            yield Finding(
                "switch-cycle",
                (*_SWITCHES, index, "uplinks"),
                f"the uplinks form a cycle: {' → '.join(circle)}",
                "list each cable once, as an uplink of the lower switch",
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


def switch_node_unknown(cluster: Cluster, section: Fabric) -> Iterator[Finding]:
    hosts = dict.fromkeys(cluster.hosts())
    for index, spec in enumerate(section.switches):
        host = next((host for host in expand(spec.nodes) if host not in hosts), None) if spec.nodes else None
        if host is not None:
            yield Finding(
                "switch-node-unknown",
                (*_SWITCHES, index, "nodes"),
                f"'{host}' is not a node of this cluster",
                did_you_mean(host, hosts) or f"use nodes of {compress(hosts)}",
                at=span_of(spec.nodes or "", host),
            )


def switch_ports(cluster: Cluster) -> Iterator[Finding]:
    """Ports against cables: the nodes' NICs below, bundles to and from other switches."""
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    below = Counter({switch.name: 0 for switch in cluster.switches})
    leaves = Counter(host for switch in cluster.switches for host in switch.nodes)
    for switch in cluster.switches:
        below.update(switch.uplinks)
    fabric = cluster.networks.fabric
    most = fabric.plan.ports if fabric and fabric.plan else None
    alike: dict[tuple[ManifestPath, str, str], list[Switch]] = {}
    for switch in cluster.switches:
        if switch.ports is None:
            continue
        nics = sum(_nics_on(switch, kinds[host], leaves[host], most) for host in switch.nodes if host in kinds)
        cables = below[switch.name] + sum(switch.uplinks.values())
        needed = -(-nics // switch.nics_per_port) + cables
        if needed > switch.ports:
            split = f" ({switch.nics_per_port} per port)" if switch.nics_per_port > 1 else ""
            parts = [f"{nics} NICs{split}"] if nics else []
            parts += [f"{cables} {'cable' if cables == 1 else 'cables'} to other switches"] if cables else []
            text = f"{needed} ports for {' and '.join(parts)}"
            alike.setdefault((_entry(switch), text, f"a {switch.model} has {switch.ports}"), []).append(switch)
    for (entry, needs, has), members in alike.items():
        names = compress(switch.name for switch in members)
        yield Finding(
            "switch-ports",
            entry,
            f"switch '{names}' needs {needs}; {has}"
            if len(members) == 1
            else f"switches '{names}' each need {needs}; {has}",
            "spread the nodes over more switches, or use a larger model",
            at=_span(members[0]) if len(members) == 1 else None,
        )


def _nics_on(switch: Switch, node_type: NodeType, leaves: int, most: int | None) -> int:
    """NICs of a node that end in one leaf: those of its rails, else an even part, and never none. A plan has `most`."""
    ports = len(node_type.fabric_ports()[:most])
    return max(1, min(ports, len(switch.rails)) if switch.rails else -(-ports // leaves))


def fitting_switches(technology: str, rate: int | None) -> str:
    """The hint for a switch that does not fit: models of that fabric for the rate, the slowest first."""
    from clustergen.catalogue.hardware import switches

    models = [
        row
        for row in switches().values()
        if row.fabric == technology and (row.port_gbit or 0) >= (rate or 0)
        if not rate or not is_of_other_rate(row, rate)
    ]
    ids = [row.id for row in sorted(models, key=lambda row: row.port_gbit or 0)]
    return f"use {one_of(ids, most=4)}" if ids else "run clustergen catalogue switches for all models"


def is_of_other_rate(model: SwitchModel, rate: float) -> bool:
    """True if the switch runs at one rate only, and at another one."""
    return model.one_rate and model.port_gbit != rate


def of_other_rate(cluster: Cluster, network: str, model: SwitchModel, path: ManifestPath) -> Finding | None:
    """A switch that runs at one rate only, and nodes or a network of another one."""
    rate = cluster.networks[network].rate_gbit
    if rate is not None:
        who = f"the rate of {network} is {cluster.networks[network].rate}"
    else:
        ports = [port for kind in cluster.node_types for port in kind.ports if port.network == network]
        slowest = min((port for port in ports if port.max_gbit), key=lambda port: port.max_gbit or 0, default=None)
        rate = int(slowest.max_gbit or 0) if slowest else None
        who = f"{slowest.device} of the nodes has {rate} Gb/s" if slowest else ""
    if not rate or not is_of_other_rate(model, rate):
        return None
    message = f"{model.model} runs at {model.rate or model.port_gbit} only, but {who}"
    return Finding("switch-one-rate", path, message, fitting_switches(model.fabric, rate))


def switch_kind(cluster: Cluster, section: Fabric) -> Iterator[Finding]:
    fabric = cluster.of(networks.Fabric)
    rate = fabric.rate_gbit
    for index, spec in enumerate(section.switches):
        model = cluster.catalogue.switch(spec.model) if spec.model else None
        if model is None:
            continue
        if model.fabric != technology(fabric):
            yield Finding(
                "switch-fabric",
                (*_SWITCHES, index, "model"),
                f"{model.model} is an {model.fabric} switch, but the fabric is {fabric.type}",
                fitting_switches(technology(fabric), rate),
            )
        elif other := of_other_rate(cluster, "fabric", model, (*_SWITCHES, index, "model")):
            yield other
        elif rate and model.port_gbit and model.port_gbit < rate:
            yield Finding(
                "switch-too-slow",
                (*_SWITCHES, index, "model"),
                f"{model.model} has {model.port_gbit} Gb/s ports, but the fabric's rate is {rate_words(fabric)}",
                fitting_switches(model.fabric, rate),
            )


def of_infiniband(_: Cluster, section: Fabric) -> Iterator[Finding]:
    yield from unused_of_fabric(section, ("service_level", "ipoib_mode"), not_infiniband(section))


def not_infiniband(section: Fabric) -> str:
    """Why settings of InfiniBand have no effect; empty where they have one."""
    kind = {"roce": "RoCE", "ethernet": "Ethernet"}.get(section.type)
    return f"the fabric is {kind}, not InfiniBand" if kind else ""


def unused_of_fabric(section: Fabric, keys: Iterable[str], why: str) -> Iterator[Finding]:
    """Findings on values of the fabric that have no effect, if there is a reason."""
    for key in keys if why else ():
        if is_stated(section, key):
            *above, name = key.split(".")
            message = f"{name} of the fabric has no effect: {why}"
            path = ("networks", "fabric", *above, name)
            yield Finding("network-value-unused", path, message, "remove it", key=True)
