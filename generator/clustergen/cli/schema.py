"""`clustergen schema`: JSON Schema of the manifest."""

from __future__ import annotations

import json

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the manifest.

    Save it as clustergen.schema.json beside the manifest; editors find it by the manifest's first line.
    """
    click.echo(document(), nl=False)


def document() -> str:
    """The schema's text."""
    from clustergen.manifest.model import Manifest

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **Manifest.model_json_schema()}
    return json.dumps(schema, indent=1) + "\n"
