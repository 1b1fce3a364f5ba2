"""GPUs, MIG and what is left for the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clustergen.catalogue import mig as catalogue
from clustergen.catalogue.gpu_vendors import other_vendor
from clustergen.cluster.catalogue_view import catalogue_hint
from clustergen.cluster.gpus import NVIDIA_ONLY, WITHOUT_GPUS
from clustergen.cluster.model import Cluster, NodeType
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.hardware import Nic


def _with_gpus(cluster: Cluster) -> Iterator[tuple[NodeType, ManifestPath]]:
    for kind in cluster.node_types:
        if kind.gpus:
            yield kind, ("node_types", kind.name, "gpus")


def gres_type(cluster: Cluster) -> Iterator[Finding]:
    """slurmd matches the configured type against what NVML reports: any part of it, in lower case."""
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if gpus is None or not gpus.model.slurm_type:
            continue
        stem = catalogue.mig_slurm_type(gpus.model.slurm_type, "")
        if gpus.mig_prefix and not stem.endswith(f"{gpus.mig_prefix.lower()}_"):
            yield Finding(
                "gres-type-mismatch",
                (*path, "mig_prefix"),
                f"'{gpus.mig_prefix}' is not how a type of MIG instances ends before the profile, as {stem}1g.10gb",
                "leave it out, and types are whole",
            )
        if gpus.gres_type.lower() not in gpus.model.slurm_type:
            yield Finding(
                "gres-type-mismatch",
                (*path, "gres_type"),
                f"'{gpus.gres_type}' is no part of '{gpus.model.slurm_type}', the type of the {gpus.model.nvml_name}",
                f"leave it out, and it is '{gpus.model.gres_type}'",
            )


def gpu_vendor(cluster: Cluster) -> Iterator[Finding]:
    for name, row in cluster.manifest.catalogue.gpus.items():
        if vendor := other_vendor(row.nvml_name):
            yield Finding(
                "gpu-not-nvidia",
                ("catalogue", "gpus", name, "nvml_name"),
                f"'{row.nvml_name}' is a GPU by {vendor}; {NVIDIA_ONLY}",
                WITHOUT_GPUS,
            )


def gpu_sharing(cluster: Cluster) -> Iterator[Finding]:
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if not gpus:
            continue
        shared = "shards" if gpus.shards_per_gpu else "mps" if gpus.mps_per_gpu else None
        if gpus.shards_per_gpu and gpus.mps_per_gpu:
            yield Finding(
                "gpu-sharing-twice",
                (*path, "mps"),
                f"the GPUs of '{kind.name}' are shared by shards already",
                "take one of the two away",
            )
        if shared and any(gpus.mig):
            yield Finding(
                "gpu-sharing-twice",
                (*path, shared),
                f"the GPUs of '{kind.name}' are shared by MIG already",
                "take one of the two away; another node type may share its GPUs in the other way",
            )


def links_shape(cluster: Cluster) -> Iterator[Finding]:
    for kind, path in _with_gpus(cluster):
        spec = cluster.manifest.node_types[kind.name].gpus.links
        gpus = kind.gpus
        if spec is None or not gpus:
            continue
        where: ManifestPath = (*path, "links")
        if gpus.autodetect != "off":
            yield Finding(
                "links-with-autodetect",
                where,
                f"with autodetect: {gpus.autodetect} slurmd counts the links, and drains a node where these differ",
                "take links away, or say autodetect: off",
            )
        count = gpus.count
        odd = next((i for i, row in enumerate(spec) if len(row) != count), None)
        if len(spec) != count or odd is not None:
            yield Finding(
                "links-malformed",
                where if odd is None else (*where, odd),
                f"{count} GPUs need {count} rows of {count} numbers"
                + (f", not {len(spec)} rows" if odd is None else f"; this row has {len(spec[odd])}"),
            )
        elif (odd := next((i for i in range(count) if spec[i][i] != -1), None)) is not None:
            yield Finding(
                "links-malformed",
                (*where, odd, odd),
                f"GPU {odd} has a link to itself",
                "the place of a GPU in its own row is written -1",
            )
        elif uneven := next(((i, j) for i in range(count) for j in range(i) if spec[i][j] != spec[j][i]), None):
            i, j = uneven
            yield Finding(
                "links-malformed",
                (*where, i, j),
                f"GPU {i} has {spec[i][j]} links to GPU {j}, but GPU {j} has {spec[j][i]} to GPU {i}",
                "a link counts at both of its ends",
            )


def mig_plans(cluster: Cluster) -> Iterator[Finding]:
    """A plan must fit on each GPU that it is used for."""
    reported: set[tuple[str, str]] = set()
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        layouts = [layout for layout in gpus.mig if layout] if gpus else []
        if not gpus or not layouts:
            continue
        if not gpus.model.mig_max:
            yield Finding("mig-not-supported", (*path, "mig"), f"the {gpus.model.nvml_name} has no MIG")
            continue
        if gpus.autodetect != "nvml":
            yield Finding(
                "mig-needs-nvml",
                (*path, "autodetect"),
                f"with autodetect: {gpus.autodetect} slurmd does not see MIG instances",
                "say autodetect: nvml, which needs a slurmd that was built with NVML",
            )
        for layout in layouts:
            if (layout.plan, gpus.model.id) not in reported:
                reported.add((layout.plan, gpus.model.id))
                yield from _layout(layout.plan, Counter(layout.profiles), gpus.model.mig_family, gpus.model.nvml_name)


def mig_types(cluster: Cluster) -> Iterator[Finding]:
    """Before 23.02.6 slurmd rounds the memory that the driver reports, so 3g.40gb may be 3g.39gb there."""
    if cluster.release > catalogue.NAMED_BY_NVIDIA:
        return
    old = cluster.release < catalogue.NAMED_BY_NVIDIA
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        profiles = dict.fromkeys(name for layout in gpus.mig if layout for name in layout.profiles) if gpus else ()
        if not gpus or not gpus.gres_type or not profiles:
            continue
        names = ", ".join(dict.fromkeys(map(gpus.instance_type, profiles)))
        yield Finding(
            "mig-type-uncertain",
            (*path, "mig"),
            f"Slurm {cluster.release}{'' if old else ' before 23.02.6'} rounds the memory of an instance to GiB, which"
            f" differs by driver: slurmd may detect other types than {names}, and drain '{kind.name}'",
            "compare with `slurmd -G` on a node, or use Slurm 23.11 or newer"
            if old
            else "install 23.02.6 or newer on the nodes",
        )


def mig_plan_unused(cluster: Cluster) -> Iterator[Finding]:
    plans = cluster.manifest.gpu.mig_plans
    used: set[str] = set()
    for spec in cluster.manifest.node_types.values():
        mig = spec.gpus.mig
        used |= {mig} if isinstance(mig, str) else set(mig.values()) if mig else set()
    if used <= plans.keys():  # otherwise the misspelt one is said, and probably means this one
        for name in plans:
            if name not in used:
                yield Finding(
                    "mig-plan-unused",
                    ("gpu", "mig_plans", name),
                    f"no node type uses the plan '{name}'",
                    f"in a node type, say gpus: {{mig: {name}}}",
                    key=True,
                )


def _layout(plan: str, profiles: Counter[str], family: str, gpu: str) -> Iterator[Finding]:
    path: ManifestPath = ("gpu", "mig_plans", plan, "profiles")
    profile_names = [profile.profile for profile in catalogue.mig_profiles(family)]
    for name in profiles:
        if name not in profile_names:
            yield Finding(
                "mig-profile-unknown",
                (*path, name),
                f"the {gpu} has no MIG profile '{name}'",
                did_you_mean(name, profile_names) or f"it has {', '.join(profile_names)}",
                key=True,
            )
            return
    if reason := catalogue.mig_problem(family, profiles):
        yield Finding("mig-layout-impossible", path, f"these do not fit on one {gpu}: {reason}")


def reserved(cluster: Cluster) -> Iterator[Finding]:
    """slurmctld drops a CoreSpecCount or MemSpecLimit that leaves nothing, so that nothing would be reserved at all."""
    for kind in cluster.node_types:
        if not kind.is_resolved:
            continue
        for what, kept, total, unit in (
            ("cores", kind.reserved_cores, kind.cores, "cores"),
            ("memory", kind.reserved_mib / 1024, kind.real_memory_mib / 1024, "GiB"),
        ):
            path: ManifestPath = ("node_types", kind.name, "reserved", what)
            if kept >= total:
                yield Finding(
                    "nothing-left-for-jobs",
                    path,
                    f"{kept:.4g} {unit} are kept for the system; '{kind.name}' has {total:.4g}, so jobs would get none",
                )
            elif kept * 2 >= total:
                yield Finding(
                    "reserved-too-much",
                    path,
                    f"{kept:.4g} of the {total:.4g} {unit} of '{kind.name}' are kept from jobs",
                )


def gpu_cores_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Without NUMA placement the binding of cores to GPUs is a guess, so none is written."""
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if gpus and not gpus.cores and gpus.autodetect == "off":
            yield Finding(
                "gpu-place-unknown",
                path,
                f"nobody says which NUMA nodes the GPUs of '{kind.name}' hang on, so jobs cannot be placed near them",
                f"state them: gpus.numa, {gpus.count} numbers as `nvidia-smi topo -m` shows them under NUMA Affinity",
                key=True,
            )


def disks(cluster: Cluster) -> Iterator[Finding]:
    for name, spec in cluster.manifest.node_types.items():
        seen: set[str] = set()
        for index, disk in enumerate(spec.disks):
            if disk.device in seen:
                path = ("node_types", name, "disks", index, "device")
                yield Finding("disk-twice", path, f"'{disk.device}' is a disk of '{name}' already")
            seen.add(disk.device)


def nics(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.catalogue import hardware

    manifest = cluster.manifest
    names = [name for row in hardware.nics().values() for name in (row.id, *row.aliases)]
    lists: list[tuple[ManifestPath, tuple[Nic, ...]]] = [
        (("node_types", name, "nics"), spec.nics or ()) for name, spec in manifest.node_types.items()
    ]
    lists += [
        (("catalogue", "systems", name, "nics"), system.nics) for name, system in manifest.catalogue.systems.items()
    ]
    for path, ports in lists:
        seen: set[str] = set()
        for index, port in enumerate(ports):
            if port.model and hardware.nic(port.model) is None:
                yield Finding(
                    "nic-unknown",
                    (*path, index, "model"),
                    f"the catalogue has no NIC called '{port.model}'",
                    catalogue_hint(
                        "nics", did_you_mean(port.model, names), "leave model out where the catalogue lacks yours"
                    ),
                )
            if port.device in seen:
                yield Finding("nic-twice", (*path, index, "device"), f"'{port.device}' is a port of this type already")
            seen.add(port.device)


RULES = (
    gres_type,
    gpu_vendor,
    gpu_sharing,
    links_shape,
    mig_plans,
    mig_types,
    mig_plan_unused,
    reserved,
    gpu_cores_unknown,
    disks,
    nics,
)
