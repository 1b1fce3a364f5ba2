"""The guide for users: its partition, and job templates that the cluster can run."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.system_paths import is_listed, nearest
from clustergen.cluster.model import Cluster
from clustergen.cluster.nodes import is_pending
from clustergen.diagnostics import Finding, did_you_mean, quote
from clustergen.features.user_guide import resolved
from clustergen.features.user_guide.job_site import job_site, service_site, unfit
from clustergen.features.user_guide.section import UserGuide

_NOT_FOR_DOCUMENTS = ("kernel", "runtime", "memory", "temporary")


def user_guide_partition(cluster: Cluster, section: UserGuide) -> Iterator[Finding]:
    stated = {"partition": section.partition, "service_partition": section.service_partition}
    names = [one.name for one in cluster.slurm.partitions]
    is_open = any(map(is_pending, cluster.groups))  # nodes of an unknown type are in no partition yet
    for field, name in stated.items():
        site = job_site(cluster) if field == "partition" else service_site(cluster)
        if site is not None or name is None:
            continue
        is_defined = name in names
        if is_defined and is_open:
            continue
        yield Finding(
            "user-guide-partition",
            ("user_guide", field),
            f"partition {quote(name)} " + ("has no nodes" if is_defined else "is not defined"),
            None if is_defined else did_you_mean(name, names),
        )
    if section.partition is None and job_site(cluster) is None and not is_open:
        message = "no partition has nodes and accepts jobs, so there is nothing to guide users to"
        yield Finding("user-guide-partition", ("user_guide",), message, "add a partition with nodes", key=True)


def job_template_unfit(cluster: Cluster, section: UserGuide) -> Iterator[Finding]:
    """Only templates that the manifest names: by default, those that cannot run are left out."""
    for kind in cluster.of(resolved.UserGuide).templates if section.templates else ():
        site = service_site(cluster) if kind.service else job_site(cluster)
        if site is not None and (why := unfit(cluster, site, kind)):
            yield Finding(
                "job-template-unfit",
                ("user_guide", "templates", section.templates.index(kind.name)),
                f"the job template {quote(kind.name)} {why}",
                "remove it from the list",
            )


def directory_shared(cluster: Cluster) -> Iterator[Finding]:
    """The guide has a directory of its own, which outlives a boot."""
    directory = cluster.of(resolved.UserGuide).directory if cluster.has(resolved.UserGuide) else ""
    if directory and (is_listed(directory) or nearest(directory).kind in _NOT_FOR_DOCUMENTS):
        message = f"{directory} is used by the operating system or other programs"
        hint = f"write a directory of its own, such as {UserGuide.model_fields['directory'].default}"
        yield Finding("path-of-system", ("user_guide", "directory"), message, hint)
