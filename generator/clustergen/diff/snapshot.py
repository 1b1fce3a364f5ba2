"""One side of a diff: a tree as it would be applied, from a manifest or from a rendered directory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from clustergen import regular_file
from clustergen.catalogue.operating_systems import architectures, operating_systems
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.groups import group_name
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ClustergenError
from clustergen.diff.room_tables import FACILITY, Tables
from clustergen.manifest.source import MAX_BYTES, Source, load
from clustergen.records import record
from clustergen.render.access import reading
from clustergen.render.effects import Effect, read
from clustergen.render.lock_file import Entry, LockFile, LockFileError, read_lock
from clustergen.render.tree import FILE_LIMIT, LOCK, Tree


@record
class NodeFile:
    """A file of the tree that goes on nodes."""

    target: str
    group: str
    mode: str
    owner: str
    effect: Effect
    sha256: str
    content: Callable[[], bytes]

    @property
    def text(self) -> str:
        return self.content().decode("utf-8", "surrogateescape")

    @property
    def same_as(self) -> tuple[str, str, str]:
        """Equal for files that are equal on a node."""
        return self.sha256, self.mode, self.owner


@dataclass(eq=False)
class Snapshot:
    """The files that go on nodes, the hosts of each group, and the manifest where it can be had."""

    name: str
    files: Mapping[str, NodeFile]
    """By path in the tree."""
    groups: Mapping[str, tuple[str, ...]]
    systems: Mapping[str, str]
    """Operating system by host."""
    addresses: Mapping[str, str]
    """By host, where the inventory looks for it; none where DNS alone knows."""
    release: SlurmRelease
    cluster: str
    source: Source | None
    tables: Tables
    """Of the machine room."""
    provisioning: str = ""
    """nodes.conf of a Warewulf server; empty without one."""
    commit: str = ""
    """The short id of the commit that it was read from."""

    @cached_property
    def by_group(self) -> dict[str, tuple[NodeFile, ...]]:
        collected: dict[str, list[NodeFile]] = {}
        for file in self.files.values():
            collected.setdefault(file.group, []).append(file)
        return {group: tuple(files) for group, files in collected.items()}

    @cached_property
    def hosts(self) -> dict[str, tuple[str, ...]]:
        """Host → its groups, in the manifest's order."""
        groups_of_hosts: dict[str, list[str]] = {host: ["all"] for host in self.groups["all"]}
        for group, hosts in self.groups.items():
            if group != "all":
                for host in hosts:
                    groups_of_hosts[host].append(group)
        return {host: tuple(groups) for host, groups in groups_of_hosts.items()}

    def of_groups(self, groups: tuple[str, ...]) -> dict[str, NodeFile]:
        """Target → file, of a host with these groups."""
        return {file.target: file for group in groups for file in self.by_group.get(group, ())}


def of_tree(name: str, tree: Tree, cluster: Cluster, source: Source) -> Snapshot:
    files = {
        file.path: NodeFile(
            file.target,
            file.group,
            f"{file.mode:04o}",
            f"{file.owner}:{file.owner_group}",
            file.effect,
            file.sha256,
            lambda content=file.content: content,  # type: ignore[misc]
        )
        for file in tree
        if file.group is not None and file.target is not None
    }
    systems = {host: group.type.os.key for group in cluster.groups for host in group.hosts}
    addresses = {
        host: where for group in cluster.groups for host, where in zip(group.hosts, group.addresses, strict=False)
    }
    tables = {file.path.removeprefix(FACILITY): file.content.decode() for file in tree if _is_table(file.path)}
    return Snapshot(
        name,
        files,
        tree.groups,
        systems,
        addresses,
        cluster.release,
        cluster.name,
        source,
        Tables(name, tables),
        tree.files[_WAREWULF].content.decode() if _WAREWULF in tree.files else "",
    )


def _is_table(path: str) -> bool:
    """Whether a file is data of the machine room, and no picture or page made from it."""
    return path.startswith(FACILITY) and path.endswith((".csv", ".yaml"))


def of_directory(name: str, directory: Path) -> Snapshot:
    """A rendered tree on disk. ClustergenError where it is none, or was not made by a clustergen like this one."""
    with reading(directory):
        return _of_directory(name, directory)


def _of_directory(name: str, directory: Path) -> Snapshot:
    lock = read_lock(directory, name)
    if lock is None:
        raise ClustergenError(f"{name}: {LOCK} is missing", "render the tree again")
    try:
        files = {path: _node_file(directory / path, entry) for path, entry in lock["files"].items() if "group" in entry}
        tables = {path.removeprefix(FACILITY): _text(directory / path) for path in lock["files"] if _is_table(path)}
        inventory = _text(directory / _HOSTS)
        groups, systems = _groups(inventory)
        provisioning = _text(directory / _WAREWULF) if _WAREWULF in lock["files"] else ""
        facts = _facts(_text(directory / "inventory/group_vars/all.yml"))
        release, cluster = SlurmRelease(facts["slurm_release"]), facts["cluster_name"]
        lost = next((path for path, file in files.items() if file.group not in groups), None)
        if lost is not None:
            raise ValueError(f"{lost} is for a group that {_HOSTS} lacks")
    except OSError as err:
        where = err.filename and Path(err.filename).relative_to(directory)
        raise ClustergenError(f"{name}: {where}: {(err.strerror or '').lower()}", "render the tree again") from None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as err:
        what = f"{LOCK} or the inventory is not in clustergen's format"
        raise ClustergenError(f"{name}: {what}: {_message(err)}", "render the tree again") from None
    source, addresses = _manifest(name, directory, lock), dict(_ADDRESS.findall(inventory))
    room = Tables(name, tables)
    return Snapshot(name, files, groups, systems, addresses, release, cluster, source, room, provisioning)


def _node_file(path: Path, entry: Entry) -> NodeFile:
    """The file as it is on disk: a tree that was edited by hand is compared with its edits."""
    content = regular_file.read(path, FILE_LIMIT)
    return NodeFile(
        entry["target"],
        entry["group"],
        entry["mode"],
        entry["owner"],
        read(entry["effect"]),
        sha256(content).hexdigest(),
        lambda: content,
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
    """Whether a directory holds the tree of this very manifest."""
    lock = _lock(directory)
    try:
        raw = regular_file.read(manifest, MAX_BYTES, follow_links=True)
    except OSError:
        return False
    return lock is not None and lock["manifest"]["sha256"] == sha256(raw).hexdigest()


def manifest_name(directory: Path) -> str | None:
    """As the headers of a tree's files call its manifest."""
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
    return source if source.sha256 == lock["manifest"]["sha256"] and source.data is not None else None


_WAREWULF = "warewulf/nodes.conf"
_HOSTS = "inventory/hosts.ini"
_ADDRESS = re.compile(r"^(\S+)[^#\n]*? ansible_host=(\S+)", re.MULTILINE)
_RANGE = re.compile(r"\[(\d+):(\d+)\]")


def _groups(text: str) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Group → hosts, and host → operating system, of an inventory as clustergen writes it."""
    direct: dict[str, list[str]] = {"all": []}
    children: dict[str, list[str]] = {}
    members: list[str] = direct["all"]
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            group, _, kind = line.strip("[]").partition(":")
            members = (children if kind else direct).setdefault(group, [])
        elif line:
            word = line.split()[0]
            members += _expanded(word)
    order = {host: index for index, host in enumerate(direct["all"])}

    def hosts(group: str) -> Iterator[str]:
        yield from direct.get(group, ())
        for child in children.get(group, ()):
            yield from hosts(child)

    ids = {"os_" + group_name(os.key): os.key for arch in architectures() for os in operating_systems(arch).values()}
    names = [group for group in {**direct, **children} if not group.startswith("os_")]
    systems = {host: ids.get(group, group) for group in children if group.startswith("os_") for host in hosts(group)}
    return {group: tuple(sorted(set(hosts(group)), key=order.__getitem__)) for group in names}, systems


def _expanded(pattern: str) -> list[str]:
    match = _RANGE.search(pattern)
    if match is None:
        return [pattern]
    low, high = match.groups()
    width = len(low)
    numbers = (str(number).zfill(width) for number in range(int(low), int(high) + 1))
    return [name for n in numbers for name in _expanded(pattern[: match.start()] + n + pattern[match.end() :])]


def _facts(text: str) -> dict[str, str]:
    """The plain values of group_vars/all.yml."""
    import yaml

    try:
        facts = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ValueError("group_vars/all.yml is not valid YAML") from None
    return {key: str(value) for key, value in facts.items() if isinstance(value, str | int)}
