"""Run the nodes of a manifest as containers with a real Slurm."""

from __future__ import annotations

import click

from clustergen.cli import lab_nodes, lab_up


@click.group("lab")
def command() -> None:
    """Run the nodes of a manifest as containers.

    Each node has its own name, address and systemd, and runs a real Slurm after `apply`. `up` lists what the lab
    substitutes; `status --substitutions` lists it again. Verbs without a lab act on the lab of ./manifest.yaml if it is
    up, or else on the only lab there is.
    """


for verb in (
    lab_up.up, lab_up.apply, lab_nodes.status, lab_nodes.shell, lab_nodes.logs, lab_nodes.list_,
    lab_nodes.stop, lab_nodes.start, lab_nodes.fault, lab_nodes.outage, lab_nodes.down,
):  # fmt: skip
    command.add_command(verb)
