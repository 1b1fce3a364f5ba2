"""Settings of NVIDIA's driver and of all GPUs, as resolved."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.manifest.model import Manifest
from clustergen.records import record

_TURING = 7.5  # compute capability


@record
class Driver:
    """NVIDIA's driver."""

    branch: str | None  # as 580; None: the newest
    kernel_modules: str  # open or proprietary


@record
class DriverModule:
    """Kernel modules of the driver."""

    SECTIONS = ("Gpu",)
    options: Mapping[str, str]  # of the module nvidia
    peermem: bool


@record
class GpuSettings:
    """Settings of all GPUs."""

    SECTIONS = ("Gpu",)
    persistence: bool  # nvidia-persistenced keeps the driver loaded
    compute_mode: str | None  # None: left as it is


@record
class DirectPci:
    """ACS is off: PCIe bridges allow direct traffic between GPUs and NICs. Absent: left as it is."""


@record
class MigPlans:
    """Layouts of GPUs."""

    defined: tuple[str, ...]  # names in the manifest
    used: frozenset[str]  # those that node types use


def resolve_driver(manifest: Manifest, cluster: Cluster) -> Driver:
    """NVIDIA's open kernel modules drive GPUs from Turing on."""
    section = manifest.gpu
    capabilities = [float(kind.gpus.model.sm) for kind in cluster.gpu_types if kind.gpus and kind.gpus.model.sm]
    fitting = "open" if min(capabilities, default=_TURING) >= _TURING else "proprietary"
    return Driver(section.driver, section.kernel_modules or fitting)


def resolve_module(manifest: Manifest, _: Cluster) -> DriverModule:
    section = manifest.gpu
    profiling = {"NVreg_RestrictProfilingToAdminUsers": "0" if section.profiling == "everybody" else "1"}
    return DriverModule(profiling | {name: str(value) for name, value in section.modprobe.items()}, section.peermem)


def resolve_settings(manifest: Manifest, _: Cluster) -> GpuSettings:
    return GpuSettings(manifest.gpu.persistence, manifest.gpu.compute_mode)


def resolve_direct_pci(manifest: Manifest, _: Cluster) -> DirectPci | None:
    return DirectPci() if manifest.gpu.acs == "off" else None


def resolve_mig_plans(manifest: Manifest, _: Cluster) -> MigPlans:
    used: set[str] = set()
    for spec in manifest.node_types.values():
        mig = spec.gpus.mig
        used |= {mig} if isinstance(mig, str) else set(mig.values()) if mig else set()
    return MigPlans(tuple(manifest.gpu.mig_plans), frozenset(used))
