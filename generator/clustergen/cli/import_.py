"""`clustergen import PATH -o manifest.yaml`: a manifest out of a hand-written slurm.conf and its kin."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clustergen.adopt.adopt import Adopted, adopt
from clustergen.adopt.report import as_json, as_text
from clustergen.catalogue.operating_systems import operating_systems
from clustergen.cli.schema import document
from clustergen.diagnostics import ClustergenError

SCHEMA = "clustergen.schema.json"


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path, readable=False), metavar="PATH")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where the manifest goes; default: stdout.")
@click.option(
    "--slurm-version", "version", metavar="V", help="Release of Slurm, as 24.11; default: guessed from the keys."
)
@click.option("--os", "os", type=click.Choice(tuple(operating_systems())), help="Operating system of the nodes.")
@click.option(
    "--hosts",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A hosts file with the addresses that slurm.conf lacks, as /etc/hosts.",
)
@click.option(
    "--accounts",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Accounts and QOS: a file of `sacctmgr dump`, or of `sacctmgr -P show qos`; may stand several times.",
)
@click.option("--force", is_flag=True, help="Write over files that are there.")
@click.option(
    "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True, help="Who reads it."
)
def command(
    path: Path,
    output: Path | None,
    version: str | None,
    os: str | None,
    hosts: Path | None,
    accounts: tuple[Path, ...],
    force: bool,
    form: str,
) -> None:
    """Make a manifest out of PATH: a folder of Slurm's files, or a slurm.conf with what lies beside it.

    The manifest is rendered and compared with the files by meaning. Files without keys, as plugstack.conf, and scripts
    go to site/ beside the manifest as they are. Exit code 0: the same meaning; 1: differences, which are shown; 2: the
    manifest is not valid yet; 3: PATH cannot be read.
    """
    found = adopt(path, version=version, os=os, hosts=hosts, accounts=accounts)
    if output is not None:
        _write(found, output, force)
    if form == "json":
        click.echo(as_json(found, str(output) if output else None), nl=False)
    else:
        if output is None:
            click.echo(found.text, nl=False)
        click.echo(as_text(found), nl=False, err=True)
        if output is None and found.files:
            click.echo(f"With -o, these would be written too: {', '.join(sorted(found.files))}", err=True)
        elif output is not None:
            more = f", {', '.join(sorted(found.files))}" if found.files else ""
            click.echo(f"{output}: written{more}. Next: clustergen validate {output}", err=True)
    sys.exit(2 if found.errors else 0 if found.same else 1)


def _write(found: Adopted, output: Path, force: bool) -> None:
    """The manifest, its schema and the site's files: all, or nothing where one of them is there."""
    folder = output.parent
    files = {output: found.text.encode("utf-8"), **{folder / name: content for name, content in found.files.items()}}
    there = [str(path) for path, content in files.items() if path.exists() and not _holds(path, content)]
    if there and not force:
        raise ClustergenError(f"{', '.join(there)}: there already", hint="another -o, or --force")
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        for name in found.programs:
            (folder / name).chmod(0o755)
        (folder / SCHEMA).write_text(document(), encoding="utf-8")
    except OSError as err:
        raise ClustergenError(f"{err.filename or output}: {err.strerror}", exit_code=3) from None


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
