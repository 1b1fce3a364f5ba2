"""Which Slurm runs where: releases, builds, plugins, controllers, accounting."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.storage import Mount

OLDEST = SlurmRelease("22.05")  # the first with cgroup v2 and shards


def own_release(os: OperatingSystem) -> SlurmRelease:
    return SlurmRelease(os.fact("slurm"))


def uses_distribution(cluster: Cluster, os: OperatingSystem) -> bool:
    """Whether a node of that system gets its distribution's packages."""
    build = cluster.manifest.slurm.build
    return build == "distribution" or (build == "auto" and own_release(os) == cluster.release)


def release_known(cluster: Cluster) -> Iterator[Finding]:
    known = slurm.releases()
    if cluster.release not in known:
        names = ", ".join(str(release) for release in known if release >= OLDEST)
        yield Finding(
            "slurm-release-unknown",
            ("slurm", "version"),
            f"nothing is known of Slurm {cluster.release}",
            f"known are {names}",
        )
    elif cluster.release < OLDEST:
        yield Finding(
            "slurm-release-too-old",
            ("slurm", "version"),
            f"Slurm {cluster.release} has no cgroup v2",
            f"{OLDEST} or newer",
        )


def distribution_release(cluster: Cluster) -> Iterator[Finding]:
    if cluster.manifest.slurm.build != "distribution":
        return
    controller = cluster.with_role("slurm-controller")
    os = controller[0].type.os if controller else cluster.os
    if own_release(os) != cluster.release:
        yield Finding(
            "slurm-not-in-distribution",
            ("slurm", "version"),
            f"{os.id} comes with Slurm {own_release(os)}, not {cluster.release}",
            "say build: schedmd for SchedMD's own packaging, or the distribution's release",
        )


def releases_talk(cluster: Cluster) -> Iterator[Finding]:
    """slurmctld takes slurmd and clients of the releases in its window only."""
    if cluster.manifest.slurm.build != "distribution":
        return
    told = set()
    for group in cluster.groups:
        if not (group.has("slurm-compute") or group.has("login")) or group.type.name in told:
            continue
        theirs = own_release(group.type.os)
        if theirs == cluster.release:
            continue
        told.add(group.type.name)
        path = (
            ("node_types", group.type.name, "os")
            if group.type.name in cluster.manifest.node_types
            else ("nodes", group.index, "type")
        )
        if not slurm.accepts(cluster.release, theirs):
            yield Finding(
                "slurm-releases-apart",
                path,
                f"{group.type.os.id} comes with Slurm {theirs}, which a slurmctld {cluster.release} does not talk to",
                "the same system on all nodes, or build: schedmd",
            )


def cgroup_v2(cluster: Cluster) -> Iterator[Finding]:
    for kind in cluster.node_types:
        if uses_distribution(cluster, kind.os) and not kind.os.yes("slurm_cgroup_v2"):
            yield Finding(
                "slurm-without-cgroup-v2",
                ("slurm", "build"),
                f"the Slurm {own_release(kind.os)} of {kind.os.id} knows no cgroup v2, which the system uses",
                "say build: schedmd with a newer version",
            )
            return


def plugins_lacking(cluster: Cluster) -> Iterator[Finding]:
    """Plugins that the distribution's own build does not have."""
    written = cluster.manifest.slurm
    for kind in cluster.node_types:
        if not uses_distribution(cluster, kind.os):
            continue
        lacking = f"the Slurm build of {kind.os.id} has no"
        if written.mpi_default == "pmix" and kind.os.fact("slurm_pmix") in ("", "no"):
            yield Finding(
                "slurm-plugin-lacking", ("slurm", "mpi_default"), f"{lacking} PMIx plugin", "pmi2, or build: schedmd"
            )
        if written.auth == "slurm" and not kind.os.yes("slurm_auth_slurm"):
            yield Finding(
                "slurm-plugin-lacking", ("slurm", "auth"), f"{lacking} auth/slurm plugin", "munge, or build: schedmd"
            )
        if written.topology.plugin == "block" and not kind.os.yes("slurm_topology_block"):
            yield Finding(
                "slurm-plugin-lacking",
                ("slurm", "topology", "plugin"),
                f"{lacking} topology/block plugin",
                "tree, or build: schedmd",
            )
        detect = kind.gpus.autodetect if kind.gpus else "off"
        if detect != "off" and not kind.os.yes(f"slurm_gpu_{detect}"):
            yield Finding(
                "slurm-plugin-lacking",
                ("node_types", kind.name, "gpus", "autodetect"),
                f"{lacking} gpu/{detect} plugin",
                "off, with the files named, or build: schedmd with one that has it",
            )


def too_new(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm
    if written.auth == "slurm" and cluster.release < SlurmRelease("23.11"):
        yield Finding(
            "slurm-feature-too-new",
            ("slurm", "auth"),
            f"auth/slurm exists from 23.11 on; this is {cluster.release}",
            "munge",
        )
    for kind in cluster.node_types:
        detect = kind.gpus.autodetect if kind.gpus else "off"
        known = slurm_values.plugin("AutoDetect", detect)
        if known and known.state(cluster.release) == "too-new":
            yield Finding(
                "slurm-feature-too-new",
                ("node_types", kind.name, "gpus", "autodetect"),
                f"AutoDetect={detect} exists from {known.since} on; this is {cluster.release}",
            )


def controllers(cluster: Cluster) -> Iterator[Finding]:
    hosts = cluster.controllers
    if not hosts:
        yield Finding(
            "controller-missing",
            ("nodes",),
            "no node has the role slurm-controller",
            "give it to the head node",
            key=True,
        )
    if not cluster.compute:
        yield Finding("compute-missing", ("nodes",), "no node runs jobs", "give some the role slurm-compute", key=True)
    if len(hosts) < 2:
        return
    place = cluster.manifest.slurm.state_location
    path = ("slurm", "state_location")
    if place is None:
        yield Finding(
            "state-not-shared",
            path,
            f"{len(hosts)} controllers need a directory that both see and write",
            "say slurm: {state_location: …} on a file system that all controllers mount",
        )
        return
    shared = [entry for entry in cluster.manifest.storage.values() if entry.type != "local" and _below(place, entry)]
    groups = cluster.with_role("slurm-controller")
    if not any(any(group.has(role) for role in entry.clients) for entry in shared for group in groups):
        yield Finding(
            "state-not-shared",
            path,
            f"'{place}' is on no file system that the controllers mount",
            "add a storage entry with clients: [slurm-controller]",
        )


def _below(place: str, entry: Mount) -> bool:
    return (place + "/").startswith(entry.mount.rstrip("/") + "/")


def accounting(cluster: Cluster) -> Iterator[Finding]:
    written = cluster.manifest.slurm
    hosts = cluster.accounting_hosts
    if len(hosts) > 2:
        yield Finding(
            "accounting-too-many",
            ("nodes",),
            f"{len(hosts)} nodes have the role slurm-accounting; there is one slurmdbd and one backup",
            key=True,
        )
    if len(hosts) == 2 and written.accounting.database_host == "localhost":
        yield Finding(
            "database-not-shared",
            ("slurm", "accounting", "database_host"),
            "two slurmdbd with a database each would keep two sets of books",
            "name the host of one database for both",
        )
    if hosts:
        return
    for name in ("qos", "accounts"):
        if getattr(written, name):
            yield Finding(
                "accounting-missing",
                ("slurm", name),
                f"{name} need slurmdbd, and no node has the role slurm-accounting",
                key=True,
            )
    if written.preemption.by == "qos":
        yield Finding(
            "accounting-missing",
            ("slurm", "preemption", "by"),
            "preemption by QOS needs slurmdbd, and no node has the role slurm-accounting",
        )


def ports(cluster: Cluster) -> Iterator[Finding]:
    defaults = {"slurmctld": 6817, "slurmd": 6818, "slurmdbd": 6819}
    taken: dict[int, str] = {}
    for name, port in (defaults | dict(cluster.manifest.slurm.ports)).items():
        if port in taken:
            yield Finding(
                "port-twice", ("slurm", "ports", name), f"{name} and {taken[port]} cannot both listen on port {port}"
            )
        taken.setdefault(port, name)


def user(cluster: Cluster) -> Iterator[Finding]:
    if cluster.manifest.slurm.user == "root":
        yield Finding(
            "slurm-user-root",
            ("slurm", "user"),
            "slurmctld and slurmdbd need not be root, and should not be",
            "leave it out for 'slurm'",
        )


RULES = (
    release_known,
    distribution_release,
    releases_talk,
    cgroup_v2,
    plugins_lacking,
    too_new,
    controllers,
    accounting,
    ports,
    user,
)
