"""Notebooks: the node of the hub, its system, what users can choose, and their home directories."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.job_site import site_of, visible
from clustergen.diagnostics import Finding, did_you_mean, one_of, quote
from clustergen.features.notebooks import resolved
from clustergen.features.notebooks.choices import sites
from clustergen.features.notebooks.resolved import ROLES
from clustergen.features.notebooks.section import Notebooks

_PYTHON = (3, 11)  # of the releases that the role installs
_HOME = "/home"


def _hub(cluster: Cluster) -> NodeGroup | None:
    host = cluster.of(resolved.Notebooks).host
    return next((group for group in cluster.groups if host in group.hosts), None)


def notebooks_host(cluster: Cluster, section: Notebooks) -> Iterator[Finding]:
    group = _hub(cluster)
    if group and any(map(group.has, ROLES)):
        return
    fitting = [host for role in ROLES for host in cluster.hosts(role)]
    host = section.host
    problem = f"{quote(host)} has neither the role login nor slurm-controller" if group else f"there is no node {host}"
    if host is None:
        problem = "no node has the role login or slurm-controller"
    yield Finding(
        "notebooks-host",
        ("notebooks", "host") if host else ("notebooks",),
        f"{problem}, so that nothing can run the hub, which submits jobs",
        f"write host: {fitting[0]}" if fitting else "add the role login to a node",
        key=host is None,
    )


def notebooks_system(cluster: Cluster, _: resolved.Notebooks) -> Iterator[Finding]:
    hub = _hub(cluster)
    if hub and not hub.type.os.packages("notebook_hub"):
        message = f"{hub.type.os.id} has no package of Node.js 20, which the proxy of JupyterHub requires"
        yield Finding("notebooks-system", ("notebooks",), message, "run the hub on a node with debian-13", key=True)
    for group in cluster.compute:
        version = tuple(map(int, group.type.os.fact("python").split(".")))
        if version < _PYTHON and _runs_notebooks(cluster, group):
            message = (
                f"{group.type.os.id} of {group.folded} has Python {group.type.os.fact('python')}; notebooks require"
                f" {'.'.join(map(str, _PYTHON))}"
            )
            hint = "choose partitions of nodes with another system"
            yield Finding("notebooks-system", ("notebooks",), message, hint, key=True)


def notebooks_partition(cluster: Cluster, section: Notebooks) -> Iterator[Finding]:
    names = [one.name for one in cluster.slurm.partitions]
    for index, name in enumerate(section.partitions):
        if site_of(cluster, name) is None:
            problem = "has no nodes" if name in names else "is not defined"
            hint = "add nodes to it" if name in names else did_you_mean(name, names) or f"use {one_of(names)}"
            path = ("notebooks", "partitions", index)
            yield Finding("notebooks-partition", path, f"partition {quote(name)} {problem}", hint)
    if not section.partitions and not sites(cluster):
        message = "no partition has nodes and accepts jobs, so that no notebook can start"
        yield Finding("notebooks-partition", ("notebooks",), message, "add a partition with nodes", key=True)
    qos = {name for site in sites(cluster) for name in site.partition.allow_qos}
    if section.job_qos and qos and section.job_qos.lower() not in map(str.lower, qos):
        message, hint = f"no partition of notebooks allows the QOS {quote(section.job_qos)}", ", ".join(sorted(qos))
        yield Finding("notebooks-partition", ("notebooks", "job_qos"), message, f"write one of {hint}")


def gpus(cluster: Cluster, section: Notebooks) -> Iterator[Finding]:
    """Numbers that no notebook can have; by default, those are left out."""
    usable = sites(cluster)
    most = max((site.gpus for site in usable), default=0)
    for index, count in enumerate(section.gpus if usable and "gpus" in section.model_fields_set else ()):
        if count > most:
            where = " and ".join(quote(site.partition.name) for site in usable)
            message = f"a job on one node in partition {where} can have {most} GPUs, not {count}"
            yield Finding("value-out-of-range", ("notebooks", "gpus", index), message, f"write {most} or less")


def notebooks_without_home(cluster: Cluster) -> Iterator[Finding]:
    hub = _hub(cluster) if cluster.has(resolved.Notebooks) else None
    if hub is None or cluster.host_count == 1:
        return
    for group in cluster.compute:
        if not _runs_notebooks(cluster, group) or group is hub:
            continue
        homes = [name for name, one in visible(cluster, group).items() if one.mount.rstrip("/") == _HOME]
        if not any(cluster.storage[name].is_shared and name in visible(cluster, hub) for name in homes):
            yield Finding(
                "notebooks-without-home",
                ("notebooks",),
                f"{group.folded} and the hub on {cluster.of(resolved.Notebooks).host} share no file system at {_HOME}:"
                " users do not find the files of their notebooks where they log in, or in the next notebook",
                "add a file system with `mount: /home` and `clients: [login, slurm-compute]`",
                key=True,
            )
            return


def _runs_notebooks(cluster: Cluster, group: NodeGroup) -> bool:
    names = cluster.of(resolved.Notebooks).partitions
    return any(host in one.hosts for one in cluster.slurm.partitions if one.name in names for host in group.hosts)
