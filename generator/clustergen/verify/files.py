"""Reads a rendered tree from disk, by its lock file alone, and says where it is not as it was rendered."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from clustergen import regular_file
from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import HostlistError, expand
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.access import reading
from clustergen.render.lock_file import Entry as LockEntry
from clustergen.render.lock_file import read_lock, without_lock
from clustergen.render.node_hardware import Hardware, read_hardware
from clustergen.render.tree import FILE_LIMIT

INVENTORY = "inventory/hosts.ini"
VARIABLES = "inventory/group_vars/all.yml"

_SECTION = re.compile(r"\[([^]:]+)(?::(\w+))?\]")
_RANGE = re.compile(r"\[(\w+):(\w+)\]")
_OVERLAY = re.compile(r"overlays/[^/]+(/.+)")


@record
class Entry:
    """A file of the tree that is there, as the lock file tells of it. `target` is its path on the node, if any."""

    path: str
    content: bytes
    group: str | None = None
    target: str | None = None
    mode: int = 0o644
    source: str = ""

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", errors="replace")


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


@record
class TreeDirectory:
    """A tree on disk. `differences` says in whole sentences where it is not what was rendered."""

    directory: Path
    entries: Mapping[str, Entry]
    differences: tuple[str, ...]
    hardware: Mapping[str, Hardware] = MappingProxyType({})
    """Inventory group of a node type → its hardware."""
    extensions: Mapping[str, str] = MappingProxyType({})
    """Extensions that rendered a part of it: name → package and version."""

    @cached_property
    def inventory(self) -> Inventory:
        entry = self.entries.get(INVENTORY)
        return read_inventory(entry.text) if entry else Inventory()

    @cached_property
    def variables(self) -> Mapping[str, Any]:
        """Ansible's variables of all hosts; nothing where that file cannot be read, which is a row of its own."""
        import yaml

        entry = self.entries.get(VARIABLES)
        try:
            document = yaml.safe_load(entry.text) if entry else {}
        except yaml.YAMLError:
            return {}
        return document if isinstance(document, dict) else {}

    @property
    def slurm_release(self) -> str:
        return str(self.variables.get("slurm_release", ""))

    @property
    def controllers(self) -> tuple[str, ...]:
        controllers_value = self.variables.get("slurm_controllers")
        return tuple(map(str, controllers_value)) if isinstance(controllers_value, list) else ()


def read_tree(directory: Path) -> TreeDirectory:
    """Raises ClustergenError where there is no lock file, or one that this version cannot read."""
    if not directory.is_dir():
        raise ClustergenError(f"{directory} is not a directory", hint="pass the directory of a rendered tree")
    with reading(directory):
        return _read_tree(directory)


def _read_tree(directory: Path) -> TreeDirectory:
    lock = read_lock(directory)
    if lock is None:
        raise without_lock(directory)
    listed = lock["files"]
    entries: dict[str, Entry] = {}
    differences: list[str] = []
    for path, facts in listed.items():
        try:
            content, executable = _read(directory / path)
        except (FileNotFoundError, NotADirectoryError):
            differences.append(f"{path}: missing, but listed in the lock file")
            continue
        except regular_file.NotRegularError as err:
            differences.append(f"{path}: {reason_of(err)}")
            continue
        entry = _entry(path, content, facts)
        if hashlib.sha256(content).hexdigest() != facts["sha256"]:
            differences.append(f"{path}: differs from the lock file: one of the two was edited by hand")
        elif executable != bool(entry.mode & 0o100):
            differences.append(f"{path}: {'' if executable else 'not '}executable, unlike when it was rendered")
        entries[path] = entry
    for path in _overlay_files(directory):
        if path not in listed:
            differences.append(f"{path}: not listed in the lock file")
            if match := _OVERLAY.fullmatch(path):
                try:
                    content, executable = _read(directory / path)
                except regular_file.NotRegularError:
                    continue
                entries[path] = Entry(path, content, path.split("/")[1], match[1], 0o755 if executable else 0o644)
    hardware = {group: read_hardware(group, document) for group, document in lock["hardware"].items()}
    return TreeDirectory(directory, entries, tuple(differences), hardware, lock.get("extensions", {}))


def _read(place: Path) -> tuple[bytes, bool]:
    """The content of a regular file, and whether it can be executed."""
    try:
        with regular_file.opened(place) as (descriptor, status):
            return regular_file.content_of(descriptor, FILE_LIMIT, place), bool(status.st_mode & 0o100)
    except (FileNotFoundError, NotADirectoryError, regular_file.NotRegularError):
        raise
    except OSError as err:
        raise ClustergenError(f"{place}: {reason_of(err)}") from None


def _entry(path: str, content: bytes, facts: LockEntry) -> Entry:
    mode = int(facts.get("mode", "0644"), 8)
    return Entry(path, content, facts.get("group"), facts.get("target"), mode, facts.get("source", ""))


def _overlay_files(directory: Path) -> Iterator[str]:
    for parent, directories, names in os.walk(directory / "overlays"):
        directories.sort()
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]  # noqa: PTH114, PTH118
        for name in sorted([*names, *links]):
            yield os.path.relpath(os.path.join(parent, name), directory)  # noqa: PTH118 - plain strings


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
