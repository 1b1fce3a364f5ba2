"""The file of a saved plan: what was compared, what was found, and the digests that an apply of it insists on.

A changed file affects nothing that an apply runs or prints: it names a manifest below the current
directory and at most the hosts of a `--limit`, and what changes is asked anew.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from clustergen import __version__, regular_file
from clustergen.apply.playbook import Check
from clustergen.apply.target import Target
from clustergen.diagnostics import ClustergenError, printable
from clustergen.records import record
from clustergen.render.tree import RENDERED

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
    kept_digest: str
    nodes: str | None
    """The fingerprint of the nodes' answers; None where the nodes were not asked."""
    arguments: tuple[str, ...]
    """With which ansible-playbook asked the nodes: none, or `--limit HOSTS`."""

    def require_same(self, target: Target) -> None:
        """Raises ClustergenError where the manifest or its tree are not those of the plan."""
        if self.manifest_digest != target.manifest_digest:
            raise self._stale(f"{self.manifest} has changed since the plan was made")
        if self.tree_digest != target.tree_digest:
            raise self._stale(f"{self.manifest} renders to other files than those of the plan")
        if self.kept_digest != target.kept_digest():
            raise self._stale(
                f"files beside the rendered ones in {target.directory} have changed since the plan was made"
            )

    def require_same_nodes(self, check: Check) -> None:
        """Raises ClustergenError where the nodes answer otherwise than when the plan was made."""
        if self.nodes is not None and self.nodes != check.fingerprint:
            raise self._stale("the nodes answer otherwise than when the plan was made")

    def _stale(self, message: str) -> ClustergenError:
        against = ("--against", "nodes") if self.nodes is not None else ()
        limit = ("--", *self.arguments) if self.arguments else ()
        hint = shlex.join(("clustergen", "plan", str(self.manifest), *against, "--out", str(self.file), *limit))
        return ClustergenError(f"{self.file}: {message}", hint, _STALE)


def document(
    target: Target,
    against: str,
    kept: str,
    *,
    changes: Any = None,
    check: Check | None = None,
    arguments: Sequence[str] = (),
) -> bytes:
    """A plan as a JSON document. `changes`: as `clustergen diff --format json` has them.

    `kept`: the digest of what the user keeps beside the tree, from before the nodes were asked.
    """
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
        "manifest": {"path": os.path.relpath(target.manifest), "sha256": target.manifest_digest},
        "tree": {"sha256": target.tree_digest, "kept": kept},
        "against": against,
        "changes": changes,
        "nodes": nodes,
    }
    return (json.dumps(whole, indent=1, ensure_ascii=True) + "\n").encode()


def require_savable(file: Path, manifest: Path, arguments: Sequence[str]) -> None:
    """Raises ClustergenError where `file` is in use for something else, or could not hold such a plan."""
    require_own(file)
    tree = os.path.realpath(manifest.parent / RENDERED)
    if f"{os.path.realpath(file)}/".startswith(f"{tree}/"):
        message = f"{file}: a plan has a digest of the files in {RENDERED}, and cannot be one of them"
        raise ClustergenError(message, "name a file elsewhere", 2)
    try:
        _below(os.path.relpath(manifest))
    except ValueError:
        message = f"{manifest}: a saved plan names a manifest in or below the current directory"
        raise ClustergenError(message, "run it in the directory of the manifest", 2) from None
    try:
        TypeAdapter[Any](_Arguments).validate_python(tuple(arguments))
    except ValidationError:
        message = f"a saved plan can only hold --limit HOSTS, not {printable(shlex.join(arguments))}"
        raise ClustergenError(message, "leave out --out, or the options", 2) from None


def require_own(file: Path) -> int | None:
    """Permissions of the plan that a new one may replace; None where there is no file. ClustergenError for others."""
    try:
        status = file.lstat()
    except FileNotFoundError:
        return None
    if not _is_plan(file):
        raise ClustergenError(f"{file} is not a saved plan: it is left as it is", "name another file", 2)
    return stat.S_IMODE(status.st_mode)


def read(file: Path) -> SavedPlan | None:
    """The plan in a file; None where the file is no plan. Raises ClustergenError for one that cannot be used."""
    try:
        raw = regular_file.read(file, _LIMIT)
    except (OSError, ValueError):  # reported where it is read as a manifest
        return None
    if not raw.lstrip().startswith(b"{"):
        return None
    try:
        whole = json.loads(raw)
        if not isinstance(whole, dict) or whole.get("kind") != _KIND:
            return None
        version = whole.get("version")
        if type(version) is int and version != VERSION:
            raise ClustergenError(
                f"{file}: a plan of version {version}, this clustergen reads version {VERSION}",
                "make the plan again with this clustergen",
            )
        plan = _Document.model_validate_json(raw)
    except ValidationError as err:
        place = ".".join(map(str, err.errors(include_url=False, include_input=False)[0]["loc"]))
        raise _unusable(file, place) from None
    except (ValueError, RecursionError):
        raise _unusable(file) from None
    nodes = plan.nodes
    return SavedPlan(
        file=file,
        manifest=Path(plan.manifest.path),
        manifest_digest=plan.manifest.sha256,
        tree_digest=plan.tree.sha256,
        kept_digest=plan.tree.kept,
        nodes=nodes.fingerprint if nodes else None,
        arguments=nodes.arguments if nodes else (),
    )


def _unusable(file: Path, place: str = "") -> ClustergenError:
    where = f" (at {printable(place[:100])})" if place else ""
    return ClustergenError(f"{file}: not a plan as clustergen writes it{where}", "make the plan again")


def _is_plan(file: Path) -> bool:
    """True if a regular file, and no link to one, is a plan of any version."""
    try:
        whole = json.loads(regular_file.read(file, _LIMIT))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(whole, dict) and whole.get("kind") == _KIND


def _below(path: str) -> str:
    if not path or printable(path) != path or path.startswith(("/", "-")) or ".." in PurePosixPath(path).parts:
        raise ValueError("not a path below the current directory")
    return path


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


_Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Words = Annotated[str, Field(max_length=4096)]
_Names = Annotated[tuple[Annotated[str, Field(max_length=255)], ...], Field(max_length=100_000)]
# A host pattern of Ansible: neither an option nor @FILE.
_Hosts = Annotated[str, Field(max_length=65536, pattern=r"^[A-Za-z0-9_.*?!&~\[][A-Za-z0-9_.*?!&~\[\]:,\-]*$")]
_Arguments = tuple[()] | tuple[Literal["--limit"], _Hosts]


class _Manifest(_Part):
    path: Annotated[_Words, AfterValidator(_below)]
    sha256: _Digest


class _Tree(_Part):
    sha256: _Digest
    kept: _Digest


class _Nodes(_Part):
    fingerprint: _Digest
    changed: _Names
    unchanged: _Names
    failed: _Names
    arguments: _Arguments


class _Document(_Part):
    kind: Literal["clustergen plan"]
    version: Literal[1]
    clustergen: _Words
    manifest: _Manifest
    tree: _Tree
    against: _Words
    changes: dict[str, Any] | None
    nodes: _Nodes | None
