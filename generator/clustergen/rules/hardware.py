"""GPUs, MIG and what is left for the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clustergen.catalogue import mig as catalogue
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster, NodeType
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean


def _with_gpus(cluster: Cluster) -> Iterator[tuple[NodeType, ManifestPath]]:
    for kind in cluster.node_types:
        if kind.gpus:
            yield kind, ("node_types", kind.name, "gpus")


def gres_type(cluster: Cluster) -> Iterator[Finding]:
    """slurmd matches the configured type against what NVML reports: any part of it, in lower case."""
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if gpus and gpus.gres_type.lower() not in gpus.model.slurm_type:
            yield Finding(
                "gres-type-mismatch",
                (*path, "gres_type"),
                f"'{gpus.gres_type}' is no part of '{gpus.model.slurm_type}', the type of a {gpus.model.nvml_name}",
                f"leave it out for '{gpus.model.gres_type}'",
            )


def gpu_sharing(cluster: Cluster) -> Iterator[Finding]:
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if not gpus:
            continue
        if gpus.shards_per_gpu and gpus.mps_per_gpu:
            yield Finding("gpu-sharing-twice", (*path, "mps"), "a GPU is shared by shards or by MPS, not by both")
        if (gpus.shards_per_gpu or gpus.mps_per_gpu) and any(gpus.mig):
            yield Finding(
                "gpu-sharing-twice", (*path, "mig"), "a GPU is shared by MIG or by shards and MPS, not by both"
            )
        if gpus.shards_per_gpu and cluster.release < SlurmRelease("22.05"):
            yield Finding(
                "shards-too-new", (*path, "shards"), f"shards exist from Slurm 22.05 on; this is {cluster.release}"
            )


def links_shape(cluster: Cluster) -> Iterator[Finding]:
    for kind, path in _with_gpus(cluster):
        written = cluster.manifest.node_types[kind.name].gpus.links
        gpus = kind.gpus
        if written is None or not gpus:
            continue
        where: ManifestPath = (*path, "links")
        if gpus.autodetect != "off":
            yield Finding(
                "links-with-autodetect",
                where,
                f"autodetect {gpus.autodetect} finds the links itself, and drains the node where they differ",
            )
        if len(written) != gpus.count or any(len(row) != gpus.count for row in written):
            yield Finding("links-malformed", where, f"{gpus.count} GPUs need {gpus.count} rows of {gpus.count} numbers")
        elif any(written[i][i] != -1 for i in range(gpus.count)):
            yield Finding("links-malformed", where, "a GPU's link to itself is written -1")
        elif any(written[i][j] != written[j][i] for i in range(gpus.count) for j in range(i)):
            yield Finding("links-malformed", where, "a link counts the same from both ends")


def mig_plans(cluster: Cluster) -> Iterator[Finding]:
    """A plan must fit on each GPU that it is used for."""
    told: set[tuple[str, str]] = set()
    used: set[str] = set()
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        layouts = [layout for layout in gpus.mig if layout] if gpus else []
        if not gpus or not layouts:
            continue
        used |= {layout.plan for layout in layouts}
        if not gpus.model.mig_max:
            yield Finding("mig-not-supported", (*path, "mig"), f"a {gpus.model.nvml_name} cannot be split")
            continue
        if gpus.autodetect != "nvml":
            yield Finding(
                "mig-needs-nvml",
                (*path, "autodetect"),
                f"with autodetect {gpus.autodetect} slurmd does not see MIG instances",
                "say autodetect: nvml, which needs a slurmd built with NVML",
            )
        for layout in layouts:
            if (layout.plan, gpus.model.id) in told:
                continue
            told.add((layout.plan, gpus.model.id))
            yield from _layout(layout.plan, Counter(layout.profiles), gpus.model.mig_family, gpus.model.nvml_name)
    for name in cluster.manifest.gpu.mig_plans:
        if name not in used:
            yield Finding(
                "mig-plan-unused", ("gpu", "mig_plans", name), f"no node type uses the plan '{name}'", key=True
            )


def _layout(plan: str, profiles: Counter[str], family: str, gpu: str) -> Iterator[Finding]:
    path: ManifestPath = ("gpu", "mig_plans", plan, "profiles")
    known = [profile.profile for profile in catalogue.mig_profiles(family)]
    for name in profiles:
        if name not in known:
            yield Finding(
                "mig-profile-unknown",
                (*path, name),
                f"a {gpu} has no MIG profile '{name}'",
                did_you_mean(name, known) or f"it has {', '.join(known)}",
                key=True,
            )
            return
    if reason := catalogue.mig_problem(family, profiles):
        yield Finding("mig-layout-impossible", path, f"these do not fit on a {gpu} together: {reason}", key=True)


def reserved(cluster: Cluster) -> Iterator[Finding]:
    for kind in cluster.node_types:
        if not kind.known:
            continue
        path: ManifestPath = ("node_types", kind.name, "reserved")
        if kind.reserved_cores * 2 >= kind.cores:
            yield Finding(
                "reserved-too-much", (*path, "cores"), f"{kind.reserved_cores} of {kind.cores} cores are kept from jobs"
            )
        if kind.reserved_mib * 2 >= kind.real_memory_mib:
            yield Finding(
                "reserved-too-much",
                (*path, "memory"),
                f"{kind.reserved_mib} of {kind.real_memory_mib} MiB are kept from jobs",
            )


def gpu_cores_unknown(cluster: Cluster) -> Iterator[Finding]:
    """Without NUMA placement the binding of cores to GPUs is a guess, so none is written."""
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if gpus and not gpus.cores and gpus.autodetect == "off":
            yield Finding(
                "gpu-place-unknown",
                path,
                f"nobody knows where the GPUs of '{kind.name}' hang, so Slurm cannot place jobs near them",
                "read it off `nvidia-smi topo -m` and say gpus: {numa: [0, 0, 1, 1]}",
                key=True,
            )


def disks(cluster: Cluster) -> Iterator[Finding]:
    for name, written in cluster.manifest.node_types.items():
        for device, times in Counter(disk.device for disk in written.disks).items():
            if times > 1:
                yield Finding("disk-twice", ("node_types", name, "disks"), f"'{device}' stands here {times} times")


def nics(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.catalogue.hardware import nic

    for name, written in cluster.manifest.node_types.items():
        seen: set[str] = set()
        for index, port in enumerate(written.nics or ()):
            path: ManifestPath = ("node_types", name, "nics", index)
            if port.model and nic(port.model) is None:
                from clustergen.catalogue.hardware import nics as known

                yield Finding(
                    "nic-unknown",
                    (*path, "model"),
                    f"the catalogue has no NIC called '{port.model}'",
                    did_you_mean(port.model, known()),
                )
            if port.device in seen:
                yield Finding("nic-twice", (*path, "device"), f"'{port.device}' stands here twice")
            seen.add(port.device)


RULES = (gres_type, gpu_sharing, links_shape, mig_plans, reserved, gpu_cores_unknown, disks, nics)
