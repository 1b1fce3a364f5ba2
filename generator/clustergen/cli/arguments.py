"""The files that verbs are given: defaults, directories in their place, standard input, and files of another kind.

Every verb that reads a manifest takes `manifest.yaml` of the current directory where none is named, and a directory in
the place of the manifest in it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen.cli import output
from clustergen.cli.file_kinds import is_manifest, is_slurm, other_kind
from clustergen.diagnostics import ClustergenError, did_you_mean
from clustergen.manifest import MANIFEST
from clustergen.render.tree import LOCK, RENDERED

STDIN = Path("-")
_MOST_NAMED = 4


def manifest_path(path: Path) -> Path:
    """The manifest that `path` names. Raises ClustergenError for a file or directory of another kind.

    What cannot be read at all is returned as it is: reading it says why.
    """
    if path == STDIN:
        return path
    if path.is_dir():
        if (path / MANIFEST).exists():
            return path / MANIFEST
        if (path / LOCK).exists():
            beside = path.parent / MANIFEST
            hint = f"name its manifest, {beside}, or run clustergen verify {path}"
            raise ClustergenError(
                f"{path} is a rendered tree", hint if beside.exists() else f"run clustergen verify {path}", 2
            )
        clusters = [str(place.parent) for place in sorted(path.glob(f"*/{MANIFEST}"))[:_MOST_NAMED]]
        named = f"name one of its clusters: {', '.join(clusters)}" if clusters else "name the manifest"
        hint = f"{named}, or write one with clustergen init {path}"
        raise ClustergenError(f"{path}: no {MANIFEST} in this directory", hint, 2)
    if kind := other_kind(path):
        raise ClustergenError(f"{path} is {kind.title}", kind.advice(path), 2)
    return path


def default_manifest() -> Path:
    """manifest.yaml in the current directory. Raises UsageError where there is none."""
    if not Path(MANIFEST).exists():
        raise click.UsageError(f"no {MANIFEST} in this directory: name one, or write one with `clustergen init`")
    return Path(MANIFEST)


def one_manifest(ctx: click.Context, _: click.Parameter, value: Path | None) -> Path | None:
    """The callback of an argument that is a manifest."""
    if ctx.resilient_parsing:  # for shell completion
        return value
    return default_manifest() if value is None else manifest_path(value)


def _all_manifests(ctx: click.Context, _: click.Parameter, value: tuple[Path, ...]) -> tuple[Path, ...]:
    if ctx.resilient_parsing:
        return value
    return tuple(manifest for path in value for manifest in _manifests(path)) or (default_manifest(),)


def _manifests(path: Path) -> list[Path]:
    """The manifest that a path names, or those in a directory of clusters."""
    if path != STDIN and path.is_dir() and not (path / MANIFEST).exists() and not (path / LOCK).exists():
        clusters = sorted(path.glob(f"*/{MANIFEST}"))
        if clusters:
            return clusters
    return [manifest_path(path)]


def _slurm_path(ctx: click.Context, _: click.Parameter, value: Path) -> Path:
    if ctx.resilient_parsing or value == STDIN:
        return value
    if is_manifest(value):
        raise ClustergenError(f"{value} is a clustergen manifest", f"run clustergen validate {value}", 2)
    if not value.is_dir() and (kind := other_kind(value)) and not is_slurm(kind):
        raise ClustergenError(f"{value} is {kind.title}", kind.advice(value), 2)
    return value


# What cannot be read is reported where it is read, with exit code 3: click would call it a wrong use, 2.
_PATH = click.Path(path_type=Path, readable=False)
manifest_argument = click.argument("manifest", type=_PATH, metavar="[MANIFEST]", required=False, callback=one_manifest)
"""One manifest, as the parameter `manifest`."""
manifest_arguments = click.argument("manifests", type=_PATH, metavar="[MANIFEST]...", nargs=-1, callback=_all_manifests)
"""Several manifests, as the parameter `manifests`."""
slurm_argument = click.argument("path", type=_PATH, metavar="PATH", callback=_slurm_path)
"""A directory with Slurm's files, or a slurm.conf, as the parameter `path`."""
optional_slurm_argument = click.argument("path", type=_PATH, metavar="[PATH]", default=Path(), callback=_slurm_path)
"""The same; by default the current directory."""


def refuse_standard_input(path: Path) -> None:
    """Raises UsageError for `-`, where a tree beside the manifest is needed."""
    if path == STDIN:
        raise click.UsageError("name the manifest: it is not read from standard input")


def tree_path(path: Path) -> Path:
    """The rendered tree of a manifest or of a cluster's directory; any other path as it is."""
    if path.is_dir():
        return tree_path(path / MANIFEST) if (path / MANIFEST).exists() and not (path / LOCK).exists() else path
    if not is_manifest(path):
        return path
    tree = path.parent / RENDERED
    if not tree.exists():
        raise ClustergenError(f"{path} has no rendered tree yet", f"run clustergen render {path}")
    from clustergen.diff.snapshot import manifest_name

    name = manifest_name(tree)
    if name not in (None, path.name):
        hint = f"run clustergen render {path} -o DIRECTORY && clustergen verify DIRECTORY"
        raise ClustergenError(f"{tree} was rendered from {name}, not from {path.name}", hint, 2)
    _remark_if_outdated(tree, path)
    return tree


def _remark_if_outdated(tree: Path, manifest: Path) -> None:
    """A remark where the tree was rendered from an earlier text of this manifest."""
    from clustergen.diff.snapshot import is_fresh, manifest_name

    if manifest_name(tree) == manifest.name and not is_fresh(tree, manifest):
        output.remark(f"{tree} is out of date: {manifest.name} was edited; run clustergen render {manifest}")


def default_tree() -> Path:
    """The rendered tree in the current directory, or that it is. Raises UsageError where there is none."""
    for path in (Path(RENDERED), Path()):
        if (path / LOCK).exists():
            if path == Path(RENDERED) and Path(MANIFEST).exists():
                _remark_if_outdated(path, Path(MANIFEST))
            return path
    without = f" ({RENDERED} contains no {LOCK})" if Path(RENDERED).is_dir() else ""
    message = f"no rendered tree in this directory{without}: name one, or write one with `clustergen render`"
    raise click.UsageError(message)


def standard_input(limit: int) -> bytes:
    """The piped standard input. Raises ClustergenError for more than `limit` bytes."""
    content = sys.stdin.buffer.read(limit + 1)
    if len(content) > limit:
        raise ClustergenError(f"standard input: larger than {limit:,} bytes")
    return content


class GuessedChoice(click.Choice[str]):
    """A choice whose error names the closest one."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value not in self.choices and (guess := did_you_mean(value, self.choices)):
            self.fail(f"{value!r} is not one of {', '.join(self.choices)}: {guess}", param, ctx)
        return super().convert(value, param, ctx)
