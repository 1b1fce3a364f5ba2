"""`clustergen init [PATH]`: a commented starter manifest, with the schema that editors read beside it."""

from __future__ import annotations

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
    try:
        manifest.parent.mkdir(parents=True, exist_ok=True)
        with manifest.open("x", encoding="utf-8") as stream:
            stream.write(STARTER.read_text(encoding="utf-8"))
        (manifest.parent / SCHEMA).write_text(document(), encoding="utf-8")
    except FileExistsError as err:
        hint = "name another: clustergen init other.yaml"
        raise ClustergenError(f"{err.filename} is there already", hint=hint) from None
    except OSError as err:
        raise ClustergenError(f"{err.filename or manifest}: {err.strerror}") from None
    click.echo(f"{manifest}: written, with {SCHEMA} beside it. Next: clustergen validate {manifest}", err=True)
