"""GPU settings."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Name, Section, field, text

ModuleValue = Annotated[str, text(r"^[A-Za-z0-9_./:,;=-]+$", "use letters, digits and _ . / : , ; = -", 255)]
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


class Gpu(Section):
    """GPU settings of all nodes; a node type can override them."""

    driver: Annotated[str, text(r"^[0-9]{3}$", 'write the three digits of the branch: "580"')] | None = field(
        None, "Driver branch, as 580."
    )
    kernel_modules: Literal["open", "proprietary"] | None = field(
        None, "Kernel modules; default: open, which Blackwell requires, and proprietary for GPUs before Turing."
    )
    persistence: bool = field(True, "nvidia-persistenced keeps the driver loaded.")
    peermem: bool = field(False, "Load nvidia_peermem; not required with DMA-BUF.")
    acs: Literal["leave", "off"] = field(
        "leave",
        "off: PCIe bridges allow direct traffic between GPUs and NICs. For bare metal only: ACS isolates virtual"
        " machines.",
    )
    profiling: Literal["admin", "everybody"] = field("admin", "Who can read GPU performance counters.")
    compute_mode: Literal["default", "exclusive-process"] | None = field(None, "Compute mode (nvidia-smi -c).")
    mig_plans: dict[Name, MigPlan] = field({}, "MIG layouts of a GPU, for use in node types.")
    modprobe: dict[
        Annotated[
            str,
            text(
                r"^NVreg_[A-Za-z0-9_]+$",
                "write a parameter of NVIDIA's kernel module, as NVreg_EnablePCIeRelaxedOrderingMode",
            ),
        ],
        ModuleValue | int,
    ] = field({}, "More options of the nvidia module.")
