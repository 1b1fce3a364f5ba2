"""Reads a rendered tree from disk, by its lock file alone, and says where it is not as it was rendered."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from clustergen.diagnostics import ClustergenError
from clustergen.hostlist import HostlistError, expand
from clustergen.render.tree import LOCK, LOCK_FORMAT

INVENTORY = "inventory/hosts.ini"
VARIABLES = "inventory/group_vars/all.yml"

_SECTION = re.compile(r"\[([^]:]+)(?::(\w+))?\]")
_RANGE = re.compile(r"\[(\w+):(\w+)\]")
_OVERLAY = re.compile(r"overlays/[^/]+(/.+)")


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Inventory:
    """Groups with their hosts, and the variables that stand in a host's line."""

    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hosts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def by_host(self) -> dict[str, frozenset[str]]:
        """The groups of every host, `all` and its own name among them."""
        found: dict[str, list[str]] = {host: ["all", host] for host in self.hosts}
        for group, hosts in self.groups.items():
            for host in hosts:
                found.setdefault(host, ["all", host]).append(group)
        return {host: frozenset(groups) for host, groups in found.items()}


@dataclass(frozen=True)
class TreeFolder:
    """A tree on disk. `differences` says in whole sentences where it is not what was rendered."""

    folder: Path
    entries: Mapping[str, Entry]
    differences: tuple[str, ...]

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
            found = yaml.safe_load(entry.text) if entry else {}
        except yaml.YAMLError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def slurm_release(self) -> str:
        return str(self.variables.get("slurm_release", ""))

    @property
    def controllers(self) -> tuple[str, ...]:
        found = self.variables.get("slurm_controllers")
        return tuple(map(str, found)) if isinstance(found, list) else ()


def read_tree(folder: Path) -> TreeFolder:
    """Raises ClustergenError where there is no lock file, or one that this version cannot read."""
    if not folder.is_dir():
        raise ClustergenError(f"{folder} is not a folder", hint="name the folder of a rendered tree")
    listed = _listed(folder / LOCK)
    entries: dict[str, Entry] = {}
    differences: list[str] = []
    for path, facts in listed.items():
        place = folder / path
        try:
            content = place.read_bytes()
            executable = bool(place.stat().st_mode & 0o100)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            differences.append(f"{path}: the lock file names it, and it is not there")
            continue
        except OSError as err:
            raise ClustergenError(f"{place}: {err.strerror}") from None
        entry = _entry(folder, path, content, facts)
        if hashlib.sha256(content).hexdigest() != facts.get("sha256"):
            differences.append(f"{path}: not as rendered; it was changed by hand, or the lock file was")
        elif executable != bool(entry.mode & 0o100):
            differences.append(f"{path}: {'' if executable else 'not '}executable, unlike as rendered")
        entries[path] = entry
    for path in _overlay_files(folder):
        if path not in listed:
            differences.append(f"{path}: lies among the files of the tree, and the lock file does not name it")
            if match := _OVERLAY.fullmatch(path):
                content, mode = (folder / path).read_bytes(), (folder / path).stat().st_mode & 0o777
                entries[path] = Entry(path, content, path.split("/")[1], match[1], mode)
    return TreeFolder(folder, entries, tuple(differences))


def _listed(lock: Path) -> dict[str, dict[str, Any]]:
    try:
        document = json.loads(lock.read_bytes())
        if document["format"] != LOCK_FORMAT:
            raise ClustergenError(f"{lock} has format {document['format']}, this version reads {LOCK_FORMAT}")
        files: dict[str, dict[str, Any]] = document["files"]
        for path, facts in files.items():
            for part in (path, str(facts.get("target", "")).lstrip("/")):
                if part.startswith("/") or ".." in part.split("/"):
                    raise ClustergenError(f"{lock} names {part}, which lies outside of the tree")
    except FileNotFoundError:
        raise ClustergenError(
            f"{lock.parent} has no {LOCK}, so it is no tree that clustergen rendered",
            hint=f"clustergen render MANIFEST -o {lock.parent}",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as err:
        raise ClustergenError(f"{lock} cannot be read: {err}", hint="render the tree again") from None
    return files


def _entry(folder: Path, path: str, content: bytes, facts: Mapping[str, Any]) -> Entry:
    try:
        mode = int(facts.get("mode", "0644"), 8)
    except (TypeError, ValueError):
        raise ClustergenError(f"{folder / LOCK}: {path} has the mode {facts.get('mode')!r}") from None
    return Entry(path, content, facts.get("group"), facts.get("target"), mode, str(facts.get("source", "")))


def _overlay_files(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder / "overlays"):
        folders.sort()
        for name in sorted(names):
            yield os.path.relpath(os.path.join(parent, name), folder)  # noqa: PTH118 - plain strings


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
