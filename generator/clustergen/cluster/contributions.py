"""Contributions of features to files of others: functions of their modules `needs` yield these records.

    def daemons(cluster: Cluster) -> Iterator[Daemon]: …

A function is found by its type, and `cluster.needs(Daemon)` returns what all of them yield, in the order of features.
"""

from __future__ import annotations

from typing import Literal

from clustergen.cluster.listener import Listener
from clustergen.records import record

Source = Literal["cluster", "compute", "controllers", "anyone"]


@record
class Daemon(Listener):
    """A daemon that listens on a TCP port: for the firewall, and for the rule that no two daemons want one port."""

    name: str
    group: str  # of the nodes on which it runs
    source: Source = "cluster"  # of its connections


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
