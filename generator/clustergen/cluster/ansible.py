"""How the nodes are reached, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record

_MOST_FORKS = 100  # that one controller bears


@record
class Ssh(Listener):
    """How the nodes are reached."""

    SECTIONS = ("Ansible",)
    user: str
    jump: str | None


@record
class Ansible:
    """Ansible's settings."""

    become: bool
    python: str
    forks: int  # hosts on which it works at the same time
    variables: Mapping[str, str | int | bool | float]  # the site's own


def resolve_ssh(manifest: Manifest, _: Cluster) -> Ssh:
    section = manifest.ansible
    return copied(Ssh, section, port_at=stated_at(section, "ansible", "port"))


def resolve(manifest: Manifest, cluster: Cluster) -> Ansible:
    section = manifest.ansible
    return Ansible(
        become=section.user != "root" if section.become is None else section.become,
        python=section.python or "/usr/bin/python3",  # named, so that no node is asked for it first
        forks=section.forks or min(_MOST_FORKS, max(5, cluster.host_count)),
        variables=section.variables,
    )
