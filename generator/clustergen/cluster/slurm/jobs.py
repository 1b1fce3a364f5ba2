"""A job's surroundings on its node as resolved: its resources, scripts, containers, and directories of its own."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.builds import offers
from clustergen.manifest.slurm import Slurm as Section
from clustergen.records import copied, record


@record
class Resources:
    """Consumable resources, how tasks are confined to them, and how they start."""

    SECTIONS = ("Slurm", "Resources")
    select: str  # SelectType
    select_parameters: tuple[str, ...]  # empty: by `select` and the GPUs
    enforce_binding: bool
    spread_racks: bool
    process_tracking: str  # ProctrackType
    task_plugins: tuple[str, ...]  # TaskPlugin
    mpi_default: str  # MpiDefault
    interactive_step: bool
    disable_root_jobs: bool


def resolve_resources(section: Section, cluster: Cluster) -> Resources:
    """PMIx where every compute node's build has it."""
    systems = {group.type.os.id: group.type.os for group in cluster.compute}.values()
    return copied(
        Resources,
        section.resources,
        enforce_binding=section.enforce_binding,
        mpi_default=section.mpi_default
        or ("pmix" if all(offers(cluster, os, "slurm_pmix") for os in systems) else "pmi2"),
        interactive_step=section.interactive_step,
        disable_root_jobs=section.disable_root_jobs,
    )


@record
class Scripts:
    """Prolog, epilog and task prolog."""

    prolog: bool
    epilog: bool
    task_prolog: bool
    timeout_s: int  # of prolog and epilog
    gpu_resets: int  # of a GPU within a day, by the epilog
    job_map: bool  # the prolog records which job has which GPU, for metrics
    tmpdir: str | None  # local scratch, where both prolog and epilog run

    @property
    def scratch(self) -> str | None:
        """Directory of the jobs' own directories: the prolog makes them, and the epilog removes them."""
        return self.tmpdir.rstrip("/") if self.tmpdir and self.prolog and self.epilog else None
