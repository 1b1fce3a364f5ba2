"""GPUs, and what is left for the system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue import mig as catalogue
from clustergen.catalogue.gpu_vendors import other_vendor
from clustergen.cluster.gpus import NVIDIA_ONLY, WITHOUT_GPUS
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.model import Slurm
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.hardware import Gres, OwnCatalogue
from clustergen.manifest.hardware import NodeType as NodeTypeSection


def _with_gpus(cluster: Cluster) -> Iterator[tuple[NodeType, ManifestPath]]:
    for node_type in cluster.node_types:
        if node_type.gpus:
            yield node_type, ("node_types", node_type.name, "gpus")


def gres_type_mismatch(cluster: Cluster) -> Iterator[Finding]:
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
                f"'{gpus.mig_prefix}' is not the last part of a MIG type before its profile, as in {stem}1g.10gb",
                "remove it to use whole type names",
            )
        if gpus.gres_type.lower() not in gpus.model.slurm_type:
            yield Finding(
                "gres-type-mismatch",
                (*path, "gres_type"),
                f"'{gpus.gres_type}' is not part of '{gpus.model.slurm_type}', the GRES type that the"
                f" {gpus.model.nvml_name} reports",
                f"remove it to use '{gpus.model.gres_type}'",
            )


def gpu_not_nvidia(_: Cluster, section: OwnCatalogue) -> Iterator[Finding]:
    for name, row in section.gpus.items():
        if vendor := other_vendor(row.nvml_name):
            yield Finding(
                "gpu-not-nvidia",
                ("catalogue", "gpus", name, "nvml_name"),
                f"'{row.nvml_name}' is a GPU from {vendor}; {NVIDIA_ONLY}",
                WITHOUT_GPUS,
            )


def gpu_sharing_twice(cluster: Cluster) -> Iterator[Finding]:
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if not gpus:
            continue
        shared = "shards" if gpus.shards_per_gpu else "mps" if gpus.mps_per_gpu else None
        if gpus.shards_per_gpu and gpus.mps_per_gpu:
            yield Finding(
                "gpu-sharing-twice",
                (*path, "mps"),
                f"the GPUs of '{kind.name}' already have shards",
                "remove one of the two",
            )
        if shared and any(gpus.mig):
            yield Finding(
                "gpu-sharing-twice",
                (*path, shared),
                f"the GPUs of '{kind.name}' are already split by MIG",
                "remove one of the two, or use it in another node type",
            )


def links_shape(cluster: Cluster) -> Iterator[Finding]:
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if gpus is None or "links" not in gpus.stated:
            continue
        spec = gpus.links
        where: ManifestPath = (*path, "links")
        if gpus.autodetect != "off":
            yield Finding(
                "links-with-autodetect",
                where,
                f"with autodetect: {gpus.autodetect} slurmd counts the links itself and drains a node if these differ",
                "remove links, or set autodetect: off",
            )
        count = gpus.count
        odd = next((i for i, row in enumerate(spec) if len(row) != count), None)
        if len(spec) != count or odd is not None:
            yield Finding(
                "links-malformed",
                where if odd is None else (*where, odd),
                f"{count} GPUs require {count} rows of {count} numbers"
                + (f", not {len(spec)} rows" if odd is None else f"; this row has {len(spec[odd])}"),
            )
        elif (odd := next((i for i in range(count) if spec[i][i] != -1), None)) is not None:
            yield Finding(
                "links-malformed",
                (*where, odd, odd),
                f"GPU {odd} has a link to itself",
                "write -1 for the GPU itself in its own row",
            )
        elif uneven := next(((i, j) for i in range(count) for j in range(i) if spec[i][j] != spec[j][i]), None):
            i, j = uneven
            yield Finding(
                "links-malformed",
                (*where, i, j),
                f"GPU {i} has {spec[i][j]} links to GPU {j}, but GPU {j} has {spec[j][i]} to GPU {i}",
                "write the same number in both rows",
            )


def reserved(cluster: Cluster) -> Iterator[Finding]:
    """slurmctld drops a CoreSpecCount or MemSpecLimit that leaves nothing, so that nothing would be reserved at all."""
    for node_type in cluster.node_types:
        if not node_type.is_resolved:
            continue
        for what, kept, total, unit in (
            ("cores", node_type.reserved_cores, node_type.cores, "cores"),
            ("memory", node_type.reserved_mib / 1024, node_type.real_memory_mib / 1024, "GiB"),
        ):
            path: ManifestPath = ("node_types", node_type.name, "reserved", what)
            if kept >= total:
                yield Finding(
                    "nothing-left-for-jobs",
                    path,
                    f"all {total:.4g} {unit} of '{node_type.name}' are reserved for the system, so nothing is left for"
                    " jobs",
                    f"write less in node_types.{node_type.name}.reserved.{what}, or remove it for the default",
                )
            elif kept * 2 >= total:
                yield Finding(
                    "reserved-too-much",
                    path,
                    f"{kept:.4g} of the {total:.4g} {unit} of '{node_type.name}' are reserved and not available to"
                    " jobs",
                )


def gpu_place_unknown(cluster: Cluster, _: Slurm) -> Iterator[Finding]:
    """Without NUMA placement the binding of cores to GPUs is a guess, so none is written."""
    for kind, path in _with_gpus(cluster):
        gpus = kind.gpus
        if gpus and not gpus.cores and gpus.autodetect == "off":
            yield Finding(
                "gpu-place-unknown",
                path,
                f"the NUMA nodes of the GPUs of '{kind.name}' are not specified, so Slurm cannot bind jobs to nearby"
                " cores",
                f"set gpus.numa to {gpus.count} numbers, as `nvidia-smi topo -m` shows them under NUMA Affinity",
                key=True,
            )


def disk_twice(_: Cluster, section: Mapping[str, NodeTypeSection]) -> Iterator[Finding]:
    for name, spec in section.items():
        seen: set[str] = set()
        for index, disk in enumerate(spec.disks):
            if disk.device in seen:
                path = ("node_types", name, "disks", index, "device")
                message = f"disk '{disk.device}' is already used by '{name}'"
                yield Finding("disk-twice", path, message, "remove one of its entries, or write another device")
            seen.add(disk.device)


def gres(_: Cluster, section: Mapping[str, NodeTypeSection]) -> Iterator[Finding]:
    """Resources that are no GPUs: a name, and either a number or files."""
    for name, spec in section.items():
        if spec.gres and (key := next((key for key in spec.slurm_options if key.lower() == "gres"), None)):
            message = f"this option replaces the GRES of node_types.{name}.gres"
            yield Finding("slurm-key-managed", ("node_types", name, "slurm_options", key), message, "write one of them")
        for each, value in spec.gres.items():
            path: ManifestPath = ("node_types", name, "gres", each)
            if each in ("gpu", "shard", "mps"):
                hint = {"gpu": "count", "shard": "shards", "mps": "mps"}[each]
                message = f"'{each}' belongs to the GPUs of a node"
                yield Finding("name-reserved", path, message, f"write gpus: {{{hint}: …}}", key=True)
            elif isinstance(value, Gres) and bool(value.count) == bool(value.files):
                what = "both count and files" if value.count else "neither count nor files"
                message = f"'{each}' has {what}, and slurmd counts the files"
                yield Finding("gres-count", path, message, "write count: 4, or files: /dev/name[0-3]", key=True)
