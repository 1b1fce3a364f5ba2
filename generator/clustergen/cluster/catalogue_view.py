"""The catalogue with the site's own rows before ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.systems import Cpu, System, SystemGpu, spread_gpus, system, system_ids, system_names
from clustergen.diagnostics import Finding
from clustergen.manifest.hardware import OwnCatalogue, OwnGpu, OwnSwitch, OwnSystem
from clustergen.records import record

Report = Callable[[Finding], None]
"""Receives a finding for what cannot be resolved."""


_UNKNOWN = parts.Gpu("unknown", "NVIDIA GPU", slurm_type="", gres_type="")
"""A GPU of which nobody says what it is."""


@record
class CatalogueView:
    """The catalogue with the site's own rows before ours."""

    own_gpus: Mapping[str, parts.Gpu]  # the site's own, by name
    own_systems: Mapping[str, System]  # the site's own, by name
    own_switches: Mapping[str, parts.Switch]  # the site's own, by name

    def gpu(self, name: str) -> parts.Gpu | None:
        return self.own_gpus.get(name) or (_UNKNOWN if name == _UNKNOWN.id else parts.gpu(name))

    def gpu_names(self) -> list[str]:
        return [*self.own_gpus, *parts.gpu_names()]

    def system(self, name: str) -> System | None:
        return self.own_systems.get(name) or system(name)

    def system_names(self) -> list[str]:
        return [*self.own_systems, *system_names()]

    def system_ids(self) -> list[str]:
        return [*self.own_systems, *system_ids()]

    def switch(self, name: str) -> parts.Switch | None:
        return self.own_switches.get(name) or parts.switch(name)

    def switch_names(self) -> list[str]:
        models = parts.switches().values()
        return [*self.own_switches, *(name for row in models for name in (row.id, *row.aliases))]


def resolve_catalogue(section: OwnCatalogue) -> CatalogueView:
    return CatalogueView(
        {name: _own_gpu(name, entry) for name, entry in section.gpus.items()},
        {name: _own_system(name, entry) for name, entry in section.systems.items()},
        {name: _own_switch(name, entry) for name, entry in section.switches.items()},
    )


def catalogue_hint(topic: str, guess: str | None, otherwise: str) -> str:
    """The hint for a name that the catalogue lacks: the closest one, and where all are listed."""
    listing = f"run clustergen catalogue {topic} for all names"
    return f"{guess} {listing}" if guess else f"{listing}, or {otherwise}"


def _own_gpu(name: str, entry: OwnGpu) -> parts.Gpu:
    slurm_type = entry.nvml_name.lower().replace(" ", "_")
    return parts.Gpu(
        id=name,
        nvml_name=entry.nvml_name,
        slurm_type=slurm_type,
        gres_type=slurm_type,
        memory_gb=int(entry.memory.gb),
        nvml_mib=entry.memory.mib,
        tdp_w=entry.power.value,
        max_sm_mhz=entry.max_clock,
        source=(entry.source,),
    )


def _own_system(name: str, entry: OwnSystem) -> System:
    cpu = Cpu(
        entry.cpu.sockets or 1,
        entry.cpu.cores_per_socket or 0,  # not said here: a node type has to
        entry.cpu.threads_per_core or 1,
        entry.cpu.numa_per_socket or 1,
        entry.cpu.model or "",
    )
    return System(
        id=name,
        name=name,
        cpu=cpu,
        memory_mib=entry.memory.mib,
        arch=entry.arch or "",
        gpu=entry.gpu,
        gpu_count=entry.gpu_count,
        gpus=placed(cpu, entry.gpu_count, entry.gpu_numa),
        power_max_w=entry.power.max.value if entry.power.max else None,
        rack_units=entry.rack_units,
        source=(entry.source,),
    )


def _own_switch(name: str, entry: OwnSwitch) -> parts.Switch:
    return parts.Switch(
        id=name,
        model=name,
        fabric=entry.fabric,
        ports=entry.ports,
        port_gbit=gbit(entry.rate),
        rack_units=entry.rack_units,
        power_max_w=entry.power.value if entry.power else None,
        source=(entry.source,),
    )


def gbit(rate: str) -> int | None:
    """Gb/s of a rate by name (HDR) or as a bit rate (200Gb/s); None where it is neither."""
    from clustergen.units import BitRate, UnitError

    if named := parts.link_rate(rate):
        return named.gbit
    try:
        return int(BitRate.parse(rate).gbit)
    except UnitError:
        return None


def placed(cpu: Cpu, count: int, numa: tuple[int, ...]) -> tuple[SystemGpu, ...]:
    """GPUs on the NUMA nodes that the manifest names, or spread over the sockets."""
    if len(numa) != count or not count or max(numa) >= cpu.numa_nodes:
        return spread_gpus(cpu, count)
    return tuple(
        SystemGpu(i, node // cpu.numa_per_socket, cpu.cores_of_numa(node), numa=node) for i, node in enumerate(numa)
    )
