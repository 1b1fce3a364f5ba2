"""One side of a diff: a tree as it would be applied, from a manifest or from a rendered directory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from clustergen import regular_file
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ClustergenError
from clustergen.diff.inventory import Inventory, of_cluster, of_files
from clustergen.diff.room_tables import FACILITY, Tables
from clustergen.feature import modules
from clustergen.manifest.source import Source, load
from clustergen.records import copied
from clustergen.regular_file import reason_of
from clustergen.render.access import reading
from clustergen.render.effects import read
from clustergen.render.inventory_file import HOSTS, VARIABLES
from clustergen.render.lock_file import Entry, LockFile, LockFileError, read_lock, without_lock
from clustergen.render.node_hardware import Hardware, read_hardware
from clustergen.render.side import NodeFile
from clustergen.render.tree import FILE_LIMIT, LOCK, Tree

_VARIABLES = "inventory/group_vars/"


@dataclass(eq=False)
class Snapshot:
    """The inventory, the files, and the manifest if it is available."""

    name: str
    inventory: Inventory
    files: Mapping[str, NodeFile]
    """Files that go on nodes, by path in the tree."""
    texts: Mapping[str, str]
    """Other files that a diff compares, by path: tables of the machine room, and what features compare."""
    variables: Mapping[str, str]
    """The inventory's variables of groups, by path."""
    source: Source | None
    commit: str = ""
    """The short id of the commit that it was read from."""
    hardware: Mapping[str, Hardware] = field(default_factory=dict)
    """Inventory group of a node type → its hardware."""

    @cached_property
    def tables(self) -> Tables:
        """Of the machine room."""
        tables = {path.removeprefix(FACILITY): text for path, text in self.texts.items() if path.startswith(FACILITY)}
        return Tables(self.name, tables)

    @property
    def cluster(self) -> str:
        """The name of the cluster."""
        return self.inventory.cluster

    @cached_property
    def by_group(self) -> dict[str, tuple[NodeFile, ...]]:
        collected: dict[str, list[NodeFile]] = {}
        for file in self.files.values():
            collected.setdefault(file.group, []).append(file)
        return {group: tuple(files) for group, files in collected.items()}

    def of_groups(self, groups: tuple[str, ...]) -> dict[str, NodeFile]:
        """Target → file, of a host with these groups."""
        return {file.target: file for group in groups for file in self.by_group.get(group, ())}


def of_tree(name: str, tree: Tree, cluster: Cluster, source: Source) -> Snapshot:
    files = {
        file.path: copied(
            NodeFile,
            file,
            mode=f"{file.mode:04o}",
            owner=f"{file.owner}:{file.owner_group}",
            content=lambda content=file.content: content,
        )
        for file in tree
        if file.group is not None and file.target is not None
    }
    texts = {file.path: file.content.decode() for file in tree if _is_compared(file.path)}
    variables = {file.path: file.content.decode() for file in tree if file.path.startswith(_VARIABLES)}
    inventory = of_cluster(cluster, tree.groups)
    return Snapshot(
        name=name,
        inventory=inventory,
        files=files,
        texts=texts,
        variables=variables,
        source=source,
        hardware=tree.hardware,
    )


def _is_compared(path: str) -> bool:
    """True if it is data of the machine room, and no picture or page made from it, or a feature compares it."""
    is_of_room = path.startswith(FACILITY) and path.endswith((".csv", ".yaml"))
    return is_of_room or any(path in getattr(module, "TEXTS", ()) for module in modules("effects"))


def of_directory(name: str, directory: Path, commit: str = "") -> Snapshot:
    """A rendered tree on disk. ClustergenError where it is none, or was not made by a clustergen like this one.

    `commit`: the short id of the commit that it is read from; empty outside of git.
    """
    with reading(directory):
        return _of_directory(name, directory, commit)


def _of_directory(name: str, directory: Path, commit: str) -> Snapshot:
    lock = read_lock(directory, name)
    if lock is None:
        raise without_lock(directory, name)
    try:
        files = {path: _node_file(directory / path, entry) for path, entry in lock["files"].items() if "group" in entry}
        texts = {path: _text(directory / path) for path in lock["files"] if _is_compared(path)}
        variables = {path: _text(directory / path) for path in lock["files"] if path.startswith(_VARIABLES)}
        inventory = of_files(_text(directory / HOSTS), _text(directory / VARIABLES))
        lost = next((path for path, file in files.items() if file.group not in inventory.groups), None)
        if lost is not None:
            raise ValueError(f"{lost} is for a group that {HOSTS} lacks")
    except OSError as err:
        where = err.filename and Path(err.filename).relative_to(directory)
        if commit and isinstance(err, FileNotFoundError):
            hint = f"git add {name.partition(':')[2] or '.'} && git commit"
            raise ClustergenError(f"commit {commit} lacks {where}, which its lock file lists", hint) from None
        raise ClustergenError(f"{name}: {where}: {reason_of(err)}", "render the tree again") from None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as err:
        what = f"{LOCK} or the inventory is not in clustergen's format"
        raise ClustergenError(f"{name}: {what}: {_message(err)}", "render the tree again") from None
    hardware = {group: read_hardware(group, entry) for group, entry in lock["hardware"].items()}
    return Snapshot(
        name=name,
        inventory=inventory,
        files=files,
        texts=texts,
        variables=variables,
        source=_manifest(name, directory, lock),
        commit=commit,
        hardware=hardware,
    )


def _node_file(path: Path, entry: Entry) -> NodeFile:
    """The file as it is on disk: a tree that was edited by hand is compared with its edits."""
    content = regular_file.read(path, FILE_LIMIT)
    return NodeFile(
        target=entry["target"],
        group=entry["group"],
        mode=entry["mode"],
        owner=entry["owner"],
        effect=read(entry["effect"]),
        sha256=sha256(content).hexdigest(),
        content=lambda: content,
    )


def _text(path: Path) -> str:
    return regular_file.read(path, FILE_LIMIT).decode()


def _message(err: Exception) -> str:
    if isinstance(err, KeyError):
        return f"there is no {err.args[0]!r}"
    if isinstance(err, UnicodeDecodeError):
        return "a value is not text"
    return str(err) if isinstance(err, ValueError) else "a value has an unexpected type"


def is_fresh(directory: Path, manifest: Path) -> bool:
    """True if a directory holds the tree of a manifest that has the same meaning."""
    lock = _lock(directory)
    return lock is not None and _is_of(lock, load(manifest))


def manifest_name(directory: Path) -> str | None:
    """The manifest's name in the headers of a tree's files."""
    lock = _lock(directory)
    return lock["manifest"]["name"] if lock else None


def _lock(directory: Path) -> LockFile | None:
    """None also where it cannot be read: reading the whole tree reports why."""
    try:
        return read_lock(directory)
    except LockFileError:
        return None


def _manifest(name: str, directory: Path, lock: LockFile) -> Source | None:
    """The manifest beside a tree, if it is the one that the tree was made from."""
    path = Path(os.path.realpath(directory)).parent / lock["manifest"]["name"]
    if not path.is_file():
        return None
    shown = str(Path(name).parent / path.name) if name.endswith(directory.name) else path.name
    source = load(path, shown)
    return source if _is_of(lock, source) else None


def _is_of(lock: LockFile, source: Source) -> bool:
    return bool(source.meaning) and source.meaning == lock["manifest"]["meaning"]
