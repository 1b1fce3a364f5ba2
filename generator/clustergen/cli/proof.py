"""Write docs/proof.md: which parser has read which kind of file."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from clustergen.cli.common import refuse, valid
from clustergen.cli.output import remark
from clustergen.diagnostics import ClustergenError
from clustergen.regular_file import reason_of


@click.command("proof")
@click.argument("paths", type=click.Path(path_type=Path), metavar="TREE|MANIFEST...", nargs=-1, required=True)
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Write the page instead of printing it.")
def command(paths: tuple[Path, ...], write: Path | None) -> None:
    """Make the page docs/proof.md: which program of which version has read which kind of file.

    All TREEs are verified; a MANIFEST is rendered to a temporary directory. Nothing is written or printed unless all
    that has a parser passed: exit code 1 where something failed, 3 where a parser could not be asked.
    """
    from clustergen.verify.proof import Cluster, document
    from clustergen.verify.rows import exit_code
    from clustergen.verify.run import verify
    from clustergen.verify.show import text as text_of

    clusters = []
    status = 0
    with tempfile.TemporaryDirectory(prefix="clustergen-proof-") as scratch:
        for number, path in enumerate(paths):
            tree = path if path.is_dir() else _rendered(path, Path(scratch) / str(number))
            rows = verify(tree)
            clusters.append(Cluster.read(tree, rows))
            if code := exit_code(rows):
                status = code if status != 1 else status
                refusals = text_of([row for row in rows if row.status in _IN_THE_WAY])
                click.echo(f"{path}:\n{refusals}", err=True, nl=False)
    if status:
        sys.exit(status)
    text = document(clusters)
    if write is None:
        click.echo(text, nl=False)
        return
    try:
        write.write_text(text, encoding="utf-8")
    except OSError as err:
        raise ClustergenError(f"{write}: {reason_of(err)}") from None
    remark(f"{write}: written from {len(clusters)} clusters.")


_IN_THE_WAY = ("failed", "not run")


def _rendered(manifest: Path, directory: Path) -> Path:
    """The manifest's tree; the verb ends with the findings of one that is not valid."""
    from clustergen import compile as compiler
    from clustergen.render.write import write

    compiled = valid(manifest)
    tree, diagnostics = compiler.render(compiled, manifest)
    if tree is None:
        refuse(compiled, diagnostics)
    write(tree, directory)
    return directory
