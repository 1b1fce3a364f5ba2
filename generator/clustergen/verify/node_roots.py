"""Lays the files of a tree out as they will lie on its nodes: one directory for all nodes that get the same files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from clustergen.catalogue.operating_systems import X86_64, architectures
from clustergen.hostlist.addresses import addresses_in
from clustergen.verify.files import Entry, TreeDirectory

_SYSTEM = "os_"


@dataclass(eq=False)
class NodeRoot:
    """The files of some nodes: `files` by their path on the node.

    `system` is the operating system as the inventory's group has it ("debian_12"), "" where it has none.
    """

    place: Path
    hosts: tuple[str, ...]
    groups: frozenset[str]
    system: str
    files: Mapping[str, Entry]
    _lock: Lock = field(default_factory=Lock, repr=False)
    _is_laid_out: bool = False

    @property
    def directory(self) -> Path:
        """`place`, with the files laid out in it; checks that run side by side ask for it."""
        with self._lock:
            if not self._is_laid_out:
                self._lay_out()
                self._is_laid_out = True
        return self.place

    def _lay_out(self) -> None:
        self.place.mkdir(parents=True, exist_ok=True)
        for target, entry in self.files.items():
            file = self.place / target.lstrip("/")
            entry.write(file)
            file.chmod(entry.mode | 0o600)

    @property
    def name(self) -> str:
        return self.hosts[0] if self.hosts else f"group {min(self.groups, default='')}"

    @property
    def hosts_text(self) -> str:
        """Its /etc/hosts; "" where it gets none. The name of a node without an address is added, as if DNS had it."""
        if not (entry := self.files.get("/etc/hosts")):
            return ""
        is_known = not self.hosts or self.name in addresses_in(entry.text)
        return entry.text if is_known else f"{entry.text}\n198.51.100.1 {self.name}\n"


def system_and_arch(group: str) -> tuple[str, str]:
    """System and architecture in the inventory's group of an operating system: `os_debian_12_aarch64` → debian_12,
    aarch64.
    """
    name = group.removeprefix(_SYSTEM)
    arch = next((arch for arch in architectures() if name.endswith(f"_{arch}")), X86_64)
    return name.removesuffix(f"_{arch}"), arch


def node_roots(tree: TreeDirectory, directory: Path) -> tuple[NodeRoot, ...]:
    """Every distinct node of a tree, each with a place below `directory`; a group without hosts counts as a node."""
    filled = {entry.group for entry in tree.entries.values() if entry.target} - {None}
    kinds: dict[tuple[frozenset[str], str], list[str]] = {}
    for host, groups in tree.inventory.by_host().items():
        system = next((system_and_arch(name)[0] for name in sorted(groups) if name.startswith(_SYSTEM)), "")
        kinds.setdefault((groups & filled, system), []).append(host)
    used = frozenset().union(*(groups for groups, _ in kinds))
    for group in sorted(filter(None, filled - used)):
        kinds[frozenset({group}), ""] = []
    return tuple(
        NodeRoot(directory / str(number), tuple(hosts), groups, system, _files(tree, groups))
        for number, ((groups, system), hosts) in enumerate(kinds.items())
    )


def _files(tree: TreeDirectory, groups: frozenset[str]) -> dict[str, Entry]:
    return {entry.target: entry for entry in tree.entries.values() if entry.target and entry.group in groups}
