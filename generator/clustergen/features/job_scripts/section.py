"""The surroundings of a job on its node: scripts and local scratch."""

from typing import Annotated

from pydantic import Field

from clustergen.manifest.base import AbsolutePath, Section, field, section
from clustergen.units import Bare


class Scripts(Section):
    """Prolog, epilog and task prolog, which clustergen renders; your own scripts go to prolog.d and epilog.d."""

    prolog: bool = field(True, "Check the GPUs before a job; a failure drains the node.")
    epilog: bool = field(True, "Kill processes that a job left on the GPUs, and check the GPUs.")
    task_prolog: bool = field(True, "Pass the NCCL and UCX settings to every task.")
    timeout: Annotated[int, Field(ge=10, le=65533), Bare("second")] = field(
        300, "PrologEpilogTimeout: prolog or epilog fails after this time."
    )
    job_map: bool = field(True, "Export to dcgm-exporter which job uses which GPU.")
    gpu_resets: Annotated[int, Field(ge=0, le=20)] = field(
        2,
        "Resets of a GPU within a day, by the epilog, where memory stays allocated or the driver requests one; then the"
        " node drains. 0: it drains at once.",
    )
    tmpdir: AbsolutePath | None = field(
        None, "Local scratch: a directory per job that the prolog creates and the epilog removes."
    )


PLACES = {"slurm.scripts": (Scripts, section(Scripts, "Prolog and epilog."))}
