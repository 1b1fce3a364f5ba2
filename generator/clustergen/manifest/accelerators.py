"""GPU settings that several features read: the driver's branch, and MIG layouts, which decide what Slurm counts."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Name, Section, field, text
from clustergen.manifest.composition import Place, composed

MigProfile = Annotated[
    str,
    text(
        r"^[1-9]g\.[0-9]+gb([+-][a-z.]+)?$",
        "write the profile as nvidia-smi mig -lgip lists it: 1g.10gb, 3g.40gb, 1g.10gb+me",
        20,
    ),
]


DriverBranch = Annotated[
    str,
    text(r"^([0-9]{3}|auto)$", 'write the three digits of the branch, as "580", or auto for the newest in production'),
]
KernelModules = Literal["open", "proprietary"]


class MigPlan(Section):
    """The MIG instances of one GPU."""

    profiles: dict[MigProfile, Annotated[int, Field(ge=1, le=7)]] = field(
        ..., "As {3g.40gb: 1, 1g.10gb: 4}.", min_length=1
    )


@composed("gpu")
class Gpu(Section):
    """GPU settings of all nodes; a node type can override them."""

    driver: DriverBranch | None = field(
        None,
        "Driver branch, as 580; auto: of each node type, the newest production branch that serves its GPUs."
        " Default: the newest that the repository has, or the last one that serves the GPUs.",
    )
    kernel_modules: KernelModules | None = field(
        None, "Kernel modules; default: open, which Blackwell requires, and proprietary for GPUs before Turing."
    )
    persistence: Place
    peermem: Place
    acs: Place
    profiling: Place
    compute_mode: Place
    mig_plans: dict[Name, MigPlan] = field({}, "MIG layouts of a GPU, for use in node types.")
    modprobe: Place
