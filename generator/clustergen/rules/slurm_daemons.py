"""Which Slurm runs where: releases, controllers, accounting, ports."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.operating_systems import OperatingSystem, operating_systems
from clustergen.catalogue.versions import SlurmRelease, since
from clustergen.cluster.entry import Entry
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.scheduling import Preemption, Priority
from clustergen.diagnostics import Finding, ManifestPath, quote
from clustergen.slurmrules.keys import unread

REQUIRES = "slurm"
MOST_NODES = 65536  # MAX_SLURM_NODES


def own_release(os: OperatingSystem) -> SlurmRelease:
    return SlurmRelease(os.fact("slurm"))


def place_of_os(group: NodeGroup) -> ManifestPath:
    """Where the manifest says which system the nodes of a group have."""
    return ("node_types", group.type.name, "os") if "os" in group.type.stated else ("os",)


def release_known(cluster: Cluster) -> Iterator[Finding]:
    path: ManifestPath = ("slurm", "version")
    if cluster.slurm.release not in slurm.releases():
        names = ", ".join(str(release) for release in slurm.releases() if release.has("cgroup-v2"))
        yield Finding(
            "slurm-release-unknown",
            path,
            f"Slurm {cluster.slurm.release} is not in the catalogue",
            f"use one of {names}",
        )
    elif not cluster.slurm.release.has("cgroup-v2"):
        yield Finding(
            "slurm-release-too-old",
            path,
            f"Slurm {cluster.slurm.release} does not support cgroup v2, which every operating system of the catalogue"
            " uses",
            f"use {since('cgroup-v2')} or newer",
        )
    elif remark := unread(cluster.slurm.release):
        yield Finding(remark.code, path, remark.message, remark.hint)


def slurm_not_in_distribution(cluster: Cluster) -> Iterator[Finding]:
    if cluster.slurm.build != "distribution":
        return
    controller = cluster.with_role("slurm-controller")
    os = controller[0].type.os if controller else cluster.os
    if own_release(os) != cluster.slurm.release:
        others = [name for name, other in operating_systems().items() if own_release(other) == cluster.slurm.release]
        and_where = (
            f" ({' and '.join(others)} {'has' if len(others) == 1 else 'have'} {cluster.slurm.release})"
            if others
            else ""
        )
        yield Finding(
            "slurm-not-in-distribution",
            ("slurm", "version"),
            f"{os.id} provides Slurm {own_release(os)}, not {cluster.slurm.release}",
            f'set version: "{own_release(os)}", or build: schedmd{and_where}',
        )


def slurm_releases_apart(cluster: Cluster) -> Iterator[Finding]:
    """slurmdbd must be as new as slurmctld, slurmctld as new as slurmd and the commands, and each not much newer."""
    if cluster.slurm.build != "distribution":
        return
    reported: set[tuple[str, str]] = set()
    mine, controller = cluster.slurm.release, cluster.with_role("slurm-controller")
    first = own_release(controller[0].type.os if controller else cluster.os)
    for group in cluster.groups:
        theirs = own_release(group.type.os)
        if theirs in (mine, first):  # of a release that the controller does not have either, another rule reports it
            continue
        if group.has("slurm-controller"):
            daemon, fits = "slurmctld", group.hosts[0] == cluster.slurm.controllers[0]  # the first is another rule's
        elif group.has("slurm-accounting"):
            daemon, fits = "slurmdbd", bool(slurm.accepts(theirs, mine))
        elif group.has("slurm-compute"):
            daemon, fits = "slurmd", bool(slurm.accepts(mine, theirs))
        elif group.has("login"):
            daemon, fits = "the commands", bool(slurm.accepts(mine, theirs))
        else:
            continue
        if fits or (group.type.name, daemon) in reported:
            continue
        reported.add((group.type.name, daemon))
        yield Finding(
            "slurm-releases-apart",
            place_of_os(group),
            f"{group.type.os.id} installs {daemon} {theirs} on {group.folded}, {_why_apart(mine, theirs, daemon)}",
            "use the same operating system on all nodes, or set build: schedmd for the same release everywhere",
        )


def _why_apart(mine: SlurmRelease, theirs: SlurmRelease, daemon: str) -> str:
    if daemon == "slurmctld":
        return f"but the first controller has {mine}, and both require the same release"
    if daemon == "slurmdbd":
        order = "older than slurmctld" if theirs < mine else "too new for slurmctld"
        return f"which is {order} {mine}"
    older = [str(release) for release in sorted(slurm.releases().get(mine, ())) if release != mine]
    return f"but slurmctld {mine} accepts only {', '.join(older[:-1])} and {older[-1]} besides its own release"


def slurm_without_cgroup_v2(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.compute:
        os = group.type.os
        if from_distribution(cluster, os) and not os.yes("slurm_cgroup_v2") and cluster.slurm.release.has("cgroup-v2"):
            yield Finding(
                "slurm-without-cgroup-v2",
                place_of_os(group),
                f"slurmd {own_release(os)} of {os.id} does not support cgroup v2, which {os.id} uses",
                "set build: schedmd",
            )
            return


def controllers(cluster: Cluster) -> Iterator[Finding]:
    hosts = cluster.slurm.controllers
    if not hosts:
        yield Finding(
            "controller-missing",
            ("nodes",),
            "no node runs slurmctld",
            "add the role slurm-controller to a node",
            key=True,
        )
    if not cluster.compute:
        yield Finding(
            "compute-missing",
            ("nodes",),
            "no node runs jobs",
            "add the role slurm-compute to some nodes; nodes of a node type have it unless you set roles",
            key=True,
        )
    if len(hosts) < 2:
        return
    place = cluster.slurm.state_location
    if cluster.slurm.state_shared:
        return
    if cluster.slurm.state_location_at is None:
        yield Finding(
            "state-not-shared",
            ("nodes", cluster.with_role("slurm-controller")[-1].index, "roles"),
            f"{len(hosts)} controllers require a state directory that both can read and write",
            "set slurm: {state_location: …} to a directory on a file system that both mount",
        )
        return
    groups = cluster.with_role("slurm-controller")
    shared = [entry for entry in cluster.storage.values() if entry.is_shared and _below(place, entry)]
    outside = [group for group in groups if not any(map(group.is_client, shared))]
    if outside:
        yield Finding(
            "state-not-shared",
            ("slurm", "state_location"),
            f"'{place}' is not on a file system that both controllers mount",
            f"add a storage entry with clients: [slurm-controller], mounted at {place} or above",
        )


def _below(place: str, entry: Entry) -> bool:
    return (place + "/").startswith(entry.mount.rstrip("/") + "/")


def accounting_hint(cluster: Cluster) -> str:
    hosts = cluster.slurm.controllers
    return f"add slurm-accounting to the roles of {hosts[0] if hosts else 'a service node'}"


def needs_accounting(cluster: Cluster) -> Iterator[Finding]:
    if cluster.slurm.keeps_books:
        return
    hint = accounting_hint(cluster)

    def missing(path: ManifestPath, what: str, *, key: bool = False) -> Finding:
        return Finding("accounting-missing", path, f"{what} slurmdbd, which no node runs", hint, key=key)

    if cluster.of(Preemption).by == "qos":
        yield missing(("slurm", "preemption", "by"), "preemption by QOS requires")
    if cluster.slurm.release.has("depth-oblivious-crashes"):
        for index, flag in enumerate(cluster.of(Priority).flags):
            if flag.upper() == "DEPTH_OBLIVIOUS":
                yield missing(("slurm", "priority", "flags", index), "DEPTH_OBLIVIOUS requires")
    for partition in cluster.slurm.partitions:
        path: ManifestPath = ("slurm", "partitions", partition.name)
        for field in ("qos", "allow_qos", "allow_accounts"):
            if getattr(partition, field):
                yield missing((*path, field), f"{field} of a partition requires", key=True)
        for option in partition.options if cluster.slurm.release.has("accounting-qos-of-partition") else ():
            if option.lower() in ("qos", "allowqos", "denyqos"):
                yield missing((*path, "options", option), f"{option} requires", key=True)


def slurm_user_root(cluster: Cluster) -> Iterator[Finding]:
    if cluster.slurm.user == "root":
        yield Finding(
            "slurm-user-root",
            ("slurm", "user"),
            "slurmctld and slurmdbd would run as root, which they do not need",
            "remove it to use the user slurm",
        )


def too_many_nodes(cluster: Cluster) -> Iterator[Finding]:
    if (count := sum(len(group.hosts) for group in cluster.compute)) > MOST_NODES:
        yield Finding(
            "too-many-nodes",
            ("nodes",),
            f"{count:,} compute nodes; Slurm manages at most {MOST_NODES:,} in one cluster",
            "create several clusters and join them with Slurm's multi-cluster operation",
            key=True,
        )


def compute_without_hardware(cluster: Cluster) -> Iterator[Finding]:
    for group in cluster.compute:
        if group.type.is_builtin and group.is_type_known:
            yield Finding(
                "compute-without-hardware",
                ("nodes", group.index, "type"),
                f"{quote(group.folded)} runs jobs, but its type 'service' has no CPUs and memory, which Slurm requires",
                "define its hardware under node_types, or remove the role slurm-compute",
            )
