"""Node types: a catalogue system, the manifest's overrides, and what follows from both."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.operating_systems import OperatingSystem, operating_system
from clustergen.catalogue.systems import Cpu, System
from clustergen.cluster.gpus import GpuResolver
from clustergen.cluster.model import GpuSet, NodeType, Port
from clustergen.cluster.shelf import Report, Shelf
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.hardware import NodeType as Written
from clustergen.manifest.model import Manifest

SERVICE = "service"
_ROLES = {"compute": "fabric", "storage": "storage", "inband": "management", "management": "management"}


class TypeResolver:
    """Turns the manifest's node types into hardware, and says what cannot be resolved."""

    def __init__(self, manifest: Manifest, report: Report) -> None:
        self.manifest = manifest
        self.report = report
        self.shelf = Shelf(manifest)
        self.gpus = GpuResolver(self.shelf, report)

    def service(self) -> NodeType:
        """A machine that runs no jobs and of which nothing is known."""
        return self._assemble(SERVICE, Written(), None, None, (), known=False)

    def resolve(self, name: str, written: Written) -> NodeType:
        path: ManifestPath = ("node_types", name)
        found: System | None = None
        if written.system is not None:
            found = self.shelf.system(written.system)
            if found is None:
                self.report(
                    Finding(
                        "system-unknown",
                        (*path, "system"),
                        f"the catalogue has no system called '{written.system}'",
                        did_you_mean(written.system, self.shelf.system_names())
                        or "describe yours under catalogue.systems, or state cpu, memory and gpus here",
                    )
                )
                return self._assemble(name, written, None, None, (), known=False)
        missing = [
            key
            for key, value in (
                ("cpu.cores_per_socket", written.cpu.cores_per_socket or (found and found.cpu.cores_per_socket)),
                ("memory", written.memory or written.real_memory or (found and found.memory_mib)),
            )
            if not value
        ]
        if missing:
            self.report(
                Finding(
                    "hardware-incomplete",
                    path,
                    f"node type '{name}' says neither system nor {' and '.join(missing)}"
                    if found is None
                    else f"node type '{name}' needs {' and '.join(missing)}, which its system leaves open",
                    f"name a system of the catalogue, or state {' and '.join(missing)}" if found is None else None,
                    key=True,
                )
            )
            return self._assemble(name, written, None, None, (), known=False)
        cpu = self._cpu(path, written, found)
        gpus = self.gpus.resolve(path, written, found, cpu)
        return self._assemble(name, written, found, gpus, tuple(self._ports(written, found)), known=True, cpu=cpu)

    def _cpu(self, path: ManifestPath, written: Written, found: System | None) -> Cpu:
        base = found.cpu if found else Cpu(1, 1)
        own = written.cpu
        cpu = Cpu(
            own.sockets or base.sockets or 1,
            own.cores_per_socket or base.cores_per_socket,
            own.threads_per_core or base.threads_per_core,
            own.numa_per_socket or base.numa_per_socket,
            own.model or base.model,
        )
        if cpu.cores_per_socket % cpu.numa_per_socket:
            self.report(
                Finding(
                    "numa-uneven",
                    (*path, "cpu", "numa_per_socket"),
                    f"{cpu.cores_per_socket} cores of a socket do not share out evenly among"
                    f" {cpu.numa_per_socket} NUMA nodes",
                    "`lscpu` shows both: cores per socket, and NUMA nodes of all sockets",
                )
            )
            return cpu._replace(numa_per_socket=1)
        return cpu

    def _ports(self, written: Written, found: System | None) -> Iterator[Port]:
        fabric = self.manifest.networks.fabric
        rail = 0
        if written.nics is not None:
            for nic in written.nics:
                number = nic.rail
                if nic.network == "fabric":
                    number, rail = (rail if number is None else number), rail + 1
                model = parts.nic(nic.model) if nic.model else None
                yield Port(
                    nic.device, nic.interface, nic.network, number, nic.numa, nic.pci, model.max_gbit if model else None
                )
            return
        if found is None:
            return
        if found.id in self.manifest.catalogue.systems:
            own = self.manifest.catalogue.systems[found.id]
            yield from self._ports(Written(nics=own.nics), None)
            return
        ethernet = fabric is not None and fabric.type != "infiniband"
        for port in found.nics:
            network = _ROLES[port.role]
            interface = (port.netdev_eth if ethernet or network != "fabric" else port.netdev_ib) or None
            if network == "fabric":
                if fabric is not None and rail < len(fabric.interfaces):
                    interface = fabric.interfaces[rail]
                yield Port(
                    port.rdma or interface or "", interface, network, rail, port.numa, port.pci or None, port.gbit
                )
                rail += 1
            elif port.rdma or interface:
                yield Port(
                    port.rdma or interface or "", interface, network, None, port.numa, port.pci or None, port.gbit
                )

    def _assemble(
        self,
        name: str,
        written: Written,
        found: System | None,
        gpus: GpuSet | None,
        ports: tuple[Port, ...],
        *,
        known: bool,
        cpu: Cpu | None = None,
    ) -> NodeType:
        cpu = cpu or Cpu(1, 1)
        memory = written.memory.mib if written.memory else (found.memory_mib if found else written.real_memory or 0)
        own = written.power
        psu = found.psu if found else None
        own_system = self.manifest.catalogue.systems.get(written.system or "")
        if own_system is not None:
            own = own_system.power.model_copy(update=own.model_dump(exclude_unset=True))
        bare = self.manifest.slurm.defaults == "slurm"
        reserved = written.reserved.memory.mib if written.reserved.memory else 0 if bare else _usual_reserve(memory)
        return NodeType(
            name=name,
            os=self._os(written),
            system=found.id if found else None,
            title=found.name if found else ("service machine" if name == SERVICE else name),
            known=known,
            cpu_model=cpu.model,
            sockets=cpu.sockets,
            cores_per_socket=cpu.cores_per_socket,
            threads_per_core=cpu.threads_per_core,
            numa_per_socket=cpu.numa_per_socket,
            memory_mib=memory,
            stated_memory_mib=written.real_memory,
            gpus=gpus,
            ports=ports,
            psus=own.psus or (psu.installed if psu else None),
            psu_w=own.psu.value if own.psu else (psu.watt if psu else None),
            psus_redundant=own.redundant if own.redundant is not None else (psu.redundant if psu else None),
            power_max_w=own.max.value if own.max else (found.power_max_w if found else None),
            rack_units=written.rack_units
            if written.rack_units is not None
            else ((found.rack_units if found else None) or 1),
            reserved_cores=written.reserved.cores or 0,
            reserved_mib=min(reserved, memory) if known else 0,
            features=_features(written, None if bare else gpus),
            weight=written.weight,
            numa_as_socket=False,
            group="type_" + name.replace("-", "_"),
            slurm_options=dict(written.slurm_options),
        )

    def _os(self, written: Written) -> OperatingSystem:
        found = operating_system(written.os or self.manifest.os)
        assert found is not None, "the manifest's schema and the catalogue name the same operating systems"
        return found


def _usual_reserve(memory_mib: int) -> int:
    """MiB for the system where the manifest says nothing: 2 %, 2 GiB at least, 32 GiB or a quarter at most."""
    return min(32768, max(2048, memory_mib * 2 // 100), memory_mib // 4)


def _features(written: Written, gpus: GpuSet | None) -> tuple[str, ...]:
    """The manifest's, and those that users ask for by hardware: GPU type, architecture, nvlink."""
    made = list(written.features)
    if gpus:
        made += [
            gpus.gres_type,
            gpus.model.architecture.split(" ")[0].lower(),
            *(["nvlink"] if gpus.nvlink != "none" else []),
        ]
    return tuple(dict.fromkeys(feature for feature in made if feature))
