"""`clustergen init [PATH]`: a commented starter manifest, with the schema that editors read beside it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from clustergen.cli.schema import document
from clustergen.diagnostics import ClustergenError

STARTER = Path(__file__).with_name("starter.yaml")
SCHEMA = "clustergen.schema.json"


@click.command("init")
@click.argument("path", type=click.Path(path_type=Path), default="manifest.yaml")
def command(path: Path) -> None:
    """Write a commented starter manifest to PATH (manifest.yaml by default, or in the folder that PATH is).

    A manifest that is there is left alone. The schema beside it, clustergen.schema.json, is written anew.
    """
    manifest = path / "manifest.yaml" if path.is_dir() else path
    if manifest.exists() or manifest.is_symlink():
        raise ClustergenError(f"{manifest} is there already", hint="name another: clustergen init other.yaml")
    try:
        manifest.parent.mkdir(parents=True, exist_ok=True)
        _write(manifest.with_name(SCHEMA), document())
        _write(manifest, STARTER.read_text(encoding="utf-8"))
    except OSError as err:
        raise ClustergenError(f"{err.filename or manifest}: {err.strerror}") from None
    click.echo(f"{manifest}: written, with {SCHEMA} beside it. Next: clustergen validate {manifest}", err=True)


def _write(path: Path, text: str) -> None:
    """All of it or nothing: what was there stays where the disk is full."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except OSError as err:
        raise OSError(err.errno, err.strerror, str(path)) from None
    finally:
        Path(name).unlink(missing_ok=True)
