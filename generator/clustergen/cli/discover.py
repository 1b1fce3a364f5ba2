"""Print the node types and nodes of a manifest for existing machines."""

from __future__ import annotations

from pathlib import Path

import click

from clustergen.cli.exit_codes import USAGE, exit_codes
from clustergen.cli.output import remark
from clustergen.diagnostics import ClustergenError, printable


@exit_codes("printed", "", USAGE, "the facts cannot be read")
@click.command("discover")
@click.option(
    "--facts",
    type=click.Path(path_type=Path, readable=False),
    metavar="DIR",
    help="Read outputs of commands: a directory per node, a file per command.",
)
@click.option("--script", is_flag=True, help="Print a shell script that collects these files on a node.")
def command(facts: Path | None, script: bool) -> None:
    """Print the node_types and nodes of a manifest for existing machines.

    Machines that are alike become one node type; systems and GPUs are recognised from the catalogue. RealMemory is that
    of the smallest machine. Lines with CHECK are assumptions.

    Record the nodes of an Ansible inventory, then read all directories at once:

    \b
      ansible-playbook -i hosts.ini -u root clustergen.cluster.discover -e facts=$PWD/facts
      clustergen discover --facts facts

    Without Ansible, run the script on each node, as root:

    \b
      clustergen discover --script > collect.sh
      mkdir -p facts/gpu01 && ssh gpu01 sh -s < collect.sh | tar xf - -C facts/gpu01
    """
    from clustergen.hardware.discovery import draft
    from clustergen.hardware.discovery.grouping import groups
    from clustergen.hardware.discovery.recordings import read
    from clustergen.hardware.discovery.script import collector

    if script == (facts is not None):
        raise click.UsageError("use either --facts DIR or --script")
    if facts is None:
        click.echo(collector(), nl=False)
        return
    nodes = list(read(facts))
    silent = [node for node in nodes if node.unreachable]
    machines = groups(node for node in nodes if not node.unreachable)
    if not machines:
        raise ClustergenError(f"{facts}: no node was reachable: {printable(silent[0].unreachable)}")
    click.echo(draft.text(machines), nl=False)
    for node in silent:
        remark(f"{node.name} is left out: {printable(node.unreachable)}")
    count = sum(len(group.nodes) for group in machines)
    remark(
        f"{count} {'node' if count == 1 else 'nodes'} of {len(machines)} {'type' if len(machines) == 1 else 'types'}"
    )
