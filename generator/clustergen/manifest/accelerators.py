"""GPU settings: MIG layouts, which decide what Slurm counts; the driver's are of a feature."""

from typing import Annotated

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


class MigPlan(Section):
    """The MIG instances of one GPU."""

    profiles: dict[MigProfile, Annotated[int, Field(ge=1, le=7)]] = field(
        ..., "As {3g.40gb: 1, 1g.10gb: 4}.", min_length=1
    )


@composed("gpu")
class Gpu(Section):
    """GPU settings of all nodes; a node type can override them."""

    driver: Place
    kernel_modules: Place
    persistence: Place
    peermem: Place
    acs: Place
    profiling: Place
    compute_mode: Place
    mig_plans: dict[Name, MigPlan] = field({}, "MIG layouts of a GPU, for use in node types.")
    modprobe: Place
