"""Lays the files of a tree out as they will lie on its nodes: one directory for all nodes that get the same files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clustergen.catalogue.operating_systems import X86_64, architectures
from clustergen.verify.files import Entry, TreeDirectory

_SYSTEM = "os_"


@dataclass(frozen=True, slots=True)
class NodeRoot:
    """What some nodes get: `files` by their path on the node, laid out in `directory`.

    `system` is the operating system as the inventory's group has it ("debian_12"), "" where it has none.
    """

    directory: Path
    hosts: tuple[str, ...]
    groups: frozenset[str]
    system: str
    files: Mapping[str, Entry]

    @property
    def name(self) -> str:
        return self.hosts[0] if self.hosts else f"group {min(self.groups, default='')}"

    @property
    def hosts_text(self) -> str:
        """Its /etc/hosts; "" where it gets none."""
        entry = self.files.get("/etc/hosts")
        return entry.text if entry else ""


def system_and_arch(group: str) -> tuple[str, str]:
    """What the inventory's group of an operating system names: `os_debian_12_aarch64` → debian_12, aarch64."""
    name = group.removeprefix(_SYSTEM)
    arch = next((arch for arch in architectures() if name.endswith(f"_{arch}")), X86_64)
    return name.removesuffix(f"_{arch}"), arch


def node_roots(tree: TreeDirectory, directory: Path) -> tuple[NodeRoot, ...]:
    """Every distinct node of a tree, below `directory`; a group that no host is in counts as a node of its own."""
    filled = {entry.group for entry in tree.entries.values() if entry.target} - {None}
    kinds: dict[tuple[frozenset[str], str], list[str]] = {}
    for host, groups in tree.inventory.by_host().items():
        system = next((system_and_arch(name)[0] for name in sorted(groups) if name.startswith(_SYSTEM)), "")
        kinds.setdefault((groups & filled, system), []).append(host)
    used = frozenset().union(*(groups for groups, _ in kinds))
    for group in sorted(filter(None, filled - used)):
        kinds[frozenset({group}), ""] = []
    return tuple(
        _laid_out(tree, directory / str(number), tuple(hosts), groups, system)
        for number, ((groups, system), hosts) in enumerate(kinds.items())
    )


def _laid_out(
    tree: TreeDirectory, directory: Path, hosts: tuple[str, ...], groups: frozenset[str], system: str
) -> NodeRoot:
    files = {entry.target: entry for entry in tree.entries.values() if entry.target and entry.group in groups}
    directory.mkdir(parents=True)
    for target, entry in files.items():
        place = directory / target.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(entry.content)
        place.chmod(entry.mode | 0o600)
    return NodeRoot(directory, hosts, groups, system, files)
