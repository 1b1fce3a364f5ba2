"""Settings of NVIDIA's driver on all GPUs, as resolved."""

from __future__ import annotations

from clustergen.cluster.gpu_settings import DriverModule
from clustergen.cluster.model import Cluster
from clustergen.manifest.accelerators import Gpu
from clustergen.records import record


@record
class GpuSettings:
    """Settings of all GPUs."""

    SECTIONS = ("Gpu",)
    persistence: bool  # nvidia-persistenced keeps the driver loaded
    compute_mode: str | None  # None: left as it is


@record
class DirectPci:
    """ACS is off: PCIe bridges allow direct traffic between GPUs and NICs. Absent: left as it is."""


def resolve_module(section: Gpu, _: Cluster) -> DriverModule:
    profiling = {"NVreg_RestrictProfilingToAdminUsers": "0" if section.profiling == "everybody" else "1"}
    return DriverModule(profiling | {name: str(value) for name, value in section.modprobe.items()}, section.peermem)


def resolve_settings(section: Gpu, _: Cluster) -> GpuSettings:
    return GpuSettings(section.persistence, section.compute_mode)


def resolve_direct_pci(section: Gpu, _: Cluster) -> DirectPci | None:
    return DirectPci() if section.acs == "off" else None


RECORDS = {DriverModule: resolve_module, GpuSettings: resolve_settings, DirectPci: resolve_direct_pci}
