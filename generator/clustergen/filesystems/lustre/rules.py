"""Lustre: names, indices of targets, client parameters and layouts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue import storage as catalogue
from clustergen.catalogue.storage import LustreTunable
from clustergen.cluster.hardware import SERVICE
from clustergen.cluster.model import Cluster, NodeGroup, NodeType
from clustergen.cluster.storage import (
    lnet_nets,
    lustre_clients,
    lustre_fsname,
    lustre_release,
    server_nids,
    server_places,
    unaddressed_nets,
    unreached_nets,
)
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.filesystems.lustre import server_rules
from clustergen.filesystems.lustre.model import Component, Lustre
from clustergen.hostlist import compress
from clustergen.rules.reach import is_cut_off
from clustergen.rules.storage import no_rdma, rdma_possible

_FSNAME = re.compile(r"[A-Za-z0-9_-]{1,8}")
_STRIPE_UNIT = 65536
_REQUESTS = "mdc.*.max_rpcs_in_flight"
_CHANGES = "mdc.*.max_mod_rpcs_in_flight"


def _lustre(cluster: Cluster) -> Iterator[tuple[str, Lustre]]:
    for name, entry in cluster.manifest.storage.items():
        if isinstance(entry, Lustre):
            yield name, entry


def names(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _lustre(cluster):
        fsname = lustre_fsname(name, entry)
        if not _FSNAME.fullmatch(fsname):
            long = len(fsname) > 8
            yield Finding(
                "lustre-fsname",
                ("storage", name, "fsname") if entry.fsname else ("storage", name),
                f"'{fsname}' has {len(fsname)} characters; a Lustre fsname has at most 8"
                if long
                else f"'{fsname}' is not a valid Lustre fsname: use letters, digits, - and _",
                "run `lctl dl` on a server and use the name before -MDT0000"
                if entry.fsname
                else "set fsname to the name that the servers use",
                key=not entry.fsname,
            )


def kernels(cluster: Cluster) -> Iterator[Finding]:
    """A client that the kernel of a node's operating system is too new for: its module does not build."""
    for name, entry in _lustre(cluster):
        if entry.version is None or entry.vendor_build:
            continue
        for os in dict.fromkeys(group.type.os.id for group in lustre_clients(cluster, entry)):
            row = catalogue.lustre_kernels()[os]
            release = ".".join(map(str, row.release))
            if lustre_release(cluster, entry) < row.release:
                yield Finding(
                    "lustre-kernel",
                    ("storage", name, "version"),
                    f"the Lustre {entry.version} client does not support kernel {row.kernel} of {os};"
                    f" {row.first} is the first that does",
                    f'write version: "{release}", or vendor_build: true for a build that supports this kernel',
                )


def networks(cluster: Cluster) -> Iterator[Finding]:
    """Servers that are reached by RDMA only, from a cluster without."""
    for name, entry in _lustre(cluster):
        nids = [nid for group in entry.mgs for nid in group.split(",")]
        if all("@o2ib" in nid for nid in nids) and not entry.lnet and not rdma_possible(cluster):
            yield no_rdma(cluster, ("storage", name, "mgs"))


def interfaces(cluster: Cluster) -> Iterator[Finding]:
    """LNet needs the name of its interface, except for TCP on the management network, where the default interface is
    right. Nodes of the fabric must not fall back to TCP in silence.
    """
    for name, entry in _lustre(cluster):
        for kind in cluster.node_types:
            groups = [group for group in cluster.of_type[kind.name] if any(group.has(role) for role in entry.clients)]
            clients = [host for group in groups for host in group.hosts]
            unreached = [net for net in unreached_nets(cluster, kind, entry) if _needs_name(cluster, entry, net)]
            usable = [
                each
                for each in lnet_nets(cluster, kind, [entry])
                if each.interfaces or (each.name.startswith("tcp") and each.name not in unreached)
            ]
            is_unknown = not kind.is_resolved and kind.name != SERVICE  # an error of its own
            if not clients or not unreached or is_unknown or (usable and not _is_on_fabric(cluster, kind)):
                continue
            net = unreached[0]
            nid, place = next(iter(server_places(cluster, entry, net).items()), ("", None))
            where = f"in the {place.name} network, where the MGS {nid} is" if place else f"on LNet network {net}"
            if usable:
                result = f"is mounted over {usable[0].name}"
                stated = f": [{{name: {usable[0].name}, interfaces: [{','.join(usable[0].interfaces) or 'eno1'}]}}]"
            else:
                result, stated = "cannot be mounted", ""
            nics = "nics of a separate node type" if kind.name == SERVICE else f"node_types.{kind.name}.nics"
            network = f" with network: {place.key}" if place and place.key != "fabric" else ""
            yield Finding(
                "lnet-interface-missing",
                ("storage", name, "mgs"),
                f"no interface of {compress(clients)} is {where}, so '{name}' {result}",
                f"list the ports with their interfaces in {nics}{network}, or set the networks in"
                f" storage.{name}.lnet{stated}"
                + ("" if kind.gpus else f", or leave these nodes out with storage.{name}.clients"),
                key=True,
            )


def _needs_name(cluster: Cluster, entry: Lustre, net: str) -> bool:
    """Whether LNet's default interface, the first one that is up, is wrong for a network."""
    if net.startswith("o2ib"):
        return rdma_possible(cluster)
    return any(place.key != "management" for place in server_places(cluster, entry, net).values())


def addresses(cluster: Cluster) -> Iterator[Finding]:
    """LNet on RDMA uses the IP address of its interface."""
    for name, entry in _lustre(cluster):
        rows = [
            (group, *net)
            for group in lustre_clients(cluster, entry)
            for net in unaddressed_nets(cluster, group, entry)[:1]
            if not is_cut_off(cluster, group, entry)  # storage-unreachable
        ]
        if not rows:
            continue
        _, net, key, ports = rows[0]
        hosts = [host for group, *row in rows if row == [net, key, ports] for host in group.hosts]
        yield Finding(
            "lnet-address-missing",
            ("storage", name, "mgs"),
            f"{ports[0]} of {compress(hosts)} has no IP address in the {key} network, so LNet cannot start on {net} and"
            f" '{name}' is not mounted",
            f"add addresses.{key} to these nodes and cidr to networks.{key}; if another system assigns the addresses,"
            f" write storage.{name}.lnet: [{{name: {net}, interfaces: [{', '.join(ports)}]}}]",
            key=True,
        )


def _is_on_fabric(cluster: Cluster, kind: NodeType) -> bool:
    """Whether nodes of a type are plugged into the fabric, as far as the manifest shows; GPU nodes are, unless it lists
    their ports.
    """
    groups = cluster.of_type[kind.name]
    hosts = {host for group in groups for host in group.hosts}
    return bool(
        kind.fabric_ports()
        or any(group.fabric for group in groups)
        or any(not hosts.isdisjoint(switch.nodes) for switch in cluster.switches)
        or (kind.gpus and not kind.ports)
    )


def targets(cluster: Cluster) -> Iterator[Finding]:
    """An index is needed, once for its kind, and counts on over all servers."""
    for name, entry in _lustre(cluster):
        seen: dict[tuple[str, int], str] = {}
        for position, target in enumerate(entry.targets):
            path: ManifestPath = ("storage", name, "targets", position)
            if target.kind == "MGT":
                if target.index is not None:
                    yield Finding("lustre-index", (*path, "index"), "an MGT has no index", "remove index")
                continue
            if target.index is None:
                yield Finding(
                    "lustre-index",
                    path,
                    f"an {target.kind} requires a unique index",
                    "number the targets consecutively across all servers",
                )
                continue
            other = seen.get((target.kind, target.index))
            if other is not None:
                highest = max(index for kind, index in seen if kind == target.kind)
                yield Finding(
                    "lustre-index",
                    (*path, "index"),
                    f"{target.kind} {target.index} is already on {other}; mkfs.lustre would treat both as the same"
                    " target",
                    f"use {highest + 1}, the next free index across all servers",
                )
            seen.setdefault((target.kind, target.index), target.server)


def parameters(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _lustre(cluster):
        release = lustre_release(cluster, entry)
        for key, value in entry.parameters.items():
            path: ManifestPath = ("storage", name, "parameters", key)
            tunable = catalogue.lustre_tunable(key)
            if tunable is None:
                yield Finding(
                    "lustre-parameter-unknown",
                    path,
                    f"'{key}' is not a Lustre client parameter in the catalogue",
                    did_you_mean(key, catalogue.lustre_tunables()),
                    key=True,
                )
            elif tunable.since and release < tunable.since:
                since = ".".join(map(str, tunable.since))
                yield Finding(
                    "lustre-parameter-unknown",
                    path,
                    f"'{key}' requires Lustre {since} or newer; the client is {'.'.join(map(str, release))}",
                    key=True,
                )
            elif wrong := _wrong(key, tunable, str(value)):
                yield Finding("lustre-parameter-value", path, wrong, _pages(tunable, str(value)))
        requests, changes = entry.parameters.get(_REQUESTS), entry.parameters.get(_CHANGES)
        if str(requests).isdigit() and str(changes).isdigit() and int(str(changes)) >= int(str(requests)):
            yield Finding(
                "lustre-parameter-value",
                ("storage", name, "parameters", _CHANGES),
                f"{_CHANGES} must be less than {_REQUESTS} ({requests}), not {changes}",
                f"set at most {int(str(requests)) - 1}",
            )


def _wrong(key: str, tunable: LustreTunable, text: str) -> str | None:
    low, high = tunable.low, tunable.high
    if not text.isdigit():
        return f"'{key}' is a number of {tunable.unit}, not '{text}'" if (low, high) != (None, None) else None
    if (low is None or int(text) >= low) and (high is None or int(text) <= high):
        return None
    span = f"{low or 0} to {high}" if high is not None else f"{low} or more"
    return f"'{key}' is a number of {tunable.unit} and must be {span}, not {text}"


def _pages(tunable: LustreTunable, text: str) -> str | None:
    """A value that was meant in MiB or bytes."""
    amount = re.fullmatch(r"([0-9]+)\s*(M|MB|MiB|m)?", text)
    if "pages" not in tunable.unit or not amount:
        return None
    mib = int(amount[1]) if amount[2] else int(amount[1]) >> 20
    return f"{mib} MiB are {mib * 256} pages" if mib else None


def striping(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in _lustre(cluster):
        for position, layout in enumerate(entry.striping):
            path: ManifestPath = ("storage", name, "striping", position)
            if not (layout.directory + "/").startswith(entry.mount.rstrip("/") + "/"):
                yield Finding(
                    "lustre-striping", (*path, "directory"), f"'{layout.directory}' is not below {entry.mount}"
                )
            yield from _components(path, layout.components)


def _components(path: ManifestPath, components: tuple[Component, ...]) -> Iterator[Finding]:
    last = 0
    for number, part in enumerate(components):
        where: ManifestPath = (*path, "components", number)
        final = number == len(components) - 1
        if part.end == "rest":
            if not final:
                yield Finding("lustre-striping", (*where, "end"), "only the last component can end with 'rest'")
        else:
            if final:
                yield Finding(
                    "lustre-striping",
                    (*where, "end"),
                    "files cannot grow beyond the last component",
                    "write end: rest for the last component",
                )
            if part.end.value <= last:
                yield Finding(
                    "lustre-striping", (*where, "end"), f"end {part.end} is not after the end of the previous component"
                )
            if part.end.value % _STRIPE_UNIT:
                yield Finding("lustre-striping", (*where, "end"), f"end {part.end} is not a multiple of 64 KiB")
            last = part.end.value
        if part.stripes == 0:
            yield Finding(
                "lustre-striping",
                (*where, "stripes"),
                "0 stripes means the file system's default, which clustergen does not know",
                "write a number of stripes, or -1 for all targets",
            )
        if part.stripe_size and part.stripe_size.value % _STRIPE_UNIT:
            yield Finding(
                "lustre-striping",
                (*where, "stripe_size"),
                f"stripe_size {part.stripe_size} is not a multiple of 64 KiB",
            )


def reached(cluster: Cluster, group: NodeGroup, entry: Lustre) -> list[str]:
    nets = {net.name for net in lnet_nets(cluster, group.type, [entry]) if net.interfaces}
    return [host for host, net in server_nids(entry) if net in nets]


RULES = (names, kernels, networks, interfaces, addresses, targets, parameters, striping, *server_rules.RULES)
