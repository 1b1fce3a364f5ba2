"""Print the JSON Schema of the manifest, for editors."""

from __future__ import annotations

import click

from clustergen.cli.exit_codes import USAGE, exit_codes


@exit_codes("printed", "", USAGE, "")
@click.command("schema")
@click.option("--resolved", is_flag=True, help="Print the schema of what clustergen resolve prints.")
def command(resolved: bool) -> None:
    """Print the JSON Schema of the manifest, for editors with a YAML language server.

    Save it as clustergen.schema.json beside the manifest, whose first line points to it. Fields that name catalogue
    rows list the names; rows that the manifest adds under `catalogue` are accepted, too.
    """
    if resolved:
        from clustergen.cluster.document import schema_text

        click.echo(schema_text(), nl=False)
        return
    from clustergen.manifest.schema import json_schema_text

    click.echo(json_schema_text(), nl=False)
