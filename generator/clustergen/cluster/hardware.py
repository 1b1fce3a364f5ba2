"""Node types: a catalogue system, the manifest's overrides, and what follows from both."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.operating_systems import AARCH64, OperatingSystem, operating_system
from clustergen.catalogue.products import board_hint, systems_hint, systems_like
from clustergen.catalogue.systems import Cpu, System
from clustergen.cluster.catalogue_view import CatalogueView, Report, catalogue_hint
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.gpus import GpuResolver
from clustergen.cluster.model import Gres, NodeType, Port
from clustergen.cluster.roles import COMPUTE, SERVICE, roles_of
from clustergen.cluster.slurm.accounting import shared_pool_mib, shares_node_with_jobs
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, quote
from clustergen.diagnostics.model_path import value_at
from clustergen.hostlist import count
from clustergen.manifest.hardware import Gres as GresSpec
from clustergen.manifest.hardware import NodeType as Spec
from clustergen.manifest.hardware import OwnSystem
from clustergen.manifest.model import Manifest
from clustergen.manifest.nodes import Nodes
from clustergen.records import replace

_STATED = ("cpu.cores_per_socket", "depth", "memory", "nics", "os", "power.max", "rack_units", "real_memory")
_SUPERCHIP = "superchip"  # form of a GPU that shares its module with NVIDIA's Grace
_ROLES = {
    "compute": "fabric",
    "storage": "storage",
    "inband": "management",
    "management": "management",
}


def _models(name: str) -> set[str]:
    """`h100` of `dgx-h100`."""
    return set(re.findall("[a-z]+[0-9]+[a-z]*", name.lower()))


def _rate(model: parts.Nic | None, gbit: float | None, *, ethernet: bool) -> float | None:
    """Of a port: some adapters are slower as Ethernet."""
    limit = model.ethernet_gbit if model and ethernet else None
    return min(gbit, limit) if gbit and limit else gbit


def _driver(model: parts.Nic | None) -> str:
    return model.drivers[0] if model and model.drivers else ""


@cache
def _unstated() -> Spec:
    return Spec.model_construct()


class TypeResolver:
    """Turns the manifest's node types into hardware, and says what cannot be resolved."""

    def __init__(self, manifest: Manifest, catalogue_view: CatalogueView, report: Report) -> None:
        self.manifest = manifest
        self.report = report
        self.catalogue_view = catalogue_view
        self.gpus = GpuResolver(manifest, catalogue_view, report)
        self.entries: defaultdict[str, list[Nodes]] = defaultdict(list)
        """Entries of `nodes` by type."""
        for entry in manifest.nodes:
            self.entries[entry.type].append(entry)

    def service(self) -> NodeType:
        """A machine that runs no jobs and of which nothing is known."""
        return self._assemble(SERVICE, _unstated(), None, None, (), is_resolved=False)

    def resolve(self, name: str, spec: Spec) -> NodeType:
        path: ManifestPath = ("node_types", name)
        base: System | None = None
        if spec.system is not None:
            base = self.catalogue_view.system(spec.system)
            if base is None:
                self.report(
                    Finding(
                        "system-unknown",
                        (*path, "system"),
                        f"system '{spec.system}' is not in the catalogue",
                        self._hint_for_system(spec),
                    )
                )
                return self._assemble(name, spec, None, None, (), is_resolved=False)
        missing = [
            key
            for key, value in (
                ("cpu.cores_per_socket", spec.cpu.cores_per_socket or (base and base.cpu.cores_per_socket)),
                ("memory", spec.memory or spec.real_memory or (base and base.memory_mib)),
            )
            if not value
        ]
        if missing:
            self.report(
                Finding(
                    "hardware-incomplete",
                    path,
                    f"node type '{name}' sets neither system nor {' and '.join(missing)}"
                    if base is None
                    else f"node type '{name}' requires {' and '.join(missing)}, which its system does not define",
                    self._hint_for_missing(name, missing) if base is None else None,
                    key=True,
                )
            )
            return self._assemble(name, spec, None, None, (), is_resolved=False)
        cpu = self._cpu(path, spec, base)
        gpus = self.gpus.resolve(path, spec, base, cpu)
        return self._assemble(name, spec, base, gpus, tuple(self._ports(spec, base)), is_resolved=True, cpu=cpu)

    def _hint_for_missing(self, name: str, missing: list[str]) -> str:
        """Machines of roles other than slurm-compute need no node type."""
        entries = self.entries[name]
        is_idle = entries and all(entry.roles and COMPUTE not in entry.roles for entry in entries)
        other = "write type: service for machines that run no jobs, or " if is_idle else ""
        samples = {"memory": "memory: 512GiB", "cpu.cores_per_socket": "cpu: {sockets: 2, cores_per_socket: 32}"}
        added = ", ".join(samples[key] for key in missing)
        return f"{other}set system to one of clustergen catalogue systems, or add {added}"

    def _near_system(self, name: str) -> str | None:
        """A system with the same GPU, where the name has one: 'gh200' looks like 'hgx-h200' and is something else."""
        systems = self.catalogue_view.system_names()
        gpus = _models(name).intersection(map(str.lower, self.catalogue_view.gpu_names()))
        return did_you_mean(name, [system for system in systems if not gpus or gpus & _models(system)])

    def _hint_for_system(self, spec: Spec) -> str:
        """The closest name; else the systems of the same vendor: a 'dell-r760xa' is no 'dell-xe9680'."""
        name = spec.system or ""
        if spec.cpu.cores_per_socket and (spec.memory or spec.real_memory):
            return (
                "remove system: cpu and memory describe the machine, or run clustergen catalogue systems for all names"
            )
        otherwise = "define it under catalogue.systems, or set cpu, memory and gpus here"
        site = [system for system in self.manifest.catalogue.systems if system.startswith(name)]
        if len(names := [*site, *systems_like(name)]) > 1:
            return systems_hint(names)
        if guess := f"did you mean {quote(names[0])}?" if names else self._near_system(name):
            return catalogue_hint("systems", guess, otherwise)
        if hint := board_hint(name):
            return hint
        vendor = re.split("[-_ ]", name.lower(), maxsplit=1)[0]
        names = [system for system in self.catalogue_view.system_ids() if system.startswith(f"{vendor}-")]
        listing = catalogue_hint("systems", None, otherwise)
        return f"the catalogue's {vendor} systems: {', '.join(names)}; {listing}" if names else listing

    def _cpu(self, path: ManifestPath, spec: Spec, base_system: System | None) -> Cpu:
        base = base_system.cpu if base_system else Cpu(1, 1)
        spec_cpu = spec.cpu
        cpu = Cpu(
            spec_cpu.sockets or base.sockets or 1,
            spec_cpu.cores_per_socket or base.cores_per_socket,
            spec_cpu.threads_per_core or base.threads_per_core,
            spec_cpu.numa_per_socket or base.numa_per_socket,
            spec_cpu.model or base.model,
        )
        if cpu.cores_per_socket % cpu.numa_per_socket:
            self.report(
                Finding(
                    "numa-uneven",
                    (*path, "cpu", "numa_per_socket"),
                    f"{cpu.cores_per_socket} cores per socket cannot be divided evenly among"
                    f" {cpu.numa_per_socket} NUMA nodes",
                    "run `lscpu` on a node; it shows the cores per socket and the NUMA nodes of all sockets",
                )
            )
            return replace(cpu, numa_per_socket=1)
        return cpu

    def _ports(self, spec: Spec, base: System | None) -> Iterator[Port]:
        fabric = self.manifest.networks.fabric
        ethernet = fabric is not None and fabric.type != "infiniband"
        rail = 0
        if spec.nics is not None:
            for nic in spec.nics:
                number = nic.rail
                if nic.network == "fabric":
                    number, rail = (rail if number is None else number), rail + 1
                model = parts.nic(nic.model) if nic.model else None
                yield Port(
                    device=nic.device,
                    interface=nic.interface,
                    network=nic.network,
                    rail=number,
                    numa=nic.numa,
                    pci=nic.pci,
                    max_gbit=_rate(model, model.max_gbit, ethernet=ethernet and nic.network == "fabric")
                    if model
                    else None,
                    connector=nic.connector or (model.connector if model else ""),
                    connector_options=model.connector_options if model and not nic.connector else (),
                    driver=_driver(model),
                    model=model.id if model else "",
                )
            return
        if base is None:
            return
        if base.id in self.manifest.catalogue.systems:
            own_system = self.manifest.catalogue.systems[base.id]
            yield from self._ports(Spec.model_construct(nics=own_system.nics), None)
            return
        for port in base.nics:
            if port.role == "bmc":
                continue
            network = _ROLES[port.role]
            infiniband = not ethernet and (network == "fabric" or port.link == "infiniband")
            interface = (port.netdev_ib if infiniband else port.netdev_eth) or None
            number = None
            if network == "fabric":
                if fabric is not None and rail < len(fabric.interfaces):
                    interface = fabric.interfaces[rail]
                number, rail = rail, rail + 1
            model = parts.nic(port.nic) if port.nic else None
            if network == "fabric" or port.rdma or interface:
                yield Port(
                    device=port.rdma or interface or "",
                    interface=interface,
                    network=network,
                    rail=number,
                    numa=port.numa,
                    pci=port.pci or None,
                    max_gbit=_rate(model, port.gbit, ethernet=not infiniband),
                    label=port.label,
                    cage=port.cage,
                    connector=port.connector,
                    connector_options=model.connector_options if model and "connector" in port.unverified else (),
                    driver=_driver(model),
                    model=model.id if model else "",
                )

    def _assemble(
        self,
        name: str,
        spec: Spec,
        base: System | None,
        gpus: GpuSet | None,
        ports: tuple[Port, ...],
        *,
        is_resolved: bool,
        cpu: Cpu | None = None,
    ) -> NodeType:
        cpu = cpu or Cpu(1, 1)
        memory = spec.memory.mib if spec.memory else (base.memory_mib if base else spec.real_memory or 0)
        power = spec.power
        psu = base.psu if base else None
        own_system = self.manifest.catalogue.systems.get(spec.system or "")
        if own_system is not None:
            power = own_system.power.model_copy(
                update={field: getattr(power, field) for field in power.model_fields_set}
            )
        bare = self.manifest.slurm is None or self.manifest.slurm.defaults == "slurm"
        reserved = spec.reserved.memory.mib if spec.reserved.memory else 0 if bare else _usual_reserve(memory)
        roles = [roles_of(entry, has_gpus=gpus is not None) for entry in self.entries[name]]
        if not spec.reserved.memory and not bare and shares_node_with_jobs(self.manifest, roles):
            reserved += shared_pool_mib(memory)
        return NodeType(
            name=name,
            like=spec.like,
            os=self._os(spec, base, gpus),
            system=base.id if base else None,
            title=base.name if base else ("service machine" if name == SERVICE else name),
            is_builtin=name not in self.manifest.node_types,
            is_resolved=is_resolved,
            stated=frozenset(path for path in _STATED if value_at(spec, path) is not None),
            cpu_model=cpu.model,
            sockets=cpu.sockets,
            cores_per_socket=cpu.cores_per_socket,
            threads_per_core=cpu.threads_per_core,
            numa_per_socket=cpu.numa_per_socket,
            memory_mib=memory,
            stated_memory_mib=spec.real_memory,
            names_gpus=_names_gpus(spec, own_system),
            gpus=gpus,
            ports=ports,
            bmc_ports=_bmc_ports(base),
            psus=power.psus or (psu.installed if psu else None),
            psu_w=power.psu.value if power.psu else (psu.watt if psu else None),
            psus_redundant=power.redundant if power.redundant is not None else (psu.redundant if psu else None),
            power_max_w=power.max.value if power.max else (base.power_max_w if base else None),
            rack_units=spec.rack_units if spec.rack_units is not None else ((base.rack_units if base else None) or 1),
            depth_mm=spec.depth or (base.depth_mm if base else None),
            cpu_numbering=spec.cpu.numbering or (own_system and own_system.cpu.numbering) or "sockets",
            reserved_cores=spec.reserved.cores or 0,
            polling={},
            reserved_mib=min(reserved, memory) if is_resolved else 0,
            features=_features(spec, None if bare else gpus),
            weight=spec.weight,
            numa_as_socket=False,
            group="type_" + name.replace("-", "_"),
            gres=tuple(_gres(name, value) for name, value in spec.gres.items()),
            slurm_options=dict(spec.slurm_options),
        )

    def _os(self, spec: Spec, system: System | None, gpus: GpuSet | None) -> OperatingSystem:
        grace = gpus is not None and gpus.model.form == _SUPERCHIP
        arch = spec.arch or (system.arch if system else "") or (AARCH64 if grace else self.manifest.arch)
        os = operating_system(spec.os or self.manifest.os, arch)
        assert os is not None, "the manifest's schema and the catalogue name the same operating systems"
        return os


def _gres(name: str, value: str | int | GresSpec) -> Gres:
    spec = value if isinstance(value, GresSpec) else GresSpec(count=value)
    number = spec.count or (count(spec.files.rpartition("/")[2]) if spec.files else 1)
    flags = spec.flags or (() if spec.files else ("CountOnly",))
    return Gres(name, str(number).removesuffix("iB"), spec.files or "", spec.type or "", flags)


def _names_gpus(spec: Spec, own_system: OwnSystem | None) -> bool:
    named = spec.gpus.model or spec.gpus.count or (own_system and own_system.gpu)
    return bool(named) and spec.gpus.count != 0


def _bmc_ports(system: System | None) -> tuple[Port, ...]:
    """Ports of the management controller, named as printed on the machine. The node's own system does not see them."""
    return tuple(
        Port(
            device=port.label,
            interface=None,
            network="bmc",
            rail=None,
            numa=None,
            pci=None,
            max_gbit=port.gbit,
            label=port.label,
            cage=port.cage,
            connector=port.connector,
        )
        for port in (system.nics if system else ())
        if port.role == "bmc" and port.label
    )


def _usual_reserve(memory_mib: int) -> int:
    """MiB for the system where the manifest says nothing: 2 %, 2 GiB at least, 32 GiB or a quarter at most."""
    return min(32768, max(2048, memory_mib * 2 // 100), memory_mib // 4)


def _features(spec: Spec, gpus: GpuSet | None) -> tuple[str, ...]:
    """The manifest's, and those that users ask for by hardware: GPU type, architecture, nvlink."""
    made = list(spec.features)
    if gpus:
        made += [
            gpus.gres_type,
            gpus.model.architecture.split(" ")[0].lower(),
            *(["nvlink"] if gpus.nvlink != "none" else []),
        ]
    return tuple(dict.fromkeys(feature for feature in made if feature))
