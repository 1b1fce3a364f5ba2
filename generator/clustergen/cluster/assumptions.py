"""Assumptions of a valid manifest: unconfirmed hardware, and packages that a site has to build."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.host import HostsFile
from clustergen.cluster.ip_networks import node_of, resolved
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.nvlink import domain_nodes, domains_of
from clustergen.cluster.slurm.builds import from_distribution
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.words import counted, on_one_line
from clustergen.hostlist import compress
from clustergen.hostlist.addresses import host_of
from clustergen.records import record

_SHORT_NAME = re.compile(r"(?=.*[a-z])[a-z0-9-]+", re.IGNORECASE)
_ROLES = ("slurm-controller", "slurm-accounting", "slurm-compute", "login")


@record
class Assumption:
    """`code` and `path` are those of its diagnostic; `hint` begins with a verb and says how to replace the values."""

    code: str
    path: ManifestPath
    subject: str
    message: str
    hint: str


def assumptions(cluster: Cluster) -> Iterator[Assumption]:
    """Of all node types in use, then of Slurm's packages."""
    for node_type in cluster.node_types:
        yield from filter(None, (of_hardware(cluster, node_type), of_gpu_places(cluster, node_type)))
        yield from _of_domains(cluster, node_type)
    yield from _of_servers(cluster)
    if not cluster.has(Slurm) or not cluster.manages("daemons"):
        return
    systems = {group.type.os.id: group.type.os for group in cluster.groups if any(map(group.has, _ROLES))}
    lacking = [name for name, os in systems.items() if not from_distribution(cluster, os)]
    if lacking and cluster.slurm.build == "auto":
        yield Assumption(
            "slurm-packages-lacking",
            ("slurm", "version"),
            "Slurm's packages",
            f"no distribution package of Slurm {cluster.slurm.release} exists for {', '.join(lacking)}",
            "build SchedMD's packages and set repositories_slurm_url (clustergen explain slurm-packages-lacking)"
            + _release_of(systems[name] for name in lacking),
        )


def _release_of(systems: Iterable[OperatingSystem]) -> str:
    """The way out where the distributions have another release, the same for all nodes."""
    offered = list(systems)
    releases = {SlurmRelease(os.fact("slurm")) for os in offered}
    if len(releases) > 1 or not releases <= set(slurm.read_releases()):
        return ""
    if not all(os.yes("slurm_cgroup_v2") for os in offered):  # another error
        return ""
    return f', or use version: "{min(releases)}", the release of the distribution'


def of_hardware(cluster: Cluster, node_type: NodeType) -> Assumption | None:
    """Values of slurm.conf that come from unconfirmed rows of the catalogue; None where the manifest sets them all."""
    system = cluster.catalogue.system(node_type.system) if node_type.is_resolved and node_type.system else None
    if system is None:
        return None
    values, fields = [], []
    if "cpu" in system.unverified and "cpu.cores_per_socket" not in node_type.stated:
        sockets, cores = node_type.sockets, node_type.cores_per_socket
        values.append(f"{counted(sockets, 'socket')} of {cores} cores")
        fields.append(f"cpu: {{sockets: {sockets}, cores_per_socket: {cores}}}")
    if "memory_mib" in system.unverified and node_type.stated.isdisjoint(("memory", "real_memory")):
        values.append(f"RealMemory {node_type.real_memory_mib} MiB")
        fields.append(f"real_memory: {node_type.real_memory_mib}")
    if not values:
        return None
    return Assumption(
        "hardware-unconfirmed",
        ("node_types", node_type.name),
        f"node type {node_type.name}",
        f"no source confirms {' and '.join(values)} of {system.id}",
        f"run slurmd -C on a node, and set what it shows in node type {node_type.name}: {', '.join(fields)}",
    )


def of_gpu_places(cluster: Cluster, node_type: NodeType) -> Assumption | None:
    """`Cores` in gres.conf that follow from an assumed place of the GPUs; None where they have none, or all cores."""
    gpus = node_type.gpus
    if gpus is None or not gpus.places_assumed or not gpus.cores or node_type.slurm_sockets == 1:
        return None
    if (
        not cluster.has(Slurm)
        or cluster.slurm.bare
        or gpus.autodetect != "off"
        or any(gpus.mig)
        or cluster.slurm.gres_lines is not None
    ):
        return None
    what, places = ("NUMA node", gpus.numa) if gpus.numa else ("socket", gpus.sockets)
    whose = f"the GPU of '{node_type.name}' is"
    if gpus.count > 1:
        what, whose = f"{what}s", f"the {gpus.count} GPUs of '{node_type.name}' are"
    message = f"the {what} of {whose}"
    numa = f"gpus.numa: {list(gpus.numa)}" if gpus.numa else f"gpus.numa with {gpus.count} numbers"
    return Assumption(
        "gpu-place-unknown",
        ("node_types", node_type.name),
        f"GPUs of node type {node_type.name}",
        f"{message} assumed: {', '.join(map(str, places))}",
        f"run nvidia-smi topo -m on a node and set {numa}, as it shows them under NUMA Affinity",
    )


def _of_domains(cluster: Cluster, node_type: NodeType) -> Iterator[Assumption]:
    """NVLink domains that follow from the order of the nodes, as no rack contains them or one has several domains."""
    domains = domains_of(cluster, node_type)
    assumed = {name: hosts for name, hosts in domains.items() if name not in {rack.name for rack in cluster.racks}}
    if len(assumed) > 1:
        (first, hosts), (second, others) = list(assumed.items())[:2]
        racks = {first: {"nodes": compress(hosts)}, second: {"nodes": compress(others)}}
        yield Assumption(
            "nvlink-domain-assumed",
            ("node_types", node_type.name),
            f"NVLink domains of node type {node_type.name}",
            f"the racks of '{node_type.name}' are assumed to have {domain_nodes(node_type)} nodes each, in the order of"
            f" the manifest: {compress(hosts)}, {compress(others)}{', …' if len(assumed) > 2 else ''}",
            f"add racks: {on_one_line(racks)}{', and the others' if len(assumed) > 2 else ''}",
        )


def _of_servers(cluster: Cluster) -> Iterator[Assumption]:
    """Servers by a name without a domain that is in no file of the nodes, so that a mount waits for DNS."""
    if not cluster.of(HostsFile).is_rendered:
        return
    for name, entry in cluster.storage.items():
        hosts = (host_of(source.partition(":/")[0].partition("@")[0].strip("[]")) for source in entry.sources)
        unknown = [
            host
            for host in hosts
            if _SHORT_NAME.fullmatch(host) and node_of(cluster, host) is None and resolved(cluster, host) is None
        ]
        if unknown:
            several = len(unknown) > 1
            yield Assumption(
                "server-name-assumed",
                ("storage", name),
                f"servers of {name}",
                f"{', '.join(unknown)} {'are' if several else 'is'} in no file of the nodes, and assumed to be in DNS:"
                f" '{name}' is mounted only where {'these names resolve' if several else 'the name resolves'}",
                f"add host.extra_hosts: {{ADDRESS: [{unknown[0]}]}}, or write the full name or the address",
            )
