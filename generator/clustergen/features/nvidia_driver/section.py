"""NVIDIA's driver and settings of all GPUs, as written."""

from typing import Annotated, Literal

from clustergen.manifest.base import field, text

Branch = Annotated[str, text(r"^[0-9]{3}$", 'write the three digits of the branch: "580"')]
Parameter = Annotated[
    str,
    text(
        r"^NVreg_[A-Za-z0-9_]+$",
        "write a parameter of NVIDIA's kernel module, as NVreg_EnablePCIeRelaxedOrderingMode",
    ),
]
ModuleValue = Annotated[str, text(r"^[A-Za-z0-9_./:,;=-]+$", "use letters, digits and _ . / : , ; = -", 255)]

PLACES = {
    "gpu.driver": (Branch | None, field(None, "Driver branch, as 580.")),
    "gpu.kernel_modules": (
        Literal["open", "proprietary"] | None,
        field(None, "Kernel modules; default: open, which Blackwell requires, and proprietary for GPUs before Turing."),
    ),
    "gpu.persistence": (bool, field(True, "nvidia-persistenced keeps the driver loaded.")),
    "gpu.peermem": (bool, field(False, "Load nvidia_peermem; not required with DMA-BUF.")),
    "gpu.acs": (
        Literal["leave", "off"],
        field(
            "leave",
            "off: PCIe bridges allow direct traffic between GPUs and NICs. For bare metal only: ACS isolates virtual"
            " machines.",
        ),
    ),
    "gpu.profiling": (Literal["admin", "everybody"], field("admin", "Who can read GPU performance counters.")),
    "gpu.compute_mode": (
        Literal["default", "exclusive-process"] | None,
        field(None, "Compute mode (nvidia-smi -c)."),
    ),
    "gpu.modprobe": (dict[Parameter, ModuleValue | int], field({}, "More options of the nvidia module.")),
}
