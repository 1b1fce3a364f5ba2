"""Kernel settings of all nodes, each with its reason; what the manifest states takes the place of ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.contributions import Sysctl
from clustergen.cluster.host import KernelSettings
from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import Network
from clustergen.records import copied, record
from clustergen.render.effects import SYSCTL
from clustergen.render.file import Context, File

_MIB = 1 << 20
_STATED = "stated in the manifest"


@record
class Setting:
    key: str
    value: str
    why: str


@record
class Topic:
    title: str
    settings: tuple[Setting, ...]


def kernel(cluster: Cluster, os: OperatingSystem) -> Context:
    stated = {_normal(key): (key, value) for key, value in cluster.of(KernelSettings).sysctl.items()}
    topics = []
    by_title = {
        "Memory": [*_memory(cluster)],
        "Network": [*_network(cluster)],
        "Several fabric interfaces in a node": [*_rails(cluster)],
        "Large clusters": [*_scale(cluster)],
    }
    for need in cluster.needs(Sysctl):
        if need.family in ("", os.fact("family")):
            by_title.setdefault(need.title, []).append(copied(Setting, need))
    for title, settings in by_title.items():
        rows = tuple(_in_place(setting, stated) for setting in settings)
        if rows:
            topics.append(Topic(title, rows))
    if stated:
        topics.append(Topic("More from the manifest", tuple(Setting(key, value, "") for key, value in stated.values())))
    return {"topics": tuple(topics), "width": max(len(row.key) for topic in topics for row in topic.settings)}


def _normal(key: str) -> str:
    """The kernel takes a/b/c for a.b.c, and then a dot stands for itself."""
    first = next((letter for letter in key if letter in "./"), ".")
    key = key.removeprefix("-")
    return key if first == "." else key.translate(str.maketrans("/.", "./"))


def _in_place(setting: Setting, stated: dict[str, tuple[str, str]]) -> Setting:
    override = stated.pop(_normal(setting.key.removeprefix("-")), None)
    return Setting(override[0], override[1], _STATED) if override else setting


def _memory(cluster: Cluster) -> Iterator[Setting]:
    yield Setting(
        "kernel.numa_balancing",
        "0",
        "page migration stalls threads; Slurm already binds jobs to NUMA nodes",
    )
    yield Setting("vm.zone_reclaim_mode", "0", "use remote NUMA memory rather than reclaim local page cache")
    if pages := cluster.of(KernelSettings).huge_pages:
        yield Setting(
            "vm.nr_hugepages", str(pages), f"{pages * 2} MiB of 2 MiB pages, reserved as early as possible after boot"
        )
    yield Setting("kernel.pid_max", "4194304", "the default of 32768 is too low for hundreds of cores")


def _network(cluster: Cluster) -> Iterator[Setting]:
    rate = fastest_gbit(cluster)
    most = tcp_buffer(rate)
    reason = f"holds 1 ms at {rate} Gb/s" if rate else "holds 1 ms at 100 Gb/s"
    yield Setting("net.core.rmem_max", str(most), f"maximum that a program can request; {reason}")
    yield Setting("net.core.wmem_max", str(most), "like the receive buffer, for sending")
    yield Setting(
        "net.ipv4.tcp_rmem",
        f"4096 131072 {most}",
        "minimum, initial and maximum buffer of a connection; TCP grows it automatically",
    )
    yield Setting("net.ipv4.tcp_wmem", f"4096 65536 {most}", "like the receive buffer, for sending")
    if rate and rate >= 40:
        yield Setting(
            "net.core.netdev_max_backlog",
            "250000",
            "packets queued per core; from 40 Gb/s on a burst overflows the default of 1000",
        )


def fastest_gbit(cluster: Cluster) -> int | None:
    """Gb/s of the fastest network that carries TCP, where the manifest says; InfiniBand does where it has addresses."""
    networks = cluster.networks
    carriers: list[Network | None] = [networks.management, networks.storage]
    if networks.fabric and (networks.fabric.type != "infiniband" or any(group.fabric for group in cluster.groups)):
        carriers.append(networks.fabric)
    return max((network.rate_gbit for network in carriers if network and network.rate_gbit), default=None)


def tcp_buffer(rate: int | None) -> int:
    """Bytes that a millisecond of `rate` Gb/s takes, as a power of two between 16 and 64 MiB."""
    window = (rate or 100) * 125_000
    size = 16 * _MIB
    while size < window and size < 64 * _MIB:
        size *= 2
    return size


def _rails(cluster: Cluster) -> Iterator[Setting]:
    """By default a node answers ARP for all its addresses on every interface: traffic ends up on the wrong rail."""
    if max((len(group.fabric) for group in cluster.groups), default=0) < 2:
        return
    yield Setting("net.ipv4.conf.all.arp_ignore", "1", "reply only for addresses of the receiving interface")
    yield Setting("net.ipv4.conf.all.arp_announce", "2", "use the address of the sending interface")
    yield Setting("net.ipv4.conf.all.rp_filter", "2", "loose: a reply can arrive on another rail")


def _scale(cluster: Cluster) -> Iterator[Setting]:
    neighbours = _addresses(cluster)
    if neighbours["ipv4"] + neighbours["ipv6"] > 400:
        for family, count in neighbours.items():
            least = 1 << (count - 1).bit_length() if count else 0
            for number, factor, why in (
                (1, 1, f"{count} addresses can be neighbours of a node; below this, entries are kept"),
                (2, 2, "above this, the oldest entries are dropped after five seconds"),
                (3, 4, "above this: neighbour table overflow"),
            ):
                if count:
                    yield Setting(f"net.{family}.neigh.default.gc_thresh{number}", str(max(least, 512) * factor), why)
    if cluster.host_count > 500:
        yield Setting(
            "net.ipv4.tcp_max_syn_backlog", "8192", "hundreds of slurmds connect to the controller at the same time"
        )


def _addresses(cluster: Cluster) -> Mapping[str, int]:
    """How many addresses of each family the node's networks have; those of the BMCs are the business of a router."""
    counts = {"ipv4": 0, "ipv6": 0}
    for group in cluster.groups:
        for addresses in (group.addresses, group.storage, *group.fabric):
            if addresses:
                counts["ipv6" if ":" in addresses[0] else "ipv4"] += len(addresses)
    return counts


FILES = (File("all/etc/sysctl.d/90-clustergen.conf", kernel, SYSCTL, per="os"),)
