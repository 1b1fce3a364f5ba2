"""`clustergen discover`: the nodes of a manifest from what machines print about themselves."""

from __future__ import annotations

from pathlib import Path

import click

from clustergen.cli.output import remark


@click.command("discover")
@click.option(
    "--facts",
    type=click.Path(path_type=Path, readable=False),
    metavar="DIR",
    help="Read outputs of commands: a directory per node, a file per command.",
)
@click.option("--script", is_flag=True, help="Print a shell script that collects these files on a node.")
def command(facts: Path | None, script: bool) -> None:
    """Print the node_types and nodes of a manifest for machines that exist.

    Machines that are alike become one node type; systems and GPUs are recognised from the catalogue. RealMemory is that
    of the smallest machine. Lines with CHECK are assumptions.

    Run the script on each node, as root, and copy its directory; then read all directories at once:

    \b
      clustergen discover --script > collect.sh
      ssh gpu01 sh -s < collect.sh > facts/gpu01.tar && mkdir facts/gpu01 && tar xf facts/gpu01.tar -C facts/gpu01
      clustergen discover --facts facts
    """
    from clustergen.hardware.discovery import draft
    from clustergen.hardware.discovery.folder import read
    from clustergen.hardware.discovery.grouping import groups
    from clustergen.hardware.discovery.script import collector

    if script == (facts is not None):
        raise click.UsageError("one of --facts DIR and --script")
    if facts is None:
        click.echo(collector(), nl=False)
        return
    machines = groups(read(facts))
    click.echo(draft.text(machines), nl=False)
    count = sum(len(group.nodes) for group in machines)
    remark(
        f"{count} {'node' if count == 1 else 'nodes'} of {len(machines)} {'type' if len(machines) == 1 else 'types'}"
    )
