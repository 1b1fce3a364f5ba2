"""The file of a saved plan: what was compared, what was found, and the digests that an apply of it insists on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from clustergen import __version__, regular_file
from clustergen.apply.playbook import Check
from clustergen.apply.target import Target
from clustergen.diagnostics import ClustergenError
from clustergen.records import record

VERSION = 1
_KIND = "clustergen plan"
_LIMIT = 64 << 20
_STALE = 1  # exit code: what is there differs from the plan


@record
class SavedPlan:
    """A plan that was read from its file."""

    file: Path
    manifest: Path
    manifest_digest: str
    tree_digest: str
    text: str
    """The plan as it was shown."""
    nodes: str | None
    """The fingerprint of the nodes' answers; None where the nodes were not asked."""
    arguments: tuple[str, ...]
    """With which ansible-playbook asked the nodes."""

    def require_same(self, target: Target) -> None:
        """Raises ClustergenError where the manifest or its tree are not those of the plan."""
        if self.manifest_digest != target.manifest_digest:
            raise self._stale(f"{self.manifest} has changed since the plan was made")
        if self.tree_digest != target.tree_digest:
            raise self._stale(f"{self.manifest} renders to other files than those of the plan")

    def require_same_nodes(self, check: Check) -> None:
        """Raises ClustergenError where the nodes answer otherwise than when the plan was made."""
        if self.nodes is not None and self.nodes != check.fingerprint:
            raise self._stale("the nodes answer otherwise than when the plan was made")

    def _stale(self, message: str) -> ClustergenError:
        against = " --against nodes" if self.nodes is not None else ""
        hint = f"clustergen plan {self.manifest}{against} --out {self.file}"
        return ClustergenError(f"{self.file}: {message}", hint, _STALE)


def document(
    target: Target,
    place: Path,
    against: str,
    text: str,
    *,
    changes: Any = None,
    check: Check | None = None,
    arguments: tuple[str, ...] = (),
) -> bytes:
    """A plan as a JSON document, for the file `place`. `changes`: as `clustergen diff --format json` has them."""
    nodes = check and {
        "fingerprint": check.fingerprint,
        "changed": list(check.changed),
        "unchanged": list(check.unchanged),
        "failed": list(check.failed),
        "arguments": list(arguments),
    }
    whole = {
        "kind": _KIND,
        "version": VERSION,
        "clustergen": __version__,
        "manifest": {
            "path": os.path.relpath(os.path.realpath(target.manifest), os.path.realpath(place.parent)),
            "sha256": target.manifest_digest,
        },
        "tree": {"sha256": target.tree_digest},
        "against": against,
        "text": text,
        "changes": changes,
        "nodes": nodes,
    }
    return (json.dumps(whole, indent=1, ensure_ascii=True) + "\n").encode()


def read(file: Path) -> SavedPlan | None:
    """The plan in a file; None where the file is no plan. Raises ClustergenError for one that cannot be used."""
    try:
        raw = regular_file.read(file, _LIMIT)
    except OSError:  # reported by whoever reads it as a manifest
        return None
    if not raw.lstrip().startswith(b"{"):
        return None
    try:
        whole = json.loads(raw)
        if not isinstance(whole, dict) or whole.get("kind") != _KIND:
            return None
        if whole["version"] != VERSION:
            raise ClustergenError(
                f"{file}: a plan of version {whole['version']}, this clustergen reads version {VERSION}",
                "make the plan again with this clustergen",
            )
        nodes = whole["nodes"]
        return SavedPlan(
            file=file,
            manifest=Path(os.path.relpath(file.parent / str(whole["manifest"]["path"]))),
            manifest_digest=str(whole["manifest"]["sha256"]),
            tree_digest=str(whole["tree"]["sha256"]),
            text=str(whole["text"]),
            nodes=str(nodes["fingerprint"]) if nodes else None,
            arguments=tuple(map(str, nodes["arguments"])) if nodes else (),
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ClustergenError(f"{file}: not a plan as clustergen writes it", "make the plan again") from None
