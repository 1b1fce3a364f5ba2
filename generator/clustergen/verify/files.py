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
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.access import reading
from clustergen.render.inventory_file import HOSTS, VARIABLES, Inventory, read_inventory
from clustergen.render.lock_file import Entry as LockEntry
from clustergen.render.lock_file import read_lock, without_lock
from clustergen.render.node_hardware import Hardware, read_hardware
from clustergen.render.tree import FILE_LIMIT

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

    def write(self, place: Path) -> None:
        """Writes the content to a file, and creates the directories above it."""
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(self.content)


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
        entry = self.entries.get(HOSTS)
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
    return Entry(
        path=path,
        content=content,
        group=facts.get("group"),
        target=facts.get("target"),
        mode=mode,
        source=facts.get("source", ""),
    )


def _overlay_files(directory: Path) -> Iterator[str]:
    for parent, directories, names in os.walk(directory / "overlays"):
        directories.sort()
        links = [name for name in directories if os.path.islink(os.path.join(parent, name))]  # noqa: PTH114, PTH118
        for name in sorted([*names, *links]):
            yield os.path.relpath(os.path.join(parent, name), directory)  # noqa: PTH118 - plain strings
