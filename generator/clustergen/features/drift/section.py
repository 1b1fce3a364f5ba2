"""The timer that compares machines with the manifest."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import AbsolutePath, Section, field, section
from clustergen.units import Bare


class Drift(Section):
    """A timer on a controller, or on a monitoring node without Slurm, that compares the machines with the manifest."""

    enabled: bool = field(
        True, "Whether the timer runs; requires clustergen, Ansible and ssh access to all nodes there."
    )
    interval: Annotated[int, Field(ge=600, le=604800), Bare("second")] = field(21600, "Time between two comparisons.")
    directory: AbsolutePath = field(
        "/srv/clustergen",
        "Directory on that host with manifest.yaml and rendered; elsewhere the timer does nothing.",
    )
    programs: AbsolutePath = field(
        "/opt/clustergen/bin", "Directory on that host with clustergen and ansible-playbook."
    )


PLACES = {
    "drift": (
        Drift,
        section(
            Drift,
            "Regular comparison of the machines with the manifest; none unless the section is present, which can be"
            " {}.",
            enabled=False,
        ),
    )
}
