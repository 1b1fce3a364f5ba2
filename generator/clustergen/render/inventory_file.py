"""Reads the Ansible inventory of a rendered tree: its groups, hosts and the variables in their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from clustergen.hostlist import HostlistError, expand
from clustergen.records import record

HOSTS = "inventory/hosts.ini"
VARIABLES = "inventory/group_vars/all.yml"
_SECTION = re.compile(r"\[([^]:]+)(?::(\w+))?\]")
_RANGE = re.compile(r"\[(\w+):(\w+)\]")


@record
class Inventory:
    """Groups with their hosts, and the variables that stand in a host's line."""

    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    hosts: Mapping[str, Mapping[str, str]] = MappingProxyType({})

    def by_host(self) -> dict[str, frozenset[str]]:
        """The groups of every host, `all` and its own name among them."""
        groups_of_hosts: dict[str, list[str]] = {host: ["all", host] for host in self.hosts}
        for group, hosts in self.groups.items():
            for host in hosts:
                groups_of_hosts.setdefault(host, ["all", host]).append(group)
        return {host: frozenset(groups) for host, groups in groups_of_hosts.items()}


def read_inventory(text: str) -> Inventory:
    """The groups of an Ansible inventory in INI form, as far as clustergen writes them: hosts, ranges, children."""
    hosts: dict[str, dict[str, str]] = {}
    direct: dict[str, list[str]] = {}
    children: dict[str, list[str]] = {}
    section, kind = "", ""
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith(("#", ";")):
            continue
        if match := _SECTION.fullmatch(line.strip()):
            section, kind = match[1], match[2] or ""
            direct.setdefault(section, [])
        elif kind == "children":
            children.setdefault(section, []).append(words[0])
        elif kind == "":
            names = _names(words[0])
            direct.setdefault(section, []).extend(names)
            variables = dict(word.partition("=")[::2] for word in words[1:])
            for name in names:
                hosts.setdefault(name, {}).update(variables)
    groups = {name: tuple(dict.fromkeys(_members(name, direct, children, ()))) for name in direct if name}
    return Inventory({**groups, "all": tuple(hosts)}, hosts)


def _members(
    group: str, direct: Mapping[str, list[str]], children: Mapping[str, list[str]], above: tuple[str, ...]
) -> Iterator[str]:
    yield from direct.get(group, ())
    for child in children.get(group, ()):
        if child not in above:  # a group within itself is for Ansible to complain of
            yield from _members(child, direct, children, (*above, group))


def _names(pattern: str) -> list[str]:
    """`compute[01:08]` is Ansible's way to write a range; what is none stands for itself."""
    try:
        return list(expand(_RANGE.sub(r"[\1-\2]", pattern)))
    except HostlistError:
        return [pattern]
