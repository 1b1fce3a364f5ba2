"""The guide for users: its partition, and job templates that the cluster can run."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.job_site import job_site, requested_templates, unfit
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean, quote


def partition_unusable(cluster: Cluster) -> Iterator[Finding]:
    guide = cluster.manifest.user_guide
    if guide is None or job_site(cluster) is not None:
        return
    if guide.partition is None:
        message = "no partition has nodes and accepts jobs, so there is nothing to guide users to"
        yield Finding("user-guide-partition", ("user_guide",), message, "add a partition with nodes", key=True)
        return
    names = [one.name for one in cluster.partitions]
    is_defined = guide.partition in names
    yield Finding(
        "user-guide-partition",
        ("user_guide", "partition"),
        f"partition {quote(guide.partition)} "
        + ("has no nodes, or its state is not UP" if is_defined else "is not defined"),
        None if is_defined else did_you_mean(guide.partition, names),
    )


def templates_unfit(cluster: Cluster) -> Iterator[Finding]:
    """Only templates that the manifest names: by default, those that cannot run are left out."""
    guide, site = cluster.manifest.user_guide, job_site(cluster)
    if guide is None or site is None or not guide.templates:
        return
    for kind in requested_templates(cluster):
        if why := unfit(cluster, site, kind):
            yield Finding(
                "job-template-unfit",
                ("user_guide", "templates", guide.templates.index(kind.name)),
                f"the job template {quote(kind.name)} {why}",
                "remove it from the list",
            )


RULES = (partition_unusable, templates_unfit)
