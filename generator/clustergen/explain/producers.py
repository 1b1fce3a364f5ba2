"""Functions that make one file of a tree from a cluster, and as few others as possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.records import record
from clustergen.render.build import Builder
from clustergen.render.file import File
from clustergen.render.registry import files
from clustergen.render.tree import RenderedFile, Tree

Producer = Callable[[Cluster], Mapping[str, RenderedFile]]
"""Makes the file, and may make others with it: path in the tree → file."""
Groups = Mapping[str, tuple[NodeGroup, ...]]


def producer_of(row: File, manifest_name: str) -> Producer:
    """Makes the files of one row of the registry, which depend on the cluster alone."""

    def make(cluster: Cluster) -> Mapping[str, RenderedFile]:
        return Builder(cluster, manifest_name).build(row)

    return make


def site_producer(directory: Path, groups: set[str]) -> Producer:
    """Makes a site's own files, whose templates see the cluster."""
    from clustergen.render.site import site_files

    def make(cluster: Cluster) -> Mapping[str, RenderedFile]:
        made = site_files(directory, cluster, groups)
        return {file.path: file for file in made if isinstance(file, RenderedFile)}

    return make


@record
class Part:
    """The part that a row adds to the outline of a tree."""

    row: File
    files: Mapping[str, RenderedFile]
    groups: Groups  # into which it splits others


def parts_of(cluster: Cluster, manifest_name: str) -> list[Part]:
    """A tree by the rows of the registry that make it."""
    parts = []
    for row in files():
        if row.per != "tree":
            builder = Builder(cluster, manifest_name)
            made = builder.build(row)
            parts.append(Part(row, made, builder.split))
    return parts


def outline_producer(row: File, tree: Tree, fixed: Sequence[Part], made: Sequence[Part] = ()) -> Producer:
    """Makes a file about all others: the `made` parts anew from the cluster, the `fixed` ones as they are."""
    kept = {path: file for part in fixed for path, file in part.files.items()}
    split = {name: groups for part in fixed for name, groups in part.groups.items()}
    of_site = {file.path: file for file in tree if is_own(file)}

    def make(cluster: Cluster) -> Mapping[str, RenderedFile]:
        builder = Builder(cluster, tree.manifest_name)
        by_first = {group.hosts[0]: group for group in cluster.groups}
        for name, groups in split.items():  # as this cluster has them, which may lack the node type of another
            builder.split[name] = tuple(filter(None, (by_first.get(group.hosts[0]) for group in groups)))
        builder.files |= {path: file for path, file in kept.items() if file.group in (None, *builder.members)}
        for part in made:
            builder.build(part.row)
        builder.files |= of_site
        builder.finish(row)
        return builder.files

    return make


def is_own(file: RenderedFile) -> bool:
    """True if it is a file of the site."""
    return file.source.startswith("site/")
