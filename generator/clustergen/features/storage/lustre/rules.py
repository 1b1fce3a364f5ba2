"""Lustre: names, indices of targets, client parameters and layouts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue import storage as catalogue
from clustergen.catalogue.storage import LustreTunable
from clustergen.cluster.groups import clients_of
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.features.storage.lustre.lnet import gateway_nids, lnet_nets, server_nids
from clustergen.features.storage.lustre.resolved import Component, Lustre
from clustergen.features.storage.lustre.routers import ROLE

_FSNAME = re.compile(r"[A-Za-z0-9_-]{1,8}")
_STRIPE_UNIT = 65536
_REQUESTS = "mdc.*.max_rpcs_in_flight"
_CHANGES = "mdc.*.max_mod_rpcs_in_flight"


def lustre_fsname(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Lustre).items():
        fsname = entry.fsname
        if not _FSNAME.fullmatch(fsname):
            long = len(fsname) > 8
            yield Finding(
                "lustre-fsname",
                entry.fsname_at or ("storage", name),
                f"'{fsname}' has {len(fsname)} characters; a Lustre fsname has at most 8"
                if long
                else f"'{fsname}' is not a valid Lustre fsname: use letters, digits, - and _",
                "run `lctl dl` on a server and use the name before -MDT0000"
                if entry.fsname_at
                else "set fsname to the name that the servers use",
                key=not entry.fsname_at,
            )


def lustre_kernel(cluster: Cluster) -> Iterator[Finding]:
    """A client that the kernel of a node's operating system is too new for: its module does not build."""
    for entry in cluster.entries(Lustre).values():
        if entry.version_at is None or entry.vendor_build:
            continue
        groups = (*clients_of(cluster, entry.name), *cluster.with_role(ROLE))
        for os in {group.type.os.id: group.type.os for group in groups}.values():
            least = catalogue.lustre_client(os)
            if entry.release() < least:
                release = ".".join(map(str, least))
                yield Finding(
                    "lustre-kernel",
                    entry.version_at,
                    f"the Lustre {entry.version} client does not support kernel {os.fact('lustre_kernel')} of {os.id};"
                    f" {os.fact('lustre_client')} is the first that does",
                    f'write version: "{release}", or vendor_build: true for a build that supports this kernel',
                )


def lustre_index(cluster: Cluster) -> Iterator[Finding]:
    """An index is needed, once for its kind, and counts on over all servers."""
    for name, entry in cluster.entries(Lustre).items():
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
    for name, entry in cluster.entries(Lustre).items():
        release = entry.release()
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
            elif wrong := _wrong(key, tunable, value):
                yield Finding("lustre-parameter-value", path, wrong, _pages(tunable, value))
        requests, changes = entry.parameters.get(_REQUESTS), entry.parameters.get(_CHANGES)
        if requests and changes and requests.isdigit() and changes.isdigit() and int(changes) >= int(requests):
            yield Finding(
                "lustre-parameter-value",
                ("storage", name, "parameters", _CHANGES),
                f"{_CHANGES} must be less than {_REQUESTS} ({requests}), not {changes}",
                f"set at most {int(requests) - 1}",
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


def lustre_striping(cluster: Cluster) -> Iterator[Finding]:
    for name, entry in cluster.entries(Lustre).items():
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
        if part.end is None:
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
    servers = [host for host, net in server_nids(entry) if net in nets]
    return servers or [host for host, net in gateway_nids(entry) if net in nets]
