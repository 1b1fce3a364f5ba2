"""Ambiguous values of a node type: names of GPUs and systems, and threads of a core."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue import hardware as parts
from clustergen.catalogue import systems
from clustergen.catalogue.products import system_variants
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding
from clustergen.manifest.hardware import NodeType
from clustergen.manifest.stated import is_stated


def gpu_variant_assumed(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """`H100` is the SXM part in the catalogue; the PCIe card and the NVL have other memory, power and NVLinks."""
    view = cluster.catalogue
    for name, spec in section.items():
        model = spec.gpus.model
        row = parts.gpu(model) if model and model not in cluster.catalogue.own_gpus else None
        base = view.system(spec.system) if spec.system else None
        if not model or row is None or (base and base.gpu == row.id and not base.gpu_options):
            continue
        others = parts.gpu_variants(model)
        if base and row.id in (sold := {base.gpu, *base.gpu_options}):
            others = [other for other in others if other.id in sold]
        if others:
            yield Finding(
                "gpu-variant-assumed",
                ("node_types", name, "gpus", "model"),
                f"'{model}' is taken as {row.title}; it can also mean {', '.join(other.title for other in others)}",
                f"write the one that the nodes have: {', '.join(item.id for item in (row, *others))}",
            )


def system_variant_assumed(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """A DGX A100 was sold with GPUs of 40 GB and of 80 GB, and half the memory; some boards with one of two GPUs."""
    view = cluster.catalogue
    for name, spec in section.items():
        if not spec.system or spec.system in cluster.catalogue.own_systems:
            continue
        base, others = systems.system(spec.system), system_variants(spec.system)
        if base is None or not base.gpu:
            continue
        if others and not (spec.gpus.model and (spec.memory or spec.real_memory)):
            yield Finding(
                "system-variant-assumed",
                ("node_types", name, "system"),
                f"'{spec.system}' is taken as {_variant(base)}; it can also mean {', '.join(map(_variant, others))}",
                f"write the one that the nodes are: {', '.join(sorted(item.id for item in (base, *others)))}",
            )
        elif base.gpu_options and not others and not spec.gpus.model:
            models = [row for ident in (base.gpu, *base.gpu_options) if (row := view.gpu(ident))]
            yield Finding(
                "system-variant-assumed",
                ("node_types", name, "system"),
                f"'{spec.system}' is taken with {models[0].title}; it is also sold with"
                f" {', '.join(row.title for row in models[1:])}",
                f"set node_types.{name}.gpus.model to the one that the nodes have:"
                f" {', '.join(row.id for row in models)}",
            )


def _variant(row: systems.System) -> str:
    return f"{row.id} ({row.gpu_count} x {row.gpu}, {row.memory_mib // 1024} GiB of memory)"


def threads_unlike_system(cluster: Cluster, section: Mapping[str, NodeType]) -> Iterator[Finding]:
    """Threads of a core that a system has otherwise. Who states all of `slurmd -C` has looked, and is not asked."""
    view = cluster.catalogue
    for name, spec in section.items():
        is_own = spec.system in cluster.catalogue.own_systems
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
