"""The GPUs of a node type: which, how many, where they hang, how they are joined, split and shared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from clustergen.catalogue.drivers import OPEN_SINCE, newest_in_production, support_of
from clustergen.catalogue.gpu_vendors import other_vendor
from clustergen.catalogue.hardware import Gpu
from clustergen.catalogue.mig import mig_detected, mig_example, mig_listing
from clustergen.catalogue.slurm import read_releases
from clustergen.catalogue.systems import Cpu, System, SystemGpu, spread_gpus
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.catalogue_view import CatalogueView, Report, catalogue_hint, placed
from clustergen.cluster.gpu_set import Driver, GpuSet, MigLayout
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.diagnostics.words import on_one_line
from clustergen.manifest.hardware import NodeType as Spec
from clustergen.manifest.model import Manifest

NVIDIA_ONLY = "clustergen configures NVIDIA GPUs only"
WITHOUT_GPUS = "write gpus: {count: 0} for node types whose GPUs clustergen cannot configure"

_NONE = ("off", "none", "no", "disabled")
_SEVERAL = "write model: unknown and gres_type: false for a node whose GPUs have several models"
_STATED = ("numa", "links", "autodetect", "driver", "kernel_modules")


class GpuResolver:
    """Turns what the manifest and the catalogue say of GPUs into sets of them, and says what cannot be resolved."""

    def __init__(self, manifest: Manifest, catalogue_view: CatalogueView, report: Report) -> None:
        self.manifest = manifest
        self.catalogue_view = catalogue_view
        self.report = report
        self.wants_numa = False  # whether some GPUs hang on parts of a socket

    def resolve(self, path: ManifestPath, spec: Spec, base: System | None, cpu: Cpu) -> GpuSet | None:
        gpus = spec.gpus
        count = gpus.count if gpus.count is not None else (base.gpu_count if base else 0)
        name = gpus.model or (base.gpu if base else None)
        if not count:
            return None
        model = self.catalogue_view.gpu(name) if name else None
        if model is None:
            self.report(self._without_model(path, spec, base, name, count))
            return None
        places, is_assumed = self._places(path, spec, base, cpu, count)
        self.wants_numa |= cpu.numa_per_socket > 1 and any(place.numa is not None for place in places)
        sold = {base.gpu, *base.gpu_options} if base else set()
        is_sold = base is not None and (gpus.model is None or model.id in sold)
        same = base is not None and is_sold and base.gpu_count == count
        # A GPU that is missing takes its links along, and leaves the switches, which Fabric Manager configures.
        has_switches = base is not None and is_sold and base.fabric == "nvswitch" and count < base.gpu_count
        kind = base.fabric if base and gpus.nvlink is not False and (same or has_switches) else "none"
        links = gpus.links
        if links is None:
            links = tuple(map(_numbers, base.links)) if same and base and gpus.nvlink is not False else ()
        mig = self._mig(path, gpus.mig, count, model)
        release = SlurmRelease(self.manifest.slurm.version) if self.manifest.slurm else max(read_releases())
        profiles = {profile for layout in mig if layout for profile in layout.profiles}
        return GpuSet(
            model=model,
            count=count,
            gres_type="" if gpus.gres_type is False else gpus.gres_type or model.gres_type,
            numa=tuple(p.numa for p in places if p.numa is not None) if all(p.numa is not None for p in places) else (),
            cores=tuple(place.cores for place in places),
            sockets=tuple(place.socket for place in places),
            places_assumed=is_assumed,
            links=links,
            nvlink={"pairs": "bridge"}.get(kind, kind),
            autodetect=gpus.autodetect or ("nvml" if gpus.mig else "off"),
            driver=_driver(
                model,
                gpus.driver or self.manifest.gpu.driver,
                gpus.kernel_modules or self.manifest.gpu.kernel_modules,
            ),
            mig=mig,
            mig_names={name: mig_detected(model.mig_family, name, release) for name in sorted(profiles)},
            shards_per_gpu=gpus.shards or 0,
            mps_per_gpu=gpus.mps or 0,
            power_limit_w=gpus.power_limit.value if gpus.power_limit else None,
            graphics_clock_mhz=model.max_sm_mhz if gpus.graphics_clock == "max" else gpus.graphics_clock,
            mig_prefix="" if gpus.mig_prefix is False else gpus.mig_prefix,
            pci=_addresses(gpus.pci, base, count),
            stated=frozenset(name for name in _STATED if getattr(gpus, name) is not None),
        )

    def _without_model(
        self, path: ManifestPath, spec: Spec, base: System | None, name: str | None, count: int
    ) -> Finding:
        """The finding on GPUs without a model, or with one that the catalogue does not have."""
        stated: ManifestPath = (*path, "gpus", "model")
        if name is None:
            is_own = base is not None and base.id in self.catalogue_view.own_systems
            where = ("catalogue", "systems", base.id, "gpu") if base and is_own else stated
            hint = "add model: run `clustergen catalogue gpus` for the list"
            return Finding("gpu-model-missing", where, f"{count} GPUs, but no model", hint)
        where = stated if spec.gpus.model else ("catalogue", "systems", spec.system or "", "gpu")
        if vendor := other_vendor(name):
            return Finding("gpu-not-nvidia", where, f"'{name}' is a GPU from {vendor}; {NVIDIA_ONLY}", WITHOUT_GPUS)
        guess = did_you_mean(name, self.catalogue_view.gpu_names())
        hint = catalogue_hint("gpus", guess, "define it under catalogue.gpus")
        if re.search(r"[,+&]", name):
            hint = _SEVERAL
        return Finding("gpu-unknown", where, f"GPU '{name}' is not in the catalogue", hint)

    def _places(
        self, path: ManifestPath, spec: Spec, base: System | None, cpu: Cpu, count: int
    ) -> tuple[tuple[SystemGpu, ...], bool]:
        """The place of each GPU, and whether neither the manifest nor a source states it."""
        numa = spec.gpus.numa
        if numa is not None:
            self._check_numa((*path, "gpus", "numa"), numa, cpu, count)
            return placed(cpu, count, numa), False
        own_system = self.manifest.catalogue.systems.get(spec.system or "")
        if own_system and own_system.gpu_numa and count == own_system.gpu_count:
            self._check_numa(("catalogue", "systems", spec.system or "", "gpu_numa"), own_system.gpu_numa, cpu, count)
        if base and base.gpu_count == count and base.cpu.counts == cpu.counts:
            return base.gpus, "layout" in base.unverified or bool(own_system and not own_system.gpu_numa)
        return spread_gpus(cpu, count), True

    def _check_numa(self, path: ManifestPath, numa: tuple[int, ...], cpu: Cpu, count: int) -> None:
        if len(numa) != count:
            self.report(
                Finding(
                    "gpu-numa-count",
                    path,
                    f"{len(numa)} NUMA {'node' if len(numa) == 1 else 'nodes'} for"
                    f" {count} {'GPU' if count == 1 else 'GPUs'}",
                    "write one number per GPU, in the order of /dev/nvidia0, /dev/nvidia1 …",
                )
            )
        elif max(numa) >= cpu.numa_nodes:
            position = next(index for index, node in enumerate(numa) if node >= cpu.numa_nodes)
            self.report(
                Finding(
                    "gpu-numa-range",
                    (*path, position),
                    f"NUMA node {numa[position]} does not exist; the last one is {cpu.numa_nodes - 1}",
                    "set cpu.numa_per_socket if a socket has more NUMA nodes",
                )
            )

    def _mig(
        self, path: ManifestPath, mig: str | Mapping[int, str] | None, count: int, model: Gpu
    ) -> tuple[MigLayout | None, ...]:
        if mig is None:
            return ()
        plan_of_gpu = dict.fromkeys(range(count), mig) if isinstance(mig, str) else dict(mig)
        layouts: list[MigLayout | None] = []
        for index in range(count):
            name = plan_of_gpu.pop(index, None)
            plan = self.manifest.gpu.mig_plans.get(name) if name else None
            layouts.append(MigLayout(name, dict(plan.profiles)) if name and plan else None)
        for index in plan_of_gpu:
            self.report(
                Finding(
                    "mig-gpu-unknown",
                    (*path, "gpus", "mig", str(index)),
                    f"GPU {index} does not exist: the node has"
                    f" {f'GPUs 0 to {count - 1}' if count > 1 else 'GPU 0 only'}",
                    "count the GPUs from 0",
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
                        f"MIG plan '{name}' is not defined",
                        did_you_mean(name, plans) or (f"use {one_of(plans)}" if plans else plan_hint(name, model)),
                    )
                )
        return tuple(layouts)


def _addresses(stated: tuple[str, ...] | None, base: System | None, count: int) -> tuple[str, ...]:
    """PCI addresses of the GPUs; empty unless all are known."""
    of_system = tuple(gpu.pci for gpu in base.gpus) if base else ()
    addresses = of_system if stated is None else stated
    return addresses if len(addresses) == count and all(addresses) else ()


def plan_hint(name: str, model: Gpu | None, similar: Iterable[str] = ()) -> str:
    """How a MIG plan is defined, with an example and all profiles of the GPU that it is for."""
    example = mig_example(model.mig_family, similar) if model else {}
    if name in _NONE:
        return "remove it: without a plan GPUs are whole"
    if model and not model.mig_family and model.id != "unknown":
        return f"remove it: the {model.nvml_name} does not support MIG"
    plan = on_one_line({"mig_plans": {name: {"profiles": example or {"3g.40gb": 2}}}})
    of_gpu = f"; the {model.nvml_name} has {mig_listing(model.mig_family)}" if model and example else ""
    return f"write gpu: {plan} at the top level{of_gpu}"


def _numbers(row: str) -> tuple[int, ...]:
    return tuple(map(int, row.split(",")))


def _driver(model: Gpu, branch: str | None, kernel_modules: str | None) -> Driver:
    """The newest branch of a repository does not serve GPUs that have a last one."""
    support = support_of(model)
    number = newest_in_production(model) if branch == "auto" else int(branch) if branch else support.last
    has_open = support.modules != "proprietary" and not (number and number < OPEN_SINCE)
    return Driver(number, kernel_modules or ("open" if has_open else "proprietary"))
