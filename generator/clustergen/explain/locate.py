"""Which file of a tree is meant, which row of the registry makes it, and from which template."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import ClustergenError
from clustergen.explain.guess import did_you_mean_any
from clustergen.explain.producers import producer_of
from clustergen.manifest import MANIFEST
from clustergen.render.build import Builder
from clustergen.render.engine import carried
from clustergen.render.file import File
from clustergen.render.formats import RenderError
from clustergen.render.registry import files
from clustergen.render.tree import LOCK, RENDERED, RenderedFile, Tree

_BRACES = re.compile(r"\\\{[\w.\\]+\\\}")  # in a path of the registry, as re.escape leaves them


def find_alone(cluster: Cluster, manifest: Path, path: str) -> tuple[Tree, RenderedFile] | None:
    """The file that is meant, in a tree of those only that are called so, without groups and hash.

    None where that is not enough: a site has files of its own, the file tells of all others, or none or several are
    meant.
    """
    name = path.rpartition("/")[2]
    rows = [row for row in files() if re.fullmatch(_BRACES.sub(".+", re.escape(row.path.rpartition("/")[2])), name)]
    if (manifest.parent / "site").exists() or any(row.per == "tree" for row in rows):
        return None
    builder = Builder(cluster, manifest.name)
    try:
        for row in rows:
            builder.build(row)
        tree = Tree(builder.files, {}, manifest.name, "")
        return tree, find(tree, path, manifest.parent / RENDERED)
    except (RenderError, ClustergenError):
        return None


def find(tree: Tree, path: str, directory: Path) -> RenderedFile:
    """The file of a tree that is meant by its path on disk, in the tree or on the node, or by the end of one of these.

    ClustergenError, exit code 2, where none or several are.
    """
    named = {file.path: file for file in tree}
    for text in (path, path.removeprefix("./"), _relative(path, directory)):
        if text in named:
            return named[text]
    if Path(path).name == LOCK:
        raise ClustergenError(f"{LOCK} lists the other files, with a hash of each: nothing else is in it", exit_code=2)
    ends = [file for file in tree if f"/{file.path}".endswith("/" + path.lstrip("/"))]
    exact = [file for file in ends if file.target == path] or ends
    if len(exact) == 1:
        return exact[0]
    if exact:
        several = ", ".join(file.path for file in exact[:6]) + (" …" if len(exact) > 6 else "")
        raise ClustergenError(f"several files are called {path}", hint=f"choose one: {several}", exit_code=2)
    names = {file.path.rpartition("/")[2] for file in tree} | set(named)
    if Path(path).name == MANIFEST:
        hint = "for a field of it, name the field: clustergen explain slurm.partitions"
        raise ClustergenError(f"{path} is the manifest, not a rendered file", hint=hint, exit_code=2)
    hint = did_you_mean_any(path, names) or "rendered/README.md lists all files of the tree"
    kind = "rendered file" if "/" in path else "field or rendered file"
    raise ClustergenError(f"there is no {kind} {path}", hint=hint, exit_code=2)


def _relative(path: str, directory: Path) -> str:
    try:
        return Path(path).resolve().relative_to(directory.resolve()).as_posix()
    except ValueError:
        return ""


def rule_of(view: Callable[..., Any]) -> tuple[str, str]:
    """The name of a view, of the one inside where a helper only wraps it, and what it says of itself."""
    if isinstance(view, partial):
        view = view.func
    inner = [cell.cell_contents for cell in view.__closure__ or ()]
    view = next((part for part in inner if inspect.isfunction(part)), view)
    summary = " ".join((inspect.getdoc(view) or "").partition("\n\n")[0].split())
    return f"{view.__module__}.{view.__name__}", "" if summary.startswith("None where") else summary


def row_behind(cluster: Cluster, file: RenderedFile, manifest_name: str) -> File:
    """The row of the registry that makes a file, which is not a site's own."""
    for row in files():
        if row.per == "tree":
            if f"{row.scope}/{file.path}" == row.template:
                return row
        elif (file.group is None) == (row.scope == "tree") and file.path in producer_of(row, manifest_name)(cluster):
            return row
    raise ClustergenError(f"no row of the registry makes {file.path}")


def template_of(file: RenderedFile, row: File | None, directory: Path) -> tuple[str, dict[str, int]]:
    """The name of a file's template, or of the site's own file in `directory`, and text of its lines → number.

    Where a view prints the whole text, there is no such template, and no name.
    """
    if row is None:
        name, place = file.source, directory / file.source
    else:
        name = row.origin
        kind, _, path = name.partition("/")
        if kind == "values":
            return "", {}
        place = carried(kind) / path
    if not place.is_file():
        return "", {}
    numbers: dict[str, int] = {}
    for number, text in enumerate(place.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        numbers.setdefault(text.strip(), number)
    return name, numbers
