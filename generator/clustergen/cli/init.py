"""`clustergen init [PATH]`: a commented starter manifest, with the schema that editors read beside it."""

from __future__ import annotations

from pathlib import Path

import click

from clustergen.cli.output import remark
from clustergen.cli.writing import write_all
from clustergen.diagnostics import ClustergenError
from clustergen.manifest import MANIFEST
from clustergen.manifest.schema import json_schema_text

STARTER = Path(__file__).with_name("starter.yaml")
SCHEMA = "clustergen.schema.json"


@click.command("init")
@click.argument("path", type=click.Path(path_type=Path), default=MANIFEST)
def command(path: Path) -> None:
    """Write a commented starter manifest to PATH (manifest.yaml by default, or in the folder that PATH is).

    A manifest that is there is left alone. The schema beside it, clustergen.schema.json, is written anew.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    if manifest.exists() or manifest.is_symlink():
        raise ClustergenError(f"{manifest} is there already", hint="name another: clustergen init other.yaml")
    try:
        write_all({manifest.with_name(SCHEMA): json_schema_text().encode("utf-8"), manifest: STARTER.read_bytes()})
    except OSError as err:
        raise ClustergenError(f"{err.filename or manifest}: {err.strerror}") from None
    remark(f"{manifest}: written, with {SCHEMA} beside it. Next: clustergen validate {manifest}")
