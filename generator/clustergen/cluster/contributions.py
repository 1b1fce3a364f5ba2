"""Contributions of features to files of others: functions of their modules `needs` yield these records.

    def daemons(cluster: Cluster) -> Iterator[Daemon]: …

A function is found by its type, and `cluster.needs(Daemon)` returns what all of them yield, in the order of features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from clustergen.cluster.listener import Listener
from clustergen.diagnostics import ManifestPath
from clustergen.records import record

if TYPE_CHECKING:
    from clustergen.cluster.model import NodeGroup

Source = Literal["cluster", "compute", "controllers", "anyone"]


@record
class Daemon(Listener):
    """A daemon that listens on a TCP port: for the firewall, and for the rule that no two daemons want one port."""

    name: str
    group: str  # of the nodes on which it runs
    source: Source | None = "cluster"  # of its connections; None: the ports of an entry of storage have it


@record
class Requisite:
    """Something that the site supplies before a tree is applied, for the tree's README."""

    what: str
    groups: tuple[str, ...]  # of the nodes that need it
    supply: str  # where to put it


@record
class Certificate:
    """A file with a certificate that a daemon of some nodes reads; an alert reports that it expires."""

    path: str


@record
class Exported:
    """Metrics that a program of ours writes for the node exporter."""

    metrics: tuple[str, ...]


@record
class Package:
    """A package of a group's nodes, by its purpose: the files of operating systems turn it into names."""

    group: str
    purpose: str


@record
class Group:
    """A group of nodes by what they are, beside those of roles and of storage entries."""

    name: str
    has: Callable[[NodeGroup], bool]


@record
class FirstBoot:
    """User data of cloud-init that is in the tree, by which nodes of a group install themselves."""

    group: str
    systems: tuple[str, ...]  # keys of operating systems that have it


@record
class SafeWriter:
    """A program that runs as root and writes where another account may, so that it needs clustergen-write."""

    name: str


@record
class Use:
    """The access that a daemon needs to a path."""

    noun: str
    """What lies there, in a message."""
    example: str
    """A path that suits it: the default, where clustergen has one."""
    lost: str = ""
    """What follows when it disappears or is another user's; empty where it may."""
    outlives_boot: bool = True
    is_directory: bool = True
    of_administrator: bool = False
    """Whether it may lie in a subdirectory of /etc."""
    role: str = ""
    """Of the nodes that write there; empty: of slurmctld, slurmd or slurmdbd, by the name."""
    per_node: bool = False
    """Whether Slurm puts the node's name in the place of %n and %h."""
    is_private: bool = False
    """Whether every node needs its own."""


@record
class WrittenPath:
    """A path of the manifest that a daemon or program writes. `name`: of the daemon or entry, for the words."""

    at: ManifestPath
    path: str
    use: Use
    name: str = ""
