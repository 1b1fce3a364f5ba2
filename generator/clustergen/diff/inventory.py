"""The contents of a tree's inventory: the cluster, its Slurm release, and the nodes with groups, systems and
addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any

from clustergen.catalogue.operating_systems import architectures, operating_systems
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.groups import group_name
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.model import Slurm
from clustergen.records import record
from clustergen.render.inventory_file import read_inventory


@record
class Inventory:
    """The nodes of a cluster, as Ansible's inventory lists them."""

    cluster: str
    release: SlurmRelease | None
    """None: the cluster has no Slurm."""
    groups: Mapping[str, tuple[str, ...]]
    """Hosts by group, in the manifest's order; `all` has every host."""
    systems: Mapping[str, str] = {}
    """Operating system by host."""
    addresses: Mapping[str, str] = {}
    """By host; only hosts that Ansible does not look up in DNS."""

    @cached_property
    def hosts(self) -> dict[str, tuple[str, ...]]:
        """Host → its groups, in the manifest's order."""
        groups_of_hosts: dict[str, list[str]] = {host: ["all"] for host in self.groups["all"]}
        for group, hosts in self.groups.items():
            if group != "all":
                for host in hosts:
                    groups_of_hosts[host].append(group)
        return {host: tuple(groups) for host, groups in groups_of_hosts.items()}


def of_cluster(cluster: Cluster, groups: Mapping[str, tuple[str, ...]]) -> Inventory:
    """The inventory that a render of the cluster writes; `groups` are those of its tree."""
    systems = {host: group.type.os.key for group in cluster.groups for host in group.hosts}
    addresses = {
        host: where for group in cluster.groups for host, where in zip(group.hosts, group.addresses, strict=False)
    }
    return Inventory(cluster.name, cluster.slurm.release if cluster.has(Slurm) else None, groups, systems, addresses)


def of_files(hosts: str, variables: str) -> Inventory:
    """The inventory of a tree on disk, from the texts of HOSTS and VARIABLES.

    KeyError, TypeError, AttributeError, ValueError or RecursionError where they are not in clustergen's format.
    """
    facts, inventory = _facts(variables), read_inventory(hosts)
    order = {host: index for index, host in enumerate(inventory.hosts)}
    ids = {"os_" + group_name(os.key): os.key for arch in architectures() for os in operating_systems(arch).values()}
    groups, systems = {"all": inventory.groups["all"]}, dict[str, str]()
    for group, members in inventory.groups.items():
        if group.startswith("os_"):
            systems.update(dict.fromkeys(members, ids.get(group, group)))
        else:
            groups[group] = tuple(sorted(members, key=order.__getitem__))
    addresses = {host: values["ansible_host"] for host, values in inventory.hosts.items() if "ansible_host" in values}
    release = SlurmRelease(facts["slurm_release"]) if "slurm_release" in facts else None
    return Inventory(facts["cluster_name"], release, groups, systems, addresses)


@lru_cache(maxsize=64)
def variables_of(text: str) -> Any:
    """The variables of a group: a mapping if the text is in clustergen's format. ValueError if it is not valid YAML."""
    import yaml

    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError:
        raise ValueError("group_vars/all.yml is not valid YAML") from None


def _facts(text: str) -> dict[str, str]:
    """The plain values of group_vars/all.yml."""
    return {key: str(value) for key, value in variables_of(text).items() if isinstance(value, str | int)}
