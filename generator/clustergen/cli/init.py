"""Write a commented starter manifest."""

from __future__ import annotations

from pathlib import Path

import click

from clustergen.cli.exit_codes import USAGE, exit_codes
from clustergen.cli.output import remark
from clustergen.cli.writing import write_all
from clustergen.diagnostics import ClustergenError
from clustergen.manifest import MANIFEST
from clustergen.manifest.schema import json_schema_text
from clustergen.regular_file import reason_of
from clustergen.render.tree import LOCK

STARTERS = {file.stem: file for file in sorted(Path(__file__).with_name("starters").glob("*.yaml"))}
"""Starters of `--from`, by name."""
SMALL = "small"
STARTER = STARTERS[SMALL]
_SUFFIXES = (".yaml", ".yml")
_OTHER_SUFFIXES = (".txt", ".json", ".toml", ".conf", ".ini", ".yam", ".md")
SCHEMA = "clustergen.schema.json"


@exit_codes("the manifest is written", "", USAGE, "a file exists or cannot be written")
@click.command("init")
@click.option(
    "--from",
    "kind",
    type=click.Choice(list(STARTERS)),
    default=SMALL,
    help="A starter for another kind of cluster; default: small, four GPU nodes with InfiniBand and a head node.",
)
@click.argument("path", type=click.Path(), default=MANIFEST)
def command(path: str, kind: str) -> None:
    """Write a commented starter manifest to PATH: a file NAME.yaml, or a directory; default ./manifest.yaml.

    A missing directory is created. An existing manifest is not overwritten. The schema beside it,
    clustergen.schema.json, is updated.
    """
    place = Path(path)
    if place.suffix in _OTHER_SUFFIXES and not place.exists():
        raise click.UsageError(f"{path} is neither a directory nor a file NAME.yaml")
    is_file = not path.endswith("/") and not place.is_dir() and (place.suffix in _SUFFIXES or place.exists())
    manifest = place if is_file else place / MANIFEST
    if (manifest.parent / LOCK).exists():
        raise ClustergenError(f"{manifest.parent} is a rendered tree", hint="name another directory")
    write_starter(manifest, kind)
    remark(f"{manifest} and {SCHEMA} written. Next: clustergen validate {manifest}; `resolve` shows every default")


def write_starter(manifest: Path, kind: str) -> None:
    """Writes a starter and the schema beside it. Raises ClustergenError if there is a manifest already."""
    if manifest.exists() or manifest.is_symlink():
        raise ClustergenError(f"{manifest} already exists", hint="choose another name: clustergen init other.yaml")
    files = {manifest.with_name(SCHEMA): json_schema_text().encode("utf-8"), manifest: STARTERS[kind].read_bytes()}
    try:
        write_all(files)
    except OSError as err:
        raise ClustergenError(f"{err.filename or manifest}: {reason_of(err)}") from None
