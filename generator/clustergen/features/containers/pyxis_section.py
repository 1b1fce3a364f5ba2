"""Containers in jobs: enroot and pyxis."""

from typing import Literal

from clustergen.manifest.base import AbsolutePath, Section, field, section


class Pyxis(Section):
    """Containers with enroot and pyxis: srun --container-image."""

    enabled: bool = field(True, "Whether to load the SPANK plugin.")
    runtime_path: AbsolutePath = field("/run/pyxis", "Directory of unpacked images.")
    scope: Literal["global", "job"] = field("global", "Whether named containers persist after their job.")
    cache: AbsolutePath = field("/var/lib/enroot", "Per-user data and cache of enroot; local NVMe is best.")


PLACES = {
    "slurm.pyxis": (
        Pyxis,
        section(Pyxis, "enroot and pyxis; off unless the section is present, which can be {}.", enabled=False),
    )
}
