"""Hardware that a node type states in a way that can mean two things: the name of a GPU, and threads of a core."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import hardware as parts
from clustergen.cluster.catalogue_view import CatalogueView
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.stated import is_stated


def gpu_variants(cluster: Cluster) -> Iterator[Finding]:
    """`H100` is the SXM part in the catalogue; the PCIe card and the NVL have other memory, power and NVLinks."""
    view = CatalogueView(cluster.manifest)
    for name, spec in cluster.manifest.node_types.items():
        model = spec.gpus.model
        row = parts.gpu(model) if model and model not in cluster.manifest.catalogue.gpus else None
        base = view.system(spec.system) if spec.system else None
        if not model or row is None or (base and base.gpu == row.id):
            continue
        others = parts.gpu_variants(model)
        if others:
            yield Finding(
                "gpu-variant-assumed",
                ("node_types", name, "gpus", "model"),
                f"'{model}' is taken as {row.title}; it can also mean {', '.join(other.title for other in others)}",
                f"write the one that the nodes have: {', '.join(item.id for item in (row, *others))}",
            )


def threads(cluster: Cluster) -> Iterator[Finding]:
    """Threads of a core that a system has otherwise. Who states all of `slurmd -C` has looked, and is not asked."""
    view = CatalogueView(cluster.manifest)
    for name, spec in cluster.manifest.node_types.items():
        is_own = spec.system in cluster.manifest.catalogue.systems
        base = view.system(spec.system) if spec.system and not is_own else None
        stated = spec.cpu.threads_per_core
        if base is None or stated is None or not base.cpu.cores_per_socket:
            continue
        if is_stated(spec.cpu, "sockets") and is_stated(spec.cpu, "cores_per_socket"):
            continue
        if stated < base.cpu.threads_per_core:
            yield Finding(
                "threads-unlike-system",
                ("node_types", name, "cpu", "threads_per_core"),
                f"{base.id} has {base.cpu.threads_per_core} threads per core, so SMT must be off in the firmware of"
                f" '{name}'",
                f"write cpu: {{sockets: {base.cpu.sockets}, cores_per_socket: {base.cpu.cores_per_socket},"
                f" threads_per_core: {stated}}} if slurmd -C prints that; remove threads_per_core if SMT is on, and"
                " submit with --hint=nomultithread for one task per core",
            )


RULES = (gpu_variants, threads)
