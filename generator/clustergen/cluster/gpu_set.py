"""The GPUs of a node, as the cluster has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from clustergen.catalogue.gpu_health import Incident
from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.mig import mig_slurm_type
from clustergen.records import record
from clustergen.slurmconf import scalars

if TYPE_CHECKING:
    from clustergen.cluster.model import NodeGroup


UNVERSIONED_SINCE = 580
"""The first branch whose fabric manager, IMEX and libnvsdm have packages without the branch in their names."""


@record
class MigLayout:
    """How one GPU is split."""

    plan: str  # name in the manifest
    profiles: Mapping[str, int]  # MIG profile → instances


@record
class Driver:
    """NVIDIA's driver of some GPUs."""

    branch: int | None  # as 580; None: the newest that the repository has
    kernel_modules: str  # open or proprietary

    def purpose(self, name: str) -> str:
        """The purpose of packages whose names have the branch, as nvidia_pinning_580."""
        always = name == "nvidia_pinning"
        return f"{name}_{self.branch}" if self.branch and (always or self.branch < UNVERSIONED_SINCE) else name


@record
class GpuSet:
    """The GPUs of a node."""

    SECTIONS = ("Gpus",)
    model: Gpu  # row of the catalogue
    count: int  # of a node
    gres_type: str  # empty where Slurm counts them without types
    numa: tuple[int, ...]  # by GPU; empty where nobody knows
    cores: tuple[str, ...]  # by GPU: Slurm core indices of its NUMA node or socket, as "0-31"; empty where nobody knows
    sockets: tuple[int, ...]  # by GPU
    places_assumed: bool  # numa, cores and sockets: stated neither by the manifest nor by a source
    links: tuple[tuple[int, ...], ...]  # NVLinks between GPUs; empty where a switch joins them, or none are fitted
    nvlink: str  # nvswitch, mesh, bridge or none
    autodetect: str  # nvml, nvidia or off
    driver: Driver
    mig: tuple[MigLayout | None, ...]  # by GPU; empty where MIG is off
    shards_per_gpu: int  # 0: GPUs are not shared
    mps_per_gpu: int  # 0: GPUs are not shared by MPS
    power_limit_w: int | None  # of each GPU; None: its own
    graphics_clock_mhz: int | None  # maximum of each GPU; None: its own
    mig_prefix: str | None = None  # of the types of MIG instances; None: the whole name that Slurm detects
    mig_names: Mapping[str, str] = MappingProxyType({})  # MIG profile → what the release calls it, where it differs
    pci: tuple[str, ...] = ()  # address by GPU; empty where nobody knows
    stated: frozenset[str] = frozenset()  # of fields that have a default: those that the node type gives

    def instance_type(self, profile: str) -> str:
        """The Gres type of a MIG instance: all that Slurm detects, or an end of it."""
        if not self.gres_type:
            return ""
        profile = self.mig_names.get(profile, profile)
        if self.mig_prefix is None:
            return mig_slurm_type(self.model.slurm_type, profile)
        return f"{self.mig_prefix}_{profile}" if self.mig_prefix else profile

    @property
    def gres_count(self) -> int:
        """GPUs as jobs ask for them: each MIG instance is one."""
        return sum(sum(layout.profiles.values()) if layout else 1 for layout in self.mig) or self.count

    @property
    def wired_links(self) -> tuple[int, ...]:
        """NVLinks in use by GPU: to its neighbours, or all that it has where switches join them."""
        if self.links:
            return tuple(sum(number for number in row if number > 0) for row in self.links)
        return (self.model.nvlink_links or 0,) * self.count if self.nvlink == "nvswitch" else ()

    def concerned_by(self, incident: Incident) -> bool:
        """True if an incident of DCGM means anything for these GPUs."""
        if incident.only == "nvl72":
            return "nvl72" in self.model.nvlink_by
        return incident.only != "nvlink" or self.nvlink != "none"

    @property
    def total_shards(self) -> int:
        """Of a node."""
        return self.count * self.shards_per_gpu


def gpus_of(group: NodeGroup) -> int:
    """GPUs of each node: those of its type, or of a Gres that the manifest passes through to Slurm."""
    if group.type.gpus:
        return group.type.gpus.count
    stated = {**group.type.slurm_options, **group.slurm_options}.get("Gres", "")
    return sum(count for (name, _), count in scalars.gres(str(stated)).items() if name == "gpu")
