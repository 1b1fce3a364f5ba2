"""Print the JSON Schema of the manifest, for editors."""

from __future__ import annotations

import click

from clustergen.cli.exit_codes import USAGE, exit_codes


@exit_codes("printed", "", USAGE, "")
@click.command("schema")
def command() -> None:
    """Print the JSON Schema of the manifest, for editors with a YAML language server.

    Save it as clustergen.schema.json beside the manifest, whose first line points to it. Fields that name catalogue
    rows list the names; rows that the manifest adds under `catalogue` are accepted, too.
    """
    from clustergen.manifest.schema import json_schema_text

    click.echo(json_schema_text(), nl=False)
