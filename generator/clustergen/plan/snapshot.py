"""One side of a diff: a tree as it would be applied, from a manifest or from a rendered folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.groups import group_name
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ClustergenError
from clustergen.manifest.source import Source, load
from clustergen.records import record
from clustergen.render.effects import Effect, read
from clustergen.render.tree import LOCK, LOCK_FORMAT, Tree


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


class Snapshot:
    """The files that go on nodes, the hosts of each group, and the manifest where it can be had."""

    def __init__(
        self,
        name: str,
        files: Mapping[str, NodeFile],
        groups: Mapping[str, tuple[str, ...]],
        release: SlurmRelease,
        cluster: str,
        source: Source | None,
        systems: Mapping[str, str],
    ) -> None:
        self.name = name
        self.files = files  # by path in the tree
        self.groups = groups
        self.release = release
        self.cluster = cluster
        self.source = source
        self.systems = systems  # host → operating system

    @cached_property
    def by_group(self) -> dict[str, tuple[NodeFile, ...]]:
        found: dict[str, list[NodeFile]] = {}
        for file in self.files.values():
            found.setdefault(file.group, []).append(file)
        return {group: tuple(files) for group, files in found.items()}

    @cached_property
    def hosts(self) -> dict[str, tuple[str, ...]]:
        """Host → its groups, in the manifest's order."""
        found: dict[str, list[str]] = {host: ["all"] for host in self.groups["all"]}
        for group, hosts in self.groups.items():
            if group != "all":
                for host in hosts:
                    found[host].append(group)
        return {host: tuple(groups) for host, groups in found.items()}

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
    systems = {host: group.type.os.id for group in cluster.groups for host in group.hosts}
    return Snapshot(name, files, tree.groups, cluster.release, cluster.name, source, systems)


def of_folder(name: str, folder: Path) -> Snapshot:
    """A rendered tree on disk. ClustergenError where it is none, or was not made by a clustergen like this one."""
    lock = _lock(name, folder)
    try:
        files = {
            path: NodeFile(
                entry["target"],
                entry["group"],
                entry["mode"],
                entry["owner"],
                read(entry["effect"]),
                _hash(_inside(folder, path)),
                (folder / path).read_bytes,
            )
            for path, entry in lock["files"].items()
            if "group" in entry
        }
        groups, systems = _groups((folder / _HOSTS).read_text(encoding="utf-8"))
        facts = _facts((folder / "inventory/group_vars/all.yml").read_text(encoding="utf-8"))
        release, cluster = SlurmRelease(facts["slurm_release"]), facts["cluster_name"]
        lost = next((path for path, file in files.items() if file.group not in groups), None)
        if lost is not None:
            raise ValueError(f"{lost} is for a group that {_HOSTS} lacks")
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as err:
        what = f"{LOCK} or the inventory is not as clustergen writes it"
        raise ClustergenError(f"{name}: {what}: {_said(err)}", "render the tree again") from None
    except OSError as err:
        where = err.filename and Path(err.filename).relative_to(folder)
        raise ClustergenError(f"{name}: {where}: {(err.strerror or '').lower()}", "render the tree again") from None
    return Snapshot(name, files, groups, release, cluster, _manifest(name, folder, lock), systems)


def _said(err: Exception) -> str:
    if isinstance(err, KeyError):
        return f"there is no {err.args[0]!r}"
    if isinstance(err, UnicodeDecodeError):
        return "there is something that is no text"
    return str(err) if isinstance(err, ValueError) else "something of it has another form"


def _inside(folder: Path, path: str) -> Path:
    if ".." in Path(path).parts or Path(path).is_absolute():
        raise ValueError(f"{path} is outside the tree")
    return folder / path


def _lock(name: str, folder: Path) -> dict[str, Any]:
    try:
        lock = json.loads((folder / LOCK).read_bytes())
        known = lock["format"] == LOCK_FORMAT and isinstance(lock["files"], dict)
    except (OSError, ValueError, KeyError, TypeError) as err:
        why = (err.strerror or "").lower() if isinstance(err, OSError) else "it is not as clustergen writes it"
        raise ClustergenError(f"{name}: {LOCK} cannot be read: {why}", "render the tree again") from None
    if not known:
        hint = f"this clustergen reads format {LOCK_FORMAT}: render the tree again with it, or name the manifest"
        raise ClustergenError(f"{name}: {LOCK} is of another version of clustergen", hint)
    found: dict[str, Any] = lock
    return found


def is_fresh(folder: Path, manifest: Path) -> bool:
    """Whether a folder holds the tree of this very manifest."""
    try:
        stated = json.loads((folder / LOCK).read_bytes())["manifest"]["sha256"]
        return bool(stated == _hash(manifest))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _hash(path: Path) -> str:
    """Of the file itself: a tree that was edited by hand is compared as it stands."""
    return sha256(path.read_bytes()).hexdigest()


def manifest_name(folder: Path) -> str | None:
    """As the headers of a tree's files call its manifest."""
    try:
        return Path(json.loads((folder / LOCK).read_bytes())["manifest"]["name"]).name
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _manifest(name: str, folder: Path, lock: Mapping[str, Any]) -> Source | None:
    """The manifest beside a tree, if it is the one that the tree was made from."""
    stated = lock.get("manifest")
    if not isinstance(stated, dict) or not isinstance(stated.get("name"), str):
        return None
    path = folder.resolve().parent / Path(stated["name"]).name
    if not path.is_file():
        return None
    shown = str(Path(name).parent / path.name) if name.endswith(folder.name) else path.name
    source = load(path, shown)
    return source if source.sha256 == stated.get("sha256") and source.data is not None else None


_HOSTS = "inventory/hosts.ini"
_RANGE = re.compile(r"\[(\d+):(\d+)\]")


def _groups(text: str) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Group → hosts, and host → operating system, of an inventory as clustergen writes it."""
    direct: dict[str, list[str]] = {"all": []}
    children: dict[str, list[str]] = {}
    here: list[str] = direct["all"]
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if line.startswith("["):
            group, _, kind = line.strip("[]").partition(":")
            here = (children if kind else direct).setdefault(group, [])
        elif line:
            word = line.split()[0]
            here += _expanded(word)
    order = {host: index for index, host in enumerate(direct["all"])}

    def hosts(group: str) -> Iterator[str]:
        yield from direct.get(group, ())
        for child in children.get(group, ()):
            yield from hosts(child)

    ids = {"os_" + group_name(name): name for name in operating_systems()}
    names = [group for group in {**direct, **children} if not group.startswith("os_")]
    systems = {host: ids.get(group, group) for group in children if group.startswith("os_") for host in hosts(group)}
    return {group: tuple(sorted(set(hosts(group)), key=order.__getitem__)) for group in names}, systems


def _expanded(pattern: str) -> list[str]:
    found = _RANGE.search(pattern)
    if found is None:
        return [pattern]
    low, high = found.groups()
    width = len(low)
    numbers = (str(number).zfill(width) for number in range(int(low), int(high) + 1))
    return [name for n in numbers for name in _expanded(pattern[: found.start()] + n + pattern[found.end() :])]


def _facts(text: str) -> dict[str, str]:
    """The plain values of group_vars/all.yml."""
    import yaml

    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ValueError("group_vars/all.yml is no YAML") from None
    return {key: str(value) for key, value in found.items() if isinstance(value, str | int)}
