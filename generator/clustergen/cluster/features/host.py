"""The operating system of all nodes as resolved, a record per topic."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import record


@record
class TimeZone:
    """The nodes' time zone, as `Europe/Berlin`. Absent: left as it is on each node."""

    name: str


@record
class Chrony:
    """Absent: the clock is not configured."""

    ntp: tuple[str, ...]  # servers that the controllers ask


@record
class UserLimits:
    """Limits of users and services. `memlock_bytes`: None is unlimited."""

    memlock_bytes: int | None
    nofile: int


@record
class KernelSettings:
    """`sysctl`: settings of the manifest, which take the place of others. `huge_pages`: of 2 MiB each."""

    sysctl: Mapping[str, str]
    huge_pages: int


@record
class HostsFile:
    """/etc/hosts. `extra`: names by address, which the file has beside the nodes'."""

    is_rendered: bool
    extra: Mapping[str, tuple[str, ...]]


@record
class Firewall:
    """`opens`: firewalld allows the cluster's networks every port; `closes`: nftables drops what no service uses."""

    opens: bool
    closes: bool


@record
class NodeLogins:
    """`needs_job`: users can ssh only to nodes where they have a job. `admin_group`: its members can to all nodes."""

    needs_job: bool
    admin_group: str | None


def resolve_time_zone(manifest: Manifest, _: Cluster) -> TimeZone | None:
    name = manifest.host.timezone
    return TimeZone(name) if name else None


def resolve_chrony(manifest: Manifest, cluster: Cluster) -> Chrony | None:
    """A single machine without time servers of its own keeps what its distribution has set up."""
    ntp = manifest.networks.management.ntp
    return Chrony(ntp) if manifest.host.chrony and (cluster.host_count > 1 or ntp) else None


def resolve_limits(manifest: Manifest, _: Cluster) -> UserLimits:
    memlock = manifest.host.memlock
    return UserLimits(None if memlock == "unlimited" else memlock.value, manifest.host.nofile)


def resolve_kernel(manifest: Manifest, _: Cluster) -> KernelSettings:
    host = manifest.host
    return KernelSettings({key: str(value) for key, value in host.sysctl.items()}, host.hugepages)


def resolve_hosts_file(manifest: Manifest, _: Cluster) -> HostsFile:
    return HostsFile(manifest.host.hosts_file, manifest.host.extra_hosts)


def resolve_firewall(manifest: Manifest, _: Cluster) -> Firewall:
    firewall = manifest.host.firewall
    return Firewall(bool(firewall), firewall == "nftables")


def resolve_logins(manifest: Manifest, _: Cluster) -> NodeLogins:
    return NodeLogins(manifest.host.ssh_adopt, manifest.host.admin_group)
