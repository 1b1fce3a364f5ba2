"""`clustergen schema`: JSON Schema of the manifest."""

from __future__ import annotations

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the manifest.

    Save it as clustergen.schema.json beside the manifest; editors find it by the manifest's first line. Fields that
    name a row of the catalogue offer its names; names under `catalogue` of the manifest are valid as well.
    """
    from clustergen.manifest.schema import json_schema_text

    click.echo(json_schema_text(), nl=False)
