"""GPUs and systems of the catalogue, recognised by what a NodeName line says of them."""

from __future__ import annotations

from functools import cache

from clustergen.catalogue import hardware as parts
from clustergen.catalogue.systems import System, system, system_ids
from clustergen.importer.mig import PROFILE, Instances, Layout, instances_of, layouts_of
from clustergen.records import record
from clustergen.slurmconf import scalars

_TOLERANCE = 0.06  # RealMemory is a few per cent below what is fitted, and some sites leave more to the system

_MOST_SHARDS, _MOST_MPS = 1024, 1600


@record
class Gpus:
    """The GPUs of a line: type as written, count, and what the catalogue has for them."""

    type_text: str
    """Of the whole ones; empty where there is none, or it has no type."""
    count: int
    """Of the whole ones."""
    model: parts.Gpu | None
    certain: bool
    """True: the type names one GPU, and not a family."""
    instances: Instances | None = None
    """The instances of GPUs that are split."""
    shards: int = 0
    """Of all GPUs together; so is `mps`."""
    mps: int = 0
    whole_first: bool = True
    """True: whole GPUs are listed before those that are split."""
    is_complete: bool = True
    """True: the value says nothing else."""

    def shares(self, count: int) -> int | None:
        """Shards or percents of MPS of one GPU; 0 where they are not shared, None where they are in no even way."""
        if not self.shards and not self.mps:
            return 0
        each, rest = divmod(self.shards or self.mps, count)
        usual = each <= _MOST_SHARDS if self.shards else not each % 100 and each <= _MOST_MPS
        return each if usual and not rest and not (self.shards and self.mps) else None

    def layouts(self, total: int | None) -> tuple[Layout, ...] | None:
        """How the GPUs beside the whole ones are split; None where they cannot be so many. `total`: all of them."""
        if self.instances is None:
            return () if total in (None, self.count) else None
        left = None if total is None else total - self.count
        family = self.instances.models[0].mig_family
        return layouts_of(family, self.instances.profiles, left) or None if left is None or left > 0 else None


def gpus_of(gres: str) -> Gpus | None:
    """The GPUs of a Gres value; None where there are none, or several kinds of whole ones."""
    counts = scalars.gres(gres)
    types = {kind: count for (name, kind), count in counts.items() if name == "gpu" and count}
    split = {kind: count for kind, count in types.items() if PROFILE.search(kind)}
    whole = {kind: count for kind, count in types.items() if kind not in split}
    shards, mps = counts.get(("shard", ""), 0), counts.get(("mps", ""), 0)
    if not types or len(whole) > 1:
        return None
    is_known = len(types) + bool(shards) + bool(mps) == len(counts)
    is_complete = is_known and "(" not in gres and "no_consume" not in gres.lower()
    kind, count = next(iter(whole.items())) if whole else ("", 0)
    model, certain = _gpu(kind)
    if not split:
        return Gpus(
            type_text=kind,
            count=count,
            model=model,
            certain=certain,
            instances=None,
            shards=shards,
            mps=mps,
            is_complete=is_complete,
        )
    instances = instances_of(split)
    if instances is None or (
        whole and (not kind or not any(kind in candidate.slurm_type for candidate in instances.models))
    ):
        return Gpus(kind, count, model, certain, is_complete=False) if whole else None
    fitting = [candidate for candidate in instances.models if kind in candidate.slurm_type]
    if model not in fitting:  # profiles alone are those of GPUs that have little else in common
        model = fitting[0] if len({candidate.mig_family for candidate in fitting}) == 1 else None
    fitting_instances = Instances(tuple(fitting), instances.profiles, instances.prefix)
    return Gpus(
        type_text=kind,
        count=count,
        model=model,
        certain=len(fitting) < 2,
        instances=fitting_instances,
        shards=0,
        mps=0,
        whole_first=kind == next(iter(types)),
        is_complete=is_complete,
    )


@cache
def _gpu(kind: str) -> tuple[parts.Gpu | None, bool]:
    """By the driver's name, or by a name that people use. Others stay what they are: a wrong GPU is worse than none."""
    if not kind:
        return None, False
    models = parts.gpus().values()
    exact = [gpu for gpu in models if gpu.slurm_type == kind]
    if exact:
        return exact[0], True
    family = [gpu for gpu in models if gpu.gres_type == kind]
    named = parts.gpu(kind)
    if named is None and family:
        named = family[0]
    if named is None or kind not in named.slurm_type:  # slurmd would not find it by that type
        return None, False
    return named, len(family) < 2


def system_of(
    host: str, sockets: int, cores: int, threads: int, memory_mib: int, gpus: Gpus | None, numa_as_socket: bool
) -> System | None:
    """A system with these processors, GPUs and about this memory; None where none fits, or several do and the name of
    the host tells no more (dgx01).

    `numa_as_socket`: sockets are NUMA nodes, as slurmd is configured to count.
    """
    if gpus is None:
        return None
    fitting = [
        candidate
        for candidate in map(_system, system_ids())
        if candidate is not None
        and gpus.layouts(candidate.gpu_count) is not None
        and _seen(candidate, numa_as_socket) == (sockets, cores)
        and candidate.cpu.threads_per_core == threads
        and _is_near(memory_mib, candidate.memory_mib)
        and _has(candidate, gpus)
    ]
    if len(fitting) > 1:
        fitting = [candidate for candidate in fitting if host.lower().startswith(candidate.id.partition("-")[0])]
    return fitting[0] if len(fitting) == 1 else None


def _system(ident: str) -> System | None:
    return system(ident) if ident != "custom" else None


def _seen(model: System, numa_as_socket: bool) -> tuple[int, int]:
    """Sockets, and cores in each, as Slurm counts them."""
    parts = model.cpu.numa_per_socket if numa_as_socket else 1
    return model.cpu.sockets * parts, model.cpu.cores_per_socket // parts


def _is_near(real_mib: int, fitted_mib: int) -> bool:
    return fitted_mib * (1 - _TOLERANCE) <= real_mib <= fitted_mib


def _has(candidate: System, gpus: Gpus) -> bool:
    model = parts.gpu(candidate.gpu) if candidate.gpu else None
    if model is None:
        return False
    if gpus.instances is not None:
        return model in gpus.instances.models
    if not gpus.type_text:
        return True
    return gpus.type_text in model.slurm_type
