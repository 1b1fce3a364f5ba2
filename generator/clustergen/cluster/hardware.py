"""Node types: a catalogue system, the manifest's overrides, and what follows from both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.operating_systems import OperatingSystem, operating_system
from clustergen.catalogue.systems import Cpu, System, SystemGpu, spread_gpus, system, system_names
from clustergen.cluster.model import GpuSet, MigLayout, NodeType, Port
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.manifest.hardware import NodeType as Written
from clustergen.manifest.hardware import OwnGpu, OwnSystem
from clustergen.manifest.model import Manifest
from clustergen.records import record

Report = Callable[[Finding], None]
SERVICE = "service"
_ROLES = {"compute": "fabric", "storage": "storage", "inband": "management", "management": "management"}


@record
class Shelf:
    """The catalogue with the site's own rows before ours."""

    manifest: Manifest

    def gpu(self, name: str) -> parts.Gpu | None:
        own = self.manifest.catalogue.gpus.get(name)
        return _own_gpu(name, own) if own else parts.gpu(name)

    def gpu_names(self) -> list[str]:
        return [*self.manifest.catalogue.gpus, *parts.gpu_names()]

    def system(self, name: str) -> System | None:
        own = self.manifest.catalogue.systems.get(name)
        return self._own_system(name, own) if own else system(name)

    def system_names(self) -> list[str]:
        return [*self.manifest.catalogue.systems, *system_names()]

    def switch(self, name: str) -> parts.Switch | None:
        own = self.manifest.catalogue.switches.get(name)
        if own is None:
            return parts.switch(name)
        return parts.Switch(
            id=name,
            model=name,
            fabric=own.fabric,
            ports=own.ports,
            port_gbit=gbit(own.rate),
            rack_units=own.rack_units,
            power_max_w=own.power.value if own.power else None,
            source=(own.source,),
        )

    def switch_names(self) -> list[str]:
        known = parts.switches().values()
        return [*self.manifest.catalogue.switches, *(name for row in known for name in (row.id, *row.aliases))]

    def _own_system(self, name: str, own: OwnSystem) -> System:
        cpu = Cpu(
            own.cpu.sockets or 1,
            own.cpu.cores_per_socket or 0,  # not said here: a node type has to
            own.cpu.threads_per_core or 1,
            own.cpu.numa_per_socket or 1,
            own.cpu.model or "",
        )
        return System(
            id=name,
            name=name,
            cpu=cpu,
            memory_mib=own.memory.mib,
            gpu=own.gpu,
            gpu_count=own.gpu_count,
            gpus=_placed(cpu, own.gpu_count, own.gpu_numa),
            power_max_w=own.power.max.value if own.power.max else None,
            rack_units=own.rack_units,
            source=(own.source,),
        )


def _own_gpu(name: str, own: OwnGpu) -> parts.Gpu:
    slurm_type = own.nvml_name.lower().replace(" ", "_")
    return parts.Gpu(
        id=name,
        nvml_name=own.nvml_name,
        slurm_type=slurm_type,
        gres_type=slurm_type,
        memory_gb=int(own.memory.gb),
        nvml_mib=own.memory.mib,
        tdp_w=own.power.value,
        max_sm_mhz=own.max_clock,
        source=(own.source,),
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


def _placed(cpu: Cpu, count: int, numa: tuple[int, ...]) -> tuple[SystemGpu, ...]:
    """GPUs on the NUMA nodes that the manifest names, or spread over the sockets."""
    if len(numa) != count or not count or max(numa) >= cpu.numa_nodes:
        return spread_gpus(cpu, count)
    return tuple(
        SystemGpu(i, node // cpu.numa_per_socket, cpu.cores_of_numa(node), numa=node) for i, node in enumerate(numa)
    )


class TypeResolver:
    """Turns the manifest's node types into hardware, and says what cannot be resolved."""

    def __init__(self, manifest: Manifest, report: Report) -> None:
        self.manifest = manifest
        self.report = report
        self.shelf = Shelf(manifest)
        self.wants_numa = False

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
                ("memory", written.memory or (found and found.memory_mib)),
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
        gpus = self._gpus(path, written, found, cpu)
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

    def _gpus(self, path: ManifestPath, written: Written, found: System | None, cpu: Cpu) -> GpuSet | None:
        own = written.gpus
        count = own.count if own.count is not None else (found.gpu_count if found else 0)
        name = own.model or (found.gpu if found else None)
        if not count:
            return None
        if name is None:
            where: ManifestPath = (*path, "gpus", "model")
            if found and found.id in self.manifest.catalogue.systems:
                where = ("catalogue", "systems", found.id, "gpu")
            self.report(
                Finding(
                    "gpu-model-missing", where, f"{count} GPUs, but no word of which", "add model: h100-sxm, l40s …"
                )
            )
            return None
        model = self.shelf.gpu(name)
        if model is None:
            self.report(
                Finding(
                    "gpu-unknown",
                    (*path, "gpus", "model") if own.model else ("catalogue", "systems", written.system or "", "gpu"),
                    f"the catalogue has no GPU called '{name}'",
                    did_you_mean(name, self.shelf.gpu_names()) or "describe yours under catalogue.gpus",
                )
            )
            return None
        places = self._places(path, written, found, cpu, count)
        self.wants_numa |= cpu.numa_per_socket > 1 and any(place.numa is not None for place in places)
        same = found is not None and found.gpu_count == count and (own.model is None or model.id == found.gpu)
        kind = "none" if own.nvlink is False or found is None or not same else found.fabric
        links = own.links or (
            tuple(_numbers(row) for row in found.links) if same and found and own.nvlink is not False else ()
        )
        return GpuSet(
            model=model,
            count=count,
            gres_type=own.gres_type or model.gres_type,
            numa=tuple(p.numa for p in places if p.numa is not None) if all(p.numa is not None for p in places) else (),
            cores=tuple(place.cores for place in places),
            sockets=tuple(place.socket for place in places),
            links=links,
            nvlink={"pairs": "bridge"}.get(kind, kind),
            autodetect=own.autodetect or ("nvml" if own.mig else "off"),
            mig=self._mig(path, own.mig, count),
            shards_per_gpu=own.shards or 0,
            mps_per_gpu=own.mps or 0,
            power_limit_w=own.power_limit.value if own.power_limit else None,
            graphics_clock_mhz=model.max_sm_mhz if own.graphics_clock == "max" else own.graphics_clock,
        )

    def _places(
        self, path: ManifestPath, written: Written, found: System | None, cpu: Cpu, count: int
    ) -> tuple[SystemGpu, ...]:
        numa = written.gpus.numa
        if numa is not None:
            self._check_numa((*path, "gpus", "numa"), numa, cpu, count)
            return _placed(cpu, count, numa)
        own = self.manifest.catalogue.systems.get(written.system or "")
        if own and own.gpu_numa and count == own.gpu_count:
            self._check_numa(("catalogue", "systems", written.system or "", "gpu_numa"), own.gpu_numa, cpu, count)
        if found and found.gpu_count == count and found.cpu[:4] == cpu[:4]:
            return found.gpus
        return spread_gpus(cpu, count)

    def _check_numa(self, path: ManifestPath, numa: tuple[int, ...], cpu: Cpu, count: int) -> None:
        if len(numa) != count:
            self.report(
                Finding(
                    "gpu-numa-count",
                    path,
                    f"{len(numa)} NUMA {'node is' if len(numa) == 1 else 'nodes are'} named for"
                    f" {count} {'GPU' if count == 1 else 'GPUs'}",
                    "one number per GPU, in the order of /dev/nvidia0, /dev/nvidia1 …",
                )
            )
        elif max(numa) >= cpu.numa_nodes:
            position = next(index for index, node in enumerate(numa) if node >= cpu.numa_nodes)
            self.report(
                Finding(
                    "gpu-numa-range",
                    (*path, position),
                    f"there is no NUMA node {numa[position]}; the last one is {cpu.numa_nodes - 1}",
                    "where a socket has more of them, state cpu.numa_per_socket",
                )
            )

    def _mig(self, path: ManifestPath, mig: str | Mapping[int, str] | None, count: int) -> tuple[MigLayout | None, ...]:
        if mig is None:
            return ()
        wanted = dict.fromkeys(range(count), mig) if isinstance(mig, str) else dict(mig)
        layouts: list[MigLayout | None] = []
        for index in range(count):
            name = wanted.pop(index, None)
            plan = self.manifest.gpu.mig_plans.get(name) if name else None
            layouts.append(MigLayout(name, dict(plan.profiles)) if name and plan else None)
        for index in wanted:
            self.report(
                Finding(
                    "mig-gpu-unknown",
                    (*path, "gpus", "mig", str(index)),
                    f"there is no GPU {index}: the node has {f'GPUs 0 to {count - 1}' if count > 1 else 'GPU 0 only'}",
                    "GPUs are counted from 0",
                    key=True,
                )
            )
        plans = self.manifest.gpu.mig_plans
        for name in {mig} if isinstance(mig, str) else set(mig.values()):
            if name not in plans:
                where: ManifestPath = (*path, "gpus", "mig")
                if not isinstance(mig, str):
                    where = (*where, str(next(index for index, plan in mig.items() if plan == name)))
                self.report(
                    Finding(
                        "mig-plan-unknown",
                        where,
                        f"no MIG plan is called '{name}'",
                        did_you_mean(name, plans)
                        or (f"it can be {one_of(plans)}" if plans else f"define it: gpu.mig_plans.{name}"),
                    )
                )
        return tuple(layouts)

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
        memory = written.memory.mib if written.memory else (found.memory_mib if found else 0)
        own = written.power
        psu = found.psu if found else None
        own_system = self.manifest.catalogue.systems.get(written.system or "")
        if own_system is not None:
            own = own_system.power.model_copy(update=own.model_dump(exclude_unset=True))
        reserved = written.reserved.memory.mib if written.reserved.memory else _usual_reserve(memory)
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
            features=_features(written, gpus),
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


def _numbers(row: str) -> tuple[int, ...]:
    return tuple(map(int, row.split(",")))


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
