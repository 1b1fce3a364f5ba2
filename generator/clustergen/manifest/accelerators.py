"""GPU settings, NCCL and UCX."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Name, OptionName, OptionValue, Phrase, Section, field, text

EnvName = Annotated[str, text(r"^[A-Z][A-Z0-9_]*$", "use capitals, digits and _, as NCCL_DEBUG", 100)]
EnvValue = OptionValue
ModuleValue = Annotated[str, text(r"^[A-Za-z0-9_./:,;=-]+$", "use letters, digits and _ . / : , ; = -", 255)]
MigProfile = Annotated[
    str,
    text(
        r"^[1-9]g\.[0-9]+gb([+-][a-z.]+)?$",
        "write the profile as nvidia-smi mig -lgip lists it: 1g.10gb, 3g.40gb, 1g.10gb+me",
        20,
    ),
]


class Override(Section):
    """A setting that the vendor does not recommend, with the reason to use it."""

    value: EnvValue = field(..., "Value.")
    reason: Phrase = field(..., "Reason; printed above the setting.")


class Nccl(Section):
    """NCCL's defaults for all jobs (/etc/nccl.conf, and the task prolog for containers)."""

    version: Annotated[
        str, text(r"^2\.[0-9]{1,2}(\.[0-9]+)?$", 'write major and minor release: "2.27" or "2.27.5"')
    ] = field("2.27", "Oldest NCCL that jobs use; clustergen checks names and values against it.")
    debug: Literal["WARN", "INFO", "VERSION"] | None = field(None, "NCCL_DEBUG; default: NCCL's own.")
    env: dict[EnvName, EnvValue | Override] = field(
        {}, "More NCCL variables; a debugging variable requires {value, reason}."
    )
    topology_file: Literal["auto", "off"] = field(
        "off", "auto: render a topology XML if the catalogue has the required data (for VMs)."
    )
    gid_index: Annotated[int, Field(ge=0, le=255)] | None = field(
        None, "NCCL_IB_GID_INDEX: for RoCE with NCCL before 2.21, as show_gids prints it."
    )


class Ucx(Section):
    """UCX and Open MPI defaults."""

    enabled: bool = field(True, "Whether to render ucx.conf and Open MPI's parameters.")
    env: dict[EnvName, EnvValue] = field({}, "More UCX variables.")
    mca: dict[OptionName, EnvValue] = field({}, "More Open MPI parameters.")


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
