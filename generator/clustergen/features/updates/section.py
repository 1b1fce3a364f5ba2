"""Updates of the operating system, as written."""

from typing import Literal

from clustergen.manifest.base import Section, field, section

Held = Literal["kernel", "driver", "dcgm", "slurm", "file_systems"]


class Updates(Section):
    """Updates that nodes install by themselves, and packages that keep their version."""

    enabled: bool = field(True, "Configure updates.")
    hold: tuple[Held, ...] = field(
        ("kernel", "driver", "dcgm", "slurm", "file_systems"),
        "Packages that keep their version: only a playbook, or a command that names a version, replaces them.",
    )
    security: bool = field(
        True, "Install security updates every day, without those that are held; false: no updates without a person."
    )


PLACES = {"host.updates": (Updates, section(Updates, "Updates of packages.", enabled=False))}
