"""All that one render makes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from clustergen import __version__
from clustergen.records import record
from clustergen.render.effects import NONE, Effect

if TYPE_CHECKING:  # on nodes that pull, the playbooks run without pydantic
    from clustergen.cluster.model import NodeGroup
    from clustergen.render.node_hardware import Hardware

LOCK = "clustergen.lock.json"
README = "README.md"
RENDERED = "rendered"
"""The directory of a tree, beside its manifest."""
TOP = frozenset(
    {"README.md", "ansible.cfg", "pull.yml", "site.yml"}
    | {"acceptance", "cloud-init", "facility", "inventory", "overlays", "warewulf"}
)
"""Files and directories at the top of trees, but for the lock file."""
HEADER = "Made by clustergen", "edit the manifest and render again"
"""How the two lines begin that open a rendered file, behind the sign of a comment."""
LOCK_FORMAT = 2
LOCK_LIMIT = 8_000_000  # bytes; some 20,000 files
FILE_LIMIT = 1 << 26  # bytes; a larger file was not rendered (those of a site have 4 MiB at most)
STAGING = ".clustergen-render"  # names that begin so are in an output directory while a render writes to it


@record
class RenderedFile:
    """One file. `group` is None for those at the top of the tree; `target` is the path on the node."""

    path: str  # in the tree
    content: bytes
    group: str | None = None
    target: str | None = None
    mode: int = 0o644
    owner: str = "root"
    owner_group: str = "root"
    effect: Effect = NONE
    source: str = ""  # template, or file of the site

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@record
class Outline:
    """The input of the files about the tree itself: its groups and all other files."""

    groups: Mapping[str, tuple[NodeGroup, ...]]
    files: Mapping[str, RenderedFile]


@record
class Tree:
    """Files by path, in the order of their paths; the lock file is made of them and not among them."""

    files: Mapping[str, RenderedFile]
    groups: Mapping[str, tuple[str, ...]]  # group → hosts
    manifest_name: str
    manifest_meaning: str
    """The value of `Source.meaning`."""
    hardware: Mapping[str, Hardware] = MappingProxyType({})
    """Inventory group of a node type → its hardware."""
    extensions: Mapping[str, str] = MappingProxyType({})
    """Name of each extension that the cluster uses → its package and version."""

    def __iter__(self) -> Iterator[RenderedFile]:
        return iter(self.files.values())

    def lock(self) -> bytes:
        """The lock file: what `diff` and the playbooks go by, so that they agree by construction."""
        entries = {}
        for file in self:
            entry: dict[str, object] = {"sha256": file.sha256}
            if file.group is not None:
                entry |= {
                    "group": file.group,
                    "target": file.target,
                    "mode": f"{file.mode:04o}",
                    "owner": f"{file.owner}:{file.owner_group}",
                    "effect": str(file.effect),
                    "source": file.source,
                }
            entries[file.path] = entry
        document = {
            "format": LOCK_FORMAT,
            "clustergen": __version__,
            "manifest": {"name": self.manifest_name, "meaning": self.manifest_meaning},
            "hardware": {group: hardware.document() for group, hardware in sorted(self.hardware.items())},
            **({"extensions": dict(sorted(self.extensions.items()))} if self.extensions else {}),
            "files": entries,
        }
        return _in_lines(document).encode()

    def contents(self) -> dict[str, tuple[bytes, int]]:
        """All bytes to be written, the lock among them: path → content and mode on disk."""
        everything = {file.path: (file.content, 0o755 if file.mode & 0o111 else 0o644) for file in self}
        everything[LOCK] = (self.lock(), 0o644)
        return everything


def _in_lines(document: Mapping[str, object]) -> str:
    """JSON with an entry of each section in a line of its own, so that git merges the entries of two branches."""
    lines = []
    for key, value in document.items():
        if key in ("hardware", "files") and isinstance(value, dict) and value:
            entries = ",\n".join(f"  {_json(name)}: {_json(entry)}" for name, entry in value.items())
            lines.append(f" {_json(key)}: {{\n{entries}\n }}")
        else:
            lines.append(f" {_json(key)}: {_json(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
