"""The fabric: switches, their ports, the tree that they make, and what Slurm can do with it."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.hardware import Shelf, gbit
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.hostlist import expand

_SWITCHES: ManifestPath = ("networks", "fabric", "switches")


def switch_duplicate(cluster: Cluster) -> Iterator[Finding]:
    seen: set[str] = set()
    for switch in cluster.switches:
        if switch.name in seen:
            yield Finding(
                "switch-duplicate", (*_SWITCHES, switch.index, "name"), f"'{switch.name}' is a switch already"
            )
        seen.add(switch.name)
        if len(switch.name) > 63:
            yield Finding(
                "switch-name-too-long",
                (*_SWITCHES, switch.index, "name"),
                f"'{switch.name}' has more than 63 characters",
            )


def uplink_unknown(cluster: Cluster) -> Iterator[Finding]:
    known = {switch.name for switch in cluster.switches}
    told = set()
    for switch in cluster.switches:
        for number, top in enumerate(switch.uplinks):
            if top not in known and (switch.index, top) not in told:
                told.add((switch.index, top))
                yield Finding(
                    "switch-unknown",
                    (*_SWITCHES, switch.index, "uplinks", min(number, _uplinks(cluster, switch.index) - 1), "to"),
                    f"no switch is called '{top}'",
                    did_you_mean(top, known),
                )


def _uplinks(cluster: Cluster, index: int) -> int:
    fabric = cluster.manifest.networks.fabric
    return len(fabric.switches[index].uplinks) if fabric else 0


def switch_cycle(cluster: Cluster) -> Iterator[Finding]:
    above = {switch.name: tuple(switch.uplinks) for switch in cluster.switches}
    state: dict[str, int] = {}
    for switch in cluster.switches:
        if _cyclic(switch.name, above, state):
            yield Finding("switch-cycle", (*_SWITCHES, switch.index, "uplinks"), f"'{switch.name}' is above itself")
            return


def _cyclic(start: str, above: dict[str, tuple[str, ...]], state: dict[str, int]) -> bool:
    """Depth first without recursion: 1 is on the path, 2 is done."""
    stack = [(start, iter(above.get(start, ())))] if start not in state else []
    if stack:
        state[start] = 1
    while stack:
        name, tops = stack[-1]
        top = next(tops, None)
        if top is None:
            state[name] = 2
            stack.pop()
        elif state.get(top) == 1:
            return True
        elif top not in state:
            state[top] = 1
            stack.append((top, iter(above.get(top, ()))))
    return False


def switch_nodes(cluster: Cluster) -> Iterator[Finding]:
    everybody = {host: group for group in cluster.groups for host in group.hosts}
    leaf_of: dict[str, tuple[str, int | None]] = {}
    entries: set[int] = set()
    for switch in cluster.switches:
        told: set[str] = set()
        for host in switch.nodes:
            path: ManifestPath = (*_SWITCHES, switch.index, "nodes")
            if host not in everybody and switch.index not in entries:
                entries.add(switch.index)
                yield Finding(
                    "switch-node-unknown", path, f"'{host}' is no node of this cluster", did_you_mean(host, everybody)
                )
            other = leaf_of.get(host)
            if other is None:
                leaf_of[host] = (switch.name, switch.index)
            elif _alone(cluster, switch.name, other[0]) and "twice" not in told:
                told.add("twice")
                yield Finding(
                    "node-on-two-leaves",
                    path,
                    f"'{host}' hangs on '{other[0]}' and on '{switch.name}', which serve different nodes",
                    "Slurm takes a node in one leaf; the leaves of all rails are one where they serve the same nodes",
                )


def _alone(cluster: Cluster, one: str, two: str) -> bool:
    nodes = {switch.name: switch.nodes for switch in cluster.switches}
    return nodes[one] != nodes[two]


def node_without_switch(cluster: Cluster) -> Iterator[Finding]:
    if not cluster.leaves or cluster.topology == "flat":
        return
    on_leaf = {host for leaf in cluster.leaves for host in leaf.nodes}
    for group in cluster.compute:
        missing = [host for host in group.hosts if host not in on_leaf]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            yield Finding(
                "node-without-switch",
                ("nodes", group.index, "name"),
                f"'{missing[0]}'{more} hangs on no switch of the fabric",
                "no job spans nodes in and out of the tree; add it to a leaf, or say slurm.topology: {plugin: flat}",
            )


def topology_not_joined(cluster: Cluster) -> Iterator[Finding]:
    """Leaves that no switch joins are islands: Slurm starts no job across them."""
    if cluster.topology != "tree" or len(cluster.leaves) < 2:
        return
    above: dict[str, set[str]] = {}
    for switch in cluster.switches:
        for top in switch.uplinks:
            above.setdefault(switch.name, set()).add(top)
            above.setdefault(top, set()).add(switch.name)
    first = cluster.leaves[0].name
    seen, queue = {first}, [first]
    rails = {switch.name: switch.nodes for switch in cluster.switches if switch.nodes}
    while queue:
        name = queue.pop()
        twins = {other for other, nodes in rails.items() if nodes == rails.get(name)}
        for other in above.get(name, set()) | twins:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    index = {switch.name: switch.index for switch in cluster.switches}
    for leaf in cluster.leaves:
        if leaf.name not in seen:
            yield Finding(
                "topology-not-joined",
                (*_SWITCHES, index[leaf.name]),
                f"nothing joins '{leaf.name}' to '{first}'",
                "give both an uplink to the same switch; Slurm starts no job across islands",
            )


def switch_ports(cluster: Cluster) -> Iterator[Finding]:
    """Ports against links: the nodes' NICs below, bundles to and from other switches."""
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    below: dict[str, int] = {}
    for switch in cluster.switches:
        for top, links in switch.uplinks.items():
            below[top] = below.get(top, 0) + links
    shared: dict[tuple[str, ...], int] = {}
    for switch in cluster.switches:
        if switch.nodes:
            shared[switch.nodes] = shared.get(switch.nodes, 0) + 1
    for switch in cluster.switches:
        if switch.ports is None:
            continue
        needed = below.get(switch.name, 0) + sum(switch.uplinks.values())
        for host in switch.nodes:
            ports = len(kinds[host].fabric_ports()) if host in kinds else 0
            needed += 1 if switch.rail is not None else -(-ports // shared[switch.nodes])
        if needed > switch.ports:
            yield Finding(
                "switch-ports",
                (*_SWITCHES, switch.index),
                f"'{switch.name}' needs {needed} ports; a {switch.model} has {switch.ports}",
                "spread the nodes over more switches, or take a larger one",
            )


def switch_kind(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    if fabric is None:
        return
    shelf = Shelf(cluster.manifest)
    rate = gbit(fabric.rate) if fabric.rate else None
    wanted = "infiniband" if fabric.type == "infiniband" else "ethernet"
    for index, written in enumerate(fabric.switches):
        model = shelf.switch(written.model) if written.model else None
        if model is None:
            continue
        if model.fabric != wanted:
            yield Finding(
                "switch-fabric",
                (*_SWITCHES, index, "model"),
                f"{model.model} switches {model.fabric}; the fabric is {wanted}",
            )
        elif rate and model.port_gbit and model.port_gbit < rate:
            yield Finding(
                "switch-too-slow",
                (*_SWITCHES, index, "model"),
                f"{model.model} has ports of {model.port_gbit} Gb/s; the fabric's rate is {fabric.rate}, {rate} Gb/s",
            )


def rate_malformed(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.catalogue.hardware import link_rate, link_rates

    networks = cluster.manifest.networks
    for name in ("management", "bmc", "fabric", "storage"):
        network = getattr(networks, name)
        if network is None or network.rate is None:
            continue
        path: ManifestPath = ("networks", name, "rate")
        if gbit(network.rate) is None:
            yield Finding(
                "rate-malformed",
                path,
                f"'{network.rate}' is no rate",
                did_you_mean(network.rate, link_rates()) or "a name (HDR, NDR …) or a bit rate (200Gb/s)",
            )
        elif name == "fabric" and networks.fabric and (named := link_rate(network.rate)):
            wanted = "infiniband" if networks.fabric.type == "infiniband" else "ethernet"
            if named.fabric not in (wanted, ""):
                yield Finding(
                    "rate-of-other-fabric",
                    path,
                    f"{named.name} is a rate of {named.fabric}; the fabric is {networks.fabric.type}",
                )


def nic_too_slow(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.manifest.networks.fabric
    rate = gbit(fabric.rate) if fabric and fabric.rate else None
    if rate is None or fabric is None:
        return
    for kind in cluster.node_types:
        for port in kind.fabric_ports():
            if port.max_gbit is not None and port.max_gbit < rate:
                yield Finding(
                    "nic-too-slow",
                    ("node_types", kind.name),
                    f"{port.device} does {port.max_gbit:g} Gb/s; the fabric's rate is {fabric.rate}, {rate} Gb/s",
                )
                break


def subnet_manager(cluster: Cluster) -> Iterator[Finding]:
    """Exactly one master in an InfiniBand fabric, and someone who can be it."""
    fabric = cluster.manifest.networks.fabric
    hosts = cluster.hosts("subnet-manager")
    if fabric is None or fabric.type != "infiniband":
        if hosts:
            index = cluster.with_role("subnet-manager")[0].index
            yield Finding(
                "subnet-manager-useless", ("nodes", index, "roles"), "there is no InfiniBand fabric to manage"
            )
        return
    path: ManifestPath = ("networks", "fabric", "subnet_manager", "where")
    if fabric.subnet_manager.where == "node" and not hosts:
        yield Finding("subnet-manager-missing", path, "no node has the role subnet-manager")
    elif fabric.subnet_manager.where != "node" and hosts:
        index = cluster.with_role("subnet-manager")[0].index
        yield Finding(
            "subnet-manager-useless",
            ("nodes", index, "roles"),
            f"the subnet manager runs on the {fabric.subnet_manager.where}, so no node may run one too",
            "say networks.fabric.subnet_manager: {where: node}, or take the role away",
        )
    elif fabric.subnet_manager.where == "switch" and cluster.switches:
        shelf = Shelf(cluster.manifest)
        models = [shelf.switch(written.model) for written in fabric.switches if written.model]
        if models and not any(model is None or model.managed for model in models):
            yield Finding(
                "subnet-manager-missing",
                path,
                "none of the switches is a managed one, so none can run the subnet manager",
                "say networks.fabric.subnet_manager: {where: node}, and give a node the role subnet-manager",
            )


def blocks(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm.topology
    path: ManifestPath = ("slurm", "topology")
    if cluster.topology != "block":
        if written.block_sizes or written.blocks:
            yield Finding(
                "topology-blocks-unused",
                (*path, "plugin"),
                f"blocks are described, but the topology is {cluster.topology}",
            )
        return
    if cluster.release < SlurmRelease("23.11"):
        yield Finding(
            "topology-too-new", (*path, "plugin"), f"topology/block exists from 23.11 on; this is {cluster.release}"
        )
        return
    groups = {name: set(expand(text)) for name, text in written.blocks.items()} or {
        leaf.name: set(leaf.nodes) for leaf in cluster.leaves
    }
    if not groups:
        yield Finding(
            "topology-blocks-missing",
            (*path, "plugin"),
            "topology/block needs blocks, or switches whose leaves are the blocks",
        )
        return
    compute = set(cluster.hosts("slurm-compute"))
    seen: dict[str, str] = {}
    for name, hosts in groups.items():
        where: ManifestPath = (*path, "blocks", name) if written.blocks else (*path, "plugin")
        for host in sorted(hosts):
            if host not in compute and written.blocks:
                yield Finding("block-node-unknown", where, f"'{host}' is no compute node", did_you_mean(host, compute))
                break
            if host in seen:
                yield Finding("block-node-twice", where, f"'{host}' is in block '{seen[host]}' already")
                break
            seen[host] = name
    base = written.block_sizes[0] if written.block_sizes else None
    for position, size in enumerate(written.block_sizes):
        factor, rest = divmod(size, base or 1)
        if rest or factor & (factor - 1) or factor > 1 << 15:
            yield Finding(
                "block-size",
                (*path, "block_sizes", position),
                f"{size} is not {base} times a power of two",
                "the first is the base; the others are 2, 4, 8 … times as large",
            )
    smallest = min(len(hosts & compute) for hosts in groups.values())
    if base and smallest < base and cluster.release < SlurmRelease("25.05"):
        name = next(name for name, hosts in groups.items() if len(hosts & compute) == smallest)
        yield Finding(
            "block-too-small",
            (*path, "block_sizes", 0),
            f"block '{name}' has {smallest} nodes, fewer than the base size {base}",
        )


def topology_without_switches(cluster: Cluster) -> Iterator[Finding]:
    if cluster.manifest.slurm.topology.plugin == "tree" and not cluster.leaves:
        yield Finding(
            "topology-without-switches",
            ("slurm", "topology", "plugin"),
            "a tree needs networks.fabric.switches with nodes",
        )
    if cluster.manifest.slurm.topology.format == "yaml" and cluster.release < SlurmRelease("25.05"):
        yield Finding(
            "topology-too-new",
            ("slurm", "topology", "format"),
            f"topology.yaml exists from 25.05 on; this is {cluster.release}",
        )


RULES = (
    switch_duplicate,
    uplink_unknown,
    switch_cycle,
    switch_nodes,
    node_without_switch,
    topology_not_joined,
    switch_ports,
    switch_kind,
    rate_malformed,
    nic_too_slow,
    subnet_manager,
    blocks,
    topology_without_switches,
)
