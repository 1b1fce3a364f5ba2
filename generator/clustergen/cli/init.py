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
    """Write a commented starter manifest to PATH: a file or a directory; default ./manifest.yaml.

    An existing manifest is not overwritten. The schema beside it, clustergen.schema.json, is updated.
    """
    manifest = path / MANIFEST if path.is_dir() else path
    if manifest.exists() or manifest.is_symlink():
        raise ClustergenError(f"{manifest} already exists", hint="choose another name: clustergen init other.yaml")
    try:
        write_all({manifest.with_name(SCHEMA): json_schema_text().encode("utf-8"), manifest: STARTER.read_bytes()})
    except OSError as err:
        raise ClustergenError(f"{err.filename or manifest}: {err.strerror}") from None
    remark(f"{manifest} and {SCHEMA} written. Next: clustergen validate {manifest}")
