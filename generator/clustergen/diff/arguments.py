"""The arguments of a diff: a manifest, a rendered tree, a directory of clusters, or one of these in git."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from clustergen.diagnostics import ClustergenError, Diagnostic
from clustergen.diff import git
from clustergen.diff.snapshot import Snapshot, is_fresh, manifest_name, of_directory
from clustergen.diff.snapshot import of_tree as snapshot_of_tree
from clustergen.manifest import MANIFEST
from clustergen.records import record
from clustergen.render.lock_file import is_rendered, without_lock
from clustergen.render.tree import LOCK, README, RENDERED


@record
class Side:
    """One cluster of one argument, not yet read. `name` is how the user would call it."""

    name: str
    key: str
    """By which it finds its like on the other side: the cluster's directory in a directory of clusters."""
    path: Path
    commit: str = ""
    """The short id of the commit that it is read from; empty outside of git."""

    @property
    def manifest_name(self) -> str | None:
        """The manifest's name in the headers of the files."""
        return manifest_name(self.path) if self.path.is_dir() else self.path.name


@record
class Read:
    """A side that was read; `snapshot` is None where its manifest is invalid."""

    snapshot: Snapshot | None
    diagnostics: tuple[Diagnostic, ...]
    texts: Mapping[str, str]
    """Of the manifest and its layers by name, for excerpts."""


class Argument(AbstractContextManager["Argument"]):
    """One argument; what was unpacked for it is removed at the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._stack = ExitStack()
        self.commit, self.path = self._resolve()
        self.sides = tuple(self._clusters())

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def many(self) -> bool:
        """True if it is a directory of clusters."""
        return any(side.key for side in self.sides)

    def _resolve(self) -> tuple[str, Path]:
        """The commit, empty outside of git, and where the files are."""
        if not self.text:
            raise ClustergenError(
                "OLD and NEW may not be empty", "a manifest, a directory, or REV:path; . is this directory"
            )
        inside = git.split(self.text)
        if inside is None:
            path = Path(self.text)
            if not path.exists():
                if re.match(r"(?:HEAD|@)(?:$|[~^@])", self.text) and not git.is_commit(self.text):
                    raise ClustergenError(
                        f"git has no commit '{self.text}', and there is no file of this name",
                        "`git log --oneline` lists the commits",
                    )
                hint = "name a manifest, a rendered tree, or a file of a git revision as REV:PATH: main:manifest.yaml"
                if git.is_commit(self.text):
                    hint = f"it is a commit, and needs a path: {self.text}:inventories, {self.text}:./{MANIFEST}"
                elif "/" not in self.text and (guess := git.near_commit(self.text)):
                    hint = f"{guess} {hint}"
                raise ClustergenError(f"{self.text}: no such file or directory", hint)
            return "", path
        directory = Path(self._stack.enter_context(TemporaryDirectory(prefix="clustergen-diff-")))
        try:
            path = git.unpack(*inside, directory)
            return git.short_id(inside[0]), path
        except BaseException:
            self._stack.close()
            raise

    def _clusters(self) -> Iterator[Side]:
        if not self.path.is_dir():
            yield Side(self.text, "", self.path, self.commit)
            return
        cluster = self._cluster_in(self.path)
        if cluster is not None:
            yield Side(self._called(cluster), "", cluster, self.commit)
            return
        has_cluster = False
        for directory in sorted(path for path in self.path.iterdir() if path.is_dir()):
            inside = self._cluster_in(directory)
            if inside is not None:
                has_cluster = True
                yield Side(self._called(inside), directory.name, inside, self.commit)
        if not has_cluster:
            if is_rendered(self.path / README):
                raise without_lock(self.path, self.text)
            hint = self._deeper() or f"a cluster's directory has {MANIFEST}, a rendered tree {LOCK}"
            self._stack.close()
            raise ClustergenError(
                f"{self.text}: neither a manifest, nor a rendered tree, nor a directory of clusters", hint
            )

    def _deeper(self) -> str | None:
        """Where there is one, not far below."""
        for pattern in (f"*/*/{MANIFEST}", f"*/*/*/{MANIFEST}"):
            if manifest := next(iter(sorted(self.path.glob(pattern))), None):
                inside = manifest.parent.parent.relative_to(self.path).as_posix()
                return f"did you mean {self.text.rstrip('/')}{'' if self.text.endswith(':') else '/'}{inside}?"
        return None

    def _cluster_in(self, directory: Path) -> Path | None:
        """A tree, or a cluster's own: what is applied is the tree, as long as it is the manifest's."""
        if (directory / LOCK).is_file():
            return directory
        if not (directory / MANIFEST).is_file():
            return None
        return directory / RENDERED if is_fresh(directory / RENDERED, directory / MANIFEST) else directory / MANIFEST

    def _called(self, path: Path) -> str:
        inside = path.relative_to(self.path).as_posix()
        slash = "" if self.text.endswith((":", "/")) else "/"
        return self.text if inside == "." else f"{self.text}{slash}{inside}"


def read(side: Side, called: str | None = None) -> Read:
    """Renders a manifest, or reads a tree. ClustergenError where the environment fails.

    `called`: the name of the manifest that the files' headers shall tell, so that another name is no difference.
    """
    if side.path.is_dir():
        snapshot = of_directory(side.name, side.path, side.commit)
        return Read(snapshot, (), {})
    from clustergen import compile as compiler

    compiled = compiler.validate(side.path, side.name)
    if not compiled.ok or compiled.cluster is None:
        return Read(None, compiled.diagnostics, compiled.source.texts)
    tree, render_diagnostics = compiler.render(compiled, side.path.with_name(called or side.path.name))
    if side.commit:
        render_diagnostics = tuple(_in_commit(side, item) for item in render_diagnostics)
    diagnostics = (*compiled.diagnostics, *render_diagnostics)
    if tree is None:
        return Read(None, diagnostics, compiled.source.texts)
    snapshot = snapshot_of_tree(side.name, tree, compiled.cluster, compiled.source)
    snapshot.commit = side.commit
    return Read(snapshot, diagnostics, compiled.source.texts)


def _in_commit(side: Side, diagnostic: Diagnostic) -> Diagnostic:
    """A diagnostic about a site file, with the file's name as `REV:path` in place of that of the extracted copy."""
    directory, place = f"{side.path.parent}/", diagnostic.place
    if place is None or not place.file.startswith(directory):
        return diagnostic
    name = side.name.removesuffix(side.path.name) + place.file.removeprefix(directory)
    shown = place._replace(file=name)
    return Diagnostic(diagnostic.code, diagnostic.severity, shown, diagnostic.message, diagnostic.hint)


def pairs(old: Argument, new: Argument) -> Iterator[tuple[str, Side | None, Side | None]]:
    """The clusters of both arguments side by side, with what they are called; None where one side lacks it."""
    if not old.many and not new.many:
        yield "", old.sides[0], new.sides[0]
        return
    if old.many != new.many:
        one, other = (old, new) if old.many else (new, old)
        raise ClustergenError(
            f"{one.text} is a directory of clusters, {other.text} is one cluster: compare two of the same kind",
            f"name one of its clusters, as {one.text.rstrip('/')}/{one.sides[0].key}",
        )
    before, after = ({side.key: side for side in argument.sides} for argument in (old, new))
    for key in sorted({*before, *after}):
        yield key, before.get(key), after.get(key)
