"""NVIDIA's driver and settings of all GPUs, as resolved."""

from __future__ import annotations

from clustergen.cluster.gpu_settings import Driver, DriverModule
from clustergen.cluster.model import Cluster
from clustergen.manifest.accelerators import Gpu
from clustergen.records import record

_TURING = 7.5  # compute capability


@record
class GpuSettings:
    """Settings of all GPUs."""

    SECTIONS = ("Gpu",)
    persistence: bool  # nvidia-persistenced keeps the driver loaded
    compute_mode: str | None  # None: left as it is


@record
class DirectPci:
    """ACS is off: PCIe bridges allow direct traffic between GPUs and NICs. Absent: left as it is."""


def resolve(section: Gpu, cluster: Cluster) -> Driver:
    """NVIDIA's open kernel modules drive GPUs from Turing on."""
    capabilities = [float(kind.gpus.model.sm) for kind in cluster.gpu_types if kind.gpus and kind.gpus.model.sm]
    fitting = "open" if min(capabilities, default=_TURING) >= _TURING else "proprietary"
    return Driver(section.driver, section.kernel_modules or fitting)


def resolve_module(section: Gpu, _: Cluster) -> DriverModule:
    profiling = {"NVreg_RestrictProfilingToAdminUsers": "0" if section.profiling == "everybody" else "1"}
    return DriverModule(profiling | {name: str(value) for name, value in section.modprobe.items()}, section.peermem)


def resolve_settings(section: Gpu, _: Cluster) -> GpuSettings:
    return GpuSettings(section.persistence, section.compute_mode)


def resolve_direct_pci(section: Gpu, _: Cluster) -> DirectPci | None:
    return DirectPci() if section.acs == "off" else None


RECORDS = {Driver: resolve, DriverModule: resolve_module, GpuSettings: resolve_settings, DirectPci: resolve_direct_pci}
