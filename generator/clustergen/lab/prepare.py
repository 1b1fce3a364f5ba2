"""Writes a lab's manifest, its tree and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from clustergen import compile as compiler
from clustergen.cluster.slurm.model import Slurm
from clustergen.compile import Compiled
from clustergen.diagnostics import ClustergenError
from clustergen.lab import accounting, file_systems, namespace, substitutions
from clustergen.lab.confine import absent
from clustergen.lab.model import Lab, Wish
from clustergen.lab.scale import parse, scaled
from clustergen.lab.subnet import addressed, moved, network
from clustergen.lab.work import Work
from clustergen.render import write
from clustergen.render.inventory_file import VARIABLES


def prepare(compiled: Compiled, manifest: Path, name: str | None, wish: Wish) -> Lab:
    """Writes the lab's manifest, its tree and its settings. Raises ClustergenError where that manifest has errors."""
    cluster = compiled.cluster
    assert cluster is not None
    if not cluster.has(Slurm):
        raise ClustergenError(
            f"{manifest} has no Slurm, which the nodes of a lab run", 'add slurm: {version: "24.11"}', exit_code=2
        )
    file_systems.require_mountable(cluster, wish.mounts)
    work = Work(name or cluster.name)
    work.make()
    machine = substitutions.Machine(
        hybrid=namespace.hybrid(), raises_limits="SYS_RESOURCE" not in absent(), neighbours=accounting.neighbours(work)
    )
    document, site = _document(compiled.source.data), manifest.parent / "site"
    chosen = [
        *substitutions.asked(cluster, wish.os, wish.slurm, installed=wish.installed),
        *substitutions.chosen(cluster, machine, wish.mounts, document, site),
    ]
    document.pop("extends", None)  # what it has of other files and node types is in it
    for kind in document.get("node_types", {}).values():
        kind.pop("like", None)
    if cluster.networks.management.cidr is None:
        document = addressed(document, wish.subnet)
    if wish.scale:
        document = scaled(document, parse(wish.scale), cluster.hosts("slurm-compute"))
    if wish.subnet:
        document = moved(document, network(wish.subnet, f"--subnet {wish.subnet}"))
    for item in chosen:
        item.edit(document, cluster)
    work.write_manifest(document, manifest)
    made = compiler.validate(work.manifest, site=site)
    tree, diagnostics = compiler.render(made, work.manifest, site) if made.ok else (None, made.diagnostics)
    if tree is None or made.cluster is None:
        first = next((d for d in [*made.diagnostics, *diagnostics] if d.severity.name == "ERROR"), None)
        raise ClustergenError(f"{work.manifest}: {first.message if first else 'cannot be rendered'}", exit_code=2)
    write.write(tree, work.tree)
    lines = "".join(f"  {item.what}\n    ({item.why})\n" for item in chosen)
    work.substitutions.write_text(lines, encoding="utf-8")
    variables = substitutions.variables(made.cluster, chosen)
    variables["cluster_without_packages"] = left_out(work, variables.get("cluster_without_packages"))
    work.write_settings({**variables, **wish.variables})
    return Lab(manifest, work, document, made.cluster, tuple(chosen))


def purposes(work: Work) -> list[str]:
    """The purposes for which the tree's nodes need packages."""
    everything = yaml.safe_load((work.tree / VARIABLES).read_text(encoding="utf-8"))
    return sorted({purpose for listed in everything.get("cluster_packages", {}).values() for purpose in listed})


def left_out(work: Work, patterns: Any) -> list[str]:
    """The purposes that match a pattern."""
    return [purpose for purpose in purposes(work) if any(fnmatchcase(purpose, glob) for glob in patterns or ())]


def _document(data: Any) -> Any:
    """A copy of a document that may be edited."""
    if isinstance(data, Mapping):
        return {str(key): _document(value) for key, value in data.items()}
    return [_document(value) for value in data] if isinstance(data, list | tuple) else data
