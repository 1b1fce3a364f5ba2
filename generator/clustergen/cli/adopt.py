"""Take over the configuration of a running cluster, area by area."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clustergen.cli import output as streams
from clustergen.cli.arguments import default_manifest, manifest_path
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.cli.import_ import source_options, write_result
from clustergen.diagnostics import ClustergenError, printable
from clustergen.diagnostics.words import counted
from clustergen.manifest import MANIFEST

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster
    from clustergen.render.tree import Tree

_FIRST = {
    "accounting": "give a service node the role slurm-accounting",
    "firewall": "add firewall: nftables to the section host",
    "logs": "add the section logs, and the role log-collector to a node",
    "monitoring": "give a service node the role monitoring",
    **{area: f"add the section {area}" for area in ("acceptance", "backups", "containers", "drift", "facility")},
    **{area: f"add the section {area}" for area in ("identity", "provisioning", "reports", "storage")},
}
"""Sections that the manifest lacks for an area that would install nothing."""
_NO_SECTION = "no section or role of the manifest has it yet"


@exit_codes(
    "adopted, with the same meaning; with --next, listed",
    "the rendered files differ in meaning, or Slurm rejects the original ones",
    INVALID,
    "PATH cannot be read, or the directory cannot be written",
)
@click.command("adopt")
@click.argument("path", type=click.Path(path_type=Path, readable=False), metavar="[PATH]", required=False)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    help="Directory of the manifest and its tree; default: the current one.",
)
@click.option("--next", "is_next", is_flag=True, help="Show what each area that is not managed yet would change.")
@source_options
def command(path: Path | None, output: Path, is_next: bool, force: bool, **options: Any) -> None:
    """Take over a cluster whose Slurm files are at PATH, a directory with slurm.conf: write a manifest that manages
    Slurm's files alone, render it, and compare it with the originals by meaning.

    Nothing else of the nodes is rendered or applied until `manage` in the manifest names it.

    With --next, PATH is the manifest (default: ./manifest.yaml); each area that `manage` lacks is listed with its
    files, its nodes and what it does to running jobs.
    """
    if is_next:
        _show_next(manifest_path(path) if path else default_manifest())
        return
    if path is None:
        raise click.UsageError("name the directory of slurm.conf: clustergen adopt /etc/slurm")
    sys.exit(_adopt(path, output, force, options))


def _adopt(path: Path, directory: Path, force: bool, options: dict[str, Any]) -> int:
    from clustergen import compile as compiler
    from clustergen.cluster.contributions import Secret
    from clustergen.importer.directory import import_directory
    from clustergen.importer.report import as_text
    from clustergen.render.write import default_output, write

    result = import_directory(path, **options)
    manifest = directory / MANIFEST
    write_result(result, manifest, force)
    streams.findings(as_text(result))
    if result.errors:
        return result.exit_code
    compiled = compiler.validate(manifest)
    tree, diagnostics = compiler.render(compiled, manifest) if compiled.ok else (None, compiled.diagnostics)
    if tree is None:
        raise ClustergenError(f"{manifest}: {diagnostics[0].message}", "run clustergen validate", 2)
    write(tree, default_output(manifest))
    files = sorted({file.target for file in tree if file.target})
    streams.findings(f"clustergen manages {counted(len(files), 'file')} of the nodes: {printable(', '.join(files))}\n")
    before = {file.name for file in (path if path.is_dir() else path.parent).iterdir()}
    if new := [target for target in files if Path(target).name not in before]:
        streams.findings(f"Not among the originals: {printable(', '.join(new))}\n")
    if result.exit_code == 0:
        assert compiled.cluster is not None
        restarts = "but daemons may restart" if new or compiled.cluster.needs(Secret) else "and no daemon restarts"
        streams.findings(f"Plan: no value of these files changes, {restarts}.\n")
    done = f"{manifest}, {default_output(manifest)}: written"
    streams.remark(printable(f"{done}. Next: clustergen adopt --next {manifest}"))
    return result.exit_code


def _show_next(manifest: Path) -> None:
    """A row for each area that is not managed."""
    from clustergen.cli.common import valid
    from clustergen.diff.change import folded
    from clustergen.diff.messages import verdict
    from clustergen.diff.plan import plan
    from clustergen.diff.snapshot import of_tree
    from clustergen.feature import areas

    compiled = valid(manifest)
    assert compiled.cluster is not None
    source, managed = compiled.source, compiled.cluster.managed
    if managed is None:
        streams.findings("All areas are managed: the manifest has no `manage`.\n")
        return
    before = _rendered(source.data, manifest, managed)
    rows: list[tuple[str, str, str, str]] = []
    for area in areas():
        after = None if area in managed else _rendered(source.data, manifest, (*managed, area))
        if after is None or before is None:
            continue
        sides = [of_tree(manifest.name, tree, cluster, source) for cluster, tree in (before, after)]
        change = plan(*sides)
        paths = {file.path for file in before[1]}
        added = [file for file in after[1] if file.target and file.group and file.path not in paths]
        targets = {file.target for file in added}
        hosts = {host for file in added for host in after[1].groups[file.group or ""]}
        if change.empty:
            rows.append((area, "nothing", "", _FIRST.get(area, _NO_SECTION)))
        else:
            rows.append((area, counted(len(targets), "file"), folded(hosts), verdict(change)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    streams.findings("".join(f"{line}\n" for line in lines))
    streams.remark(f"To take one over: add it to `manage` in {manifest}, and run clustergen diff")


def _rendered(data: Any, manifest: Path, managed: tuple[str, ...]) -> tuple[Cluster, Tree] | None:
    """The tree with these areas, without site files; None where the manifest would not be valid with them."""
    from clustergen.compile import tree_of

    return tree_of({**data, "manage": list(managed)}, manifest.name)
