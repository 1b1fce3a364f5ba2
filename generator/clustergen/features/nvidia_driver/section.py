"""Settings of NVIDIA's driver on all GPUs, as written."""

from typing import Annotated, Literal

from clustergen.manifest.base import field, text

Parameter = Annotated[
    str,
    text(
        r"^NVreg_[A-Za-z0-9_]+$",
        "write a parameter of NVIDIA's kernel module, as NVreg_EnablePCIeRelaxedOrderingMode",
    ),
]
ModuleValue = Annotated[str, text(r"^[A-Za-z0-9_./:,;=-]+$", "use letters, digits and _ . / : , ; = -", 255)]

PLACES = {
    "gpu.persistence": (bool, field(True, "nvidia-persistenced keeps the driver loaded.")),
    "gpu.peermem": (
        bool | None,
        field(
            None,
            "Load nvidia_peermem; default: with proprietary kernel modules, which have no DMA-BUF, where a fabric has"
            " RDMA.",
        ),
    ),
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
