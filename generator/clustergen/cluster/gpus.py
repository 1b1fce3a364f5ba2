"""The GPUs of a node type: which, how many, where they hang, how they are joined, split and shared."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.catalogue.systems import Cpu, System, SystemGpu, spread_gpus
from clustergen.cluster.model import GpuSet, MigLayout
from clustergen.cluster.shelf import Report, Shelf, placed
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.manifest.hardware import NodeType as Written


class GpuResolver:
    """Turns what the manifest and the catalogue say of GPUs into sets of them, and says what cannot be resolved."""

    def __init__(self, shelf: Shelf, report: Report) -> None:
        self.manifest = shelf.manifest
        self.shelf = shelf
        self.report = report
        self.wants_numa = False  # whether some GPUs hang on parts of a socket

    def resolve(self, path: ManifestPath, written: Written, found: System | None, cpu: Cpu) -> GpuSet | None:
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
            gres_type="" if own.gres_type is False else own.gres_type or model.gres_type,
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
            mig_prefix="" if own.mig_prefix is False else own.mig_prefix,
        )

    def _places(
        self, path: ManifestPath, written: Written, found: System | None, cpu: Cpu, count: int
    ) -> tuple[SystemGpu, ...]:
        numa = written.gpus.numa
        if numa is not None:
            self._check_numa((*path, "gpus", "numa"), numa, cpu, count)
            return placed(cpu, count, numa)
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


def _numbers(row: str) -> tuple[int, ...]:
    return tuple(map(int, row.split(",")))
