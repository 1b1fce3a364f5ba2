"""Lustre servers: targets that can be created and taken over as the manifest states them."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.groups import mounts_entry
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.features.storage.lustre.lnet import nids_of, server_nids
from clustergen.features.storage.lustre.resolved import Lustre, LustreTarget

_CODE = "lustre-target"


def lustre_target(cluster: Cluster) -> Iterator[Finding]:
    for entry in cluster.entries(Lustre).values():
        yield from _targets(cluster, entry)
        yield from _manager(cluster, entry)
        yield from _clients(cluster, entry)


def _targets(cluster: Cluster, entry: Lustre) -> Iterator[Finding]:
    hosts = [host for group in cluster.groups for host in group.hosts]
    devices: dict[tuple[str, str], str] = {}
    for position, target in enumerate(entry.targets):
        path: ManifestPath = ("storage", entry.name, "targets", position)
        if target.pool and target.kind != "OST":
            yield Finding(
                _CODE, (*path, "pool"), f"only OSTs are in pools, and this is an {target.kind}", "remove pool"
            )
        if not target.device:
            if target.standby or target.size_bytes is not None:
                yield Finding(_CODE, path, "standby and size are of a target with a device", "add device")
            continue
        shown = f"{target.kind}{'' if target.index is None else f' {target.index}'}"
        for place, host in _servers(path, target):
            if host not in hosts:
                hint = did_you_mean(host, hosts) or "add it to nodes, with roles: []"
                yield Finding(_CODE, place, f"'{host}' is not a node, and {shown} is to be created there", hint)
            elif not nids_of(cluster, host, entry):
                nets = ", ".join(dict.fromkeys(net for _, net in server_nids(entry)))
                yield Finding(
                    _CODE, place, f"'{host}' has no address on {nets}, the networks of the MGS", "add its addresses"
                )
            other = devices.setdefault((host, target.device), shown)
            if other != shown:
                message = f"{target.device} of '{host}' is already the device of {other}"
                yield Finding(_CODE, (*path, "device"), message, "give each target a device of its own")
        if target.server in target.standby:
            message = f"'{target.server}' cannot take over from itself"
            yield Finding(_CODE, (*path, "standby"), message, "name the other servers with the same device")


def _servers(path: ManifestPath, target: LustreTarget) -> Iterator[tuple[ManifestPath, str]]:
    yield (*path, "server"), target.server
    for index, host in enumerate(target.standby):
        yield (*path, "standby", index), host


def _manager(cluster: Cluster, entry: Lustre) -> Iterator[Finding]:
    """Clients and targets look for the MGS at the NIDs of `mgs`."""
    listed = {nid for group in entry.mgs for nid in group.split(",")}
    managers = [target for target in entry.targets if target.kind == "MGT" and target.device]
    for target in managers:
        for host in (target.server, *target.standby):
            nids = [nid for nid in nids_of(cluster, host, entry).split(",") if nid]
            if nids and listed.isdisjoint(nids):
                message = f"the MGT is on '{host}', whose NID {nids[0]} is not in mgs"
                yield Finding(_CODE, ("storage", entry.name, "mgs"), message, f'write mgs: ["{nids[0]}"]')
    local = [host for host in entry.server_hosts if not listed.isdisjoint(nids_of(cluster, host, entry).split(","))]
    if local and not managers:
        message = f"mgs names '{local[0]}', and no target is the MGT: the MGS is never created"
        hint = f"add {{kind: MGT, server: {local[0]}, device: …}} to targets"
        yield Finding(_CODE, ("storage", entry.name, "targets"), message, hint)


def _clients(cluster: Cluster, entry: Lustre) -> Iterator[Finding]:
    """A client on its server can deadlock: to free memory it writes, and the server needs memory for that."""
    name, servers = entry.name, entry.server_hosts
    for group in cluster.groups:
        both = [host for host in group.hosts if host in servers]
        if both and mounts_entry(cluster, group, name):
            message = f"'{both[0]}' is a server of '{name}' and mounts it: Lustre can deadlock when memory is short"
            yield Finding(_CODE, ("storage", name, "clients"), message, "use other nodes as servers", key=True)
