"""Settings of all nodes that several features refer to, as resolved: a record per topic."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.records import record


@record
class UserLimits:
    """Limits of users and services."""

    SECTIONS = ("Host",)
    memlock_bytes: int | None  # None: unlimited
    nofile: int
    journal_bytes: int  # most of a node's journal


@record
class KernelSettings:
    """Settings of the kernel."""

    SECTIONS = ("Host",)
    sysctl: Mapping[str, str]  # settings of the manifest, which take the place of others
    huge_pages: int  # of 2 MiB each


@record
class HostsFile:
    """/etc/hosts."""

    is_rendered: bool  # the tree has the file
    extra: Mapping[str, tuple[str, ...]]  # names by address, beside those of nodes


@record
class Firewall:
    """The firewall of the nodes."""

    opens: bool  # firewalld allows the cluster's networks every port
    closes: bool  # nftables drops what no service uses


@record
class FileCache:
    """The cache of NFS files. Absent: no node type in use has a disk with `use: cache`."""

    types: tuple[str, ...]  # node types whose nodes have it
    device: str  # path, LABEL= or UUID=
    filesystem: str
    brun: int  # percent
    bcull: int
    bstop: int


@record
class NodeLogins:
    """Who may log in to compute nodes."""

    SECTIONS = ("Host",)
    needs_job: bool  # users can ssh only to nodes where they have a job
    admin_group: str | None  # its members can ssh to all nodes
