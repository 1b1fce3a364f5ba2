"""Keys of slurm.conf that need or exclude one another: times, numbers, lists, names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clustergen.diagnostics import did_you_mean
from clustergen.lint.finding import LintFinding
from clustergen.lint.hostlists import near_node
from clustergen.lint.site import SEVERITY, Site, expanded
from clustergen.slurmrules import combinations as rules
from clustergen.slurmrules.conf import integer


def combinations(site: Site) -> Iterator[LintFinding]:
    """Words and keys that exclude or need each other: the same rules as a manifest's."""
    for key, remark, file in rules.combinations(site):
        if (setting := site.setting(key, file=file) or (None if key else site.first_gpus)) is not None:
            yield from site.remarks(setting, [remark])
        elif site.complete:
            place = site.first_gpus if remark.code == "gres-without-constraint" and file == "slurm.conf" else None
            yield site.finding(remark.code, SEVERITY[remark.outcome], place or file, remark.message, remark.hint)


def suspending(site: Site) -> Iterator[LintFinding]:
    """Power saving that is asked for and has no program."""
    missing = [key for key in ("SuspendProgram", "ResumeProgram") if site.setting(key) is None]
    if site.slurm is None or not missing or site.slurm.settings("PowerAction"):
        return
    times = [site.setting("SuspendTime"), *(part.own_value("SuspendTime") for part in site.partitions)]
    for suspend in times:
        if suspend and suspend.text.lower() not in ("-1", "infinite"):
            yield site.warning(
                "slurm-key-ignored",
                suspend,
                f"without {' and '.join(missing)} no node is ever suspended",
                f"delete it, or set {'both programs' if len(missing) > 1 else missing[0]}",
                key=True,
            )
            return


def sizes(site: Site) -> Iterator[LintFinding]:
    """Nodes that MaxNodeCount leaves out."""
    most = site.setting("MaxNodeCount")
    count = integer(most.text) if most else None
    if most and count and site.complete and len(site.hosts) > count:
        yield site.error(
            "slurm-value-wrong",
            most,
            f"the cluster has {len(site.hosts)} nodes; slurmctld does not start with more than MaxNodeCount",
        )


def exclusions(site: Site) -> Iterator[LintFinding]:
    """DownNodes and what power saving leaves alone name nodes and partitions."""
    if site.slurm is None or not site.complete:
        return
    for down in site.slurm.entries("DownNodes"):
        for host in expanded(down.names) or ():
            if host not in site.hosts:
                yield site.warning("node-unknown", down, f"node '{host}' is not defined", near_node(site, host))
                break
    nodes = site.setting("SuspendExcNodes")
    for host in (expanded(nodes.text) or ()) if nodes and ":" not in nodes.text else ():
        if nodes and host not in site.hosts and host not in site.node_sets:
            yield site.warning("node-unknown", nodes, f"node '{host}' is not defined", near_node(site, host))
            break
    parts = site.setting("SuspendExcParts")
    names = dict.fromkeys(partition.names for partition in site.partitions)
    for name in parts.text.split(",") if parts else ():
        if parts and name.strip() not in names:
            hint = did_you_mean(name, islice(names, 2000))
            yield site.warning("partition-unknown", parts, f"partition '{name.strip()}' is not defined", hint)


def cloud(site: Site) -> Iterator[LintFinding]:
    """Nodes that something has to start."""
    elsewhere = any((node.text("State") or "").upper().startswith("CLOUD") for node in site.nodes)
    if not elsewhere or site.slurm is None or site.slurm.settings("PowerAction"):
        return
    lacking = rules.power_saving_lacks(
        lambda key: site.stated(key) or "", [part.text("SuspendTime") or "" for part in site.partitions]
    )
    if lacking:
        yield site.warning(
            "cloud-without-power-saving",
            site.directory.main,
            f"without {' and '.join(lacking)} slurmctld never starts cloud nodes, and their jobs stay CONFIGURING",
            f"set {', '.join(lacking)}",
        )
