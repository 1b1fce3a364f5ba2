"""PartitionName lines: who is in them, times, sizes, memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.diagnostics import Severity, did_you_mean
from clustergen.hostlist import fold
from clustergen.lint.accounting import _BASIC
from clustergen.lint.found import Found
from clustergen.lint.hostlists import spot_of, unreadable
from clustergen.lint.site import TRUE, Site, expanded, hosts_of, integer
from clustergen.slurmconf.folder import Entry, Setting
from clustergen.slurmrules.forms import seconds_of

_HARDWARE = ("CPUs", "Procs", "Sockets", "SocketsPerBoard", "CoresPerSocket", "RealMemory", "Gres")
_ADDED = ("gres/gpumem", "gres/gpuutil")  # by Slurm itself, to gres/gpu, from 23.02 on


def there(site: Site) -> Iterator[Found]:
    if site.slurm is None or not site.complete:
        return
    if not site.partitions:
        if site.nodes:
            severity = Severity.WARNING if site.since("23.02") else Severity.ERROR
            yield site.found(
                "default-partition-missing",
                severity,
                site.folder.main,
                "no PartitionName, so no job has a place to run",
                "PartitionName=batch Nodes=ALL Default=YES",
            )
        return
    defaults = [found for part in site.partitions if (found := part.value("Default")) and found.text.lower() in TRUE]
    owners = [part for part in site.partitions if (part.text("Default") or "").lower() in TRUE]
    for part, found in zip(owners[1:], defaults[1:], strict=True):
        yield site.warning(
            "default-partition-twice",
            found,
            f"'{owners[0].names}' is the default partition already; Slurm takes the last one, '{owners[-1].names}'",
            f"Default=YES on one line only; now '{part.names}' has it too"
            if part is not owners[-1]
            else "Default=YES on one line only",
        )
    if not owners:
        yield site.warning(
            "default-partition-missing",
            site.partitions[0],
            "no partition is the default: jobs that name none are refused, and Slurm logs an error",
            "Default=YES on one of them",
            key=True,
        )


def names(site: Site) -> Iterator[Found]:
    first: dict[str, Entry] = {}
    for part in site.partitions:
        if part.names in first:
            yield site.error(
                "partition-twice",
                part,
                f"'{part.names}' is a partition by line {first[part.names].line.number} already; slurmctld stops",
            )
        first.setdefault(part.names, part)
        if "," in part.names or " " in part.names:
            yield site.warning(
                "slurm-value-harmful",
                part,
                "this is one partition with a strange name, that no job can ask for",
                "a PartitionName line for each",
            )
    for part in site.partitions:
        for name in (part.text("Alternate") or "").split(","):
            found = part.own("Alternate")
            if name.strip() and found and name.strip() not in first:
                yield site.warning(
                    "partition-unknown", found, f"no partition is called '{name.strip()}'", did_you_mean(name, first)
                )


def members(site: Site) -> Iterator[Found]:
    """Every name is a node, a node set or ALL; and every node is somewhere."""
    if site.slurm is None:
        return
    everywhere = False
    inside: set[str] = set()
    complete = site.complete
    for entry in site.node_sets.values():
        if entry.names in site.hosts:
            severity = Severity.ERROR if site.since("24.11") else Severity.WARNING
            yield site.found(
                "node-set-is-node",
                severity,
                entry,
                f"'{entry.names}' is a node too, and Slurm cannot tell them apart",
                "another name",
            )
        listed = entry.own("Nodes")
        feature = entry.own("Feature")
        if feature is not None:
            everywhere = everywhere or any(_has_feature(node, feature.text) for node in site.nodes)
            inside.update(
                host for node in site.nodes if _has_feature(node, feature.text) for host in hosts_of(node) or ()
            )
        if listed is not None:
            yield from _list(site, listed, inside, complete, f"node set '{entry.names}'", Severity.WARNING)
    used = False
    for part in site.partitions:
        found = part.value("Nodes")
        if found is None:
            continue
        used = True
        if found.text.strip().upper() == "ALL":
            everywhere = True
        elif found.key_at != (part.own("Nodes") or found).key_at:
            continue
        else:
            yield from _list(site, found, inside, complete, f"partition '{part.names}'", Severity.ERROR)
    if everywhere or not used or not complete:
        return
    for node in site.nodes:
        outside = [host for host in hosts_of(node) or () if host not in inside]
        state = (node.text("State") or "").upper()
        if outside and not state.startswith("FUTURE"):
            several = len(outside) > 1
            shown = fold(outside[:2000], suffixes=True)
            message = f"{shown} {'are' if several else 'is'} in no partition, so no job gets there"
            # a line without hardware is often that of a login node, which runs no jobs
            bare = all(node.own(key) is None for key in _HARDWARE)
            severity = Severity.INFO if bare else Severity.WARNING
            yield site.found("node-in-no-partition", severity, node, message, "name it in Nodes of a partition")


def _has_feature(node: Entry, feature: str) -> bool:
    return feature in (node.text("Feature", "Features") or "").split(",")


def _list(site: Site, found: Setting, inside: set[str], complete: bool, of: str, severity: Severity) -> Iterator[Found]:
    text = ",".join(re.split(r"[\s,]+", found.text.strip()))
    if not text:
        return
    wanted = expanded(text.strip(","))
    if wanted is None:
        yield unreadable(site, found, f"the nodes of {of} are no host list", severity)
        return
    missing = [name for name in wanted if name not in site.hosts and name not in site.node_sets]
    if len(wanted) == 1 and wanted[0].upper() == "ALL":
        missing = []
    inside.update(wanted)
    if missing and complete:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        does = "; slurmctld does not start" if severity is Severity.ERROR else ""
        spot = spot_of(site, found, missing[0])
        message = f"{of}: no node is called '{missing[0]}'{more}{does}"
        hint = did_you_mean(missing[0], list(site.hosts)[:2000])
        if missing[0].upper() == "ALL":
            hint = "ALL stands alone, or not at all"
        yield site.found("node-unknown", severity, spot, message, hint)


def values(site: Site) -> Iterator[Found]:
    for part in site.partitions:
        yield from _times(site, part)
        yield from _sizes(site, part)
        yield from _exclusions(site, part)
        shared = part.own("OverSubscribe", "Shared")
        word, _, number = shared.text.partition(":") if shared else ("", "", "")
        least = {"yes": 2, "force": 1}.get(word.lower(), 0)
        if shared and ":" in shared.text and least and (integer(number) or 0) < least:
            yield site.warning(
                "slurm-value-wrong", shared, f"{shared.key}={shared.text}: Slurm takes NO, and logs an error"
            )
        mode = part.own("PreemptMode")
        if mode and "gang" in mode.text.lower() and site.since("24.11"):
            yield site.warning(
                "slurm-value-wrong",
                mode,
                "GANG is for the whole cluster; Slurm ignores it here, and logs an error",
                "GANG in the cluster's PreemptMode",
            )


def _times(site: Site, part: Entry) -> Iterator[Found]:
    longest, usual = part.value("MaxTime"), part.value("DefaultTime")
    most = seconds_of(longest.text) if longest else None
    normal = seconds_of(usual.text) if usual else None
    if usual and most is not None and most >= 0 and normal is not None and (normal < 0 or normal > most):
        yield site.warning(
            "partition-times",
            usual,
            f"a job that asks for no time gets {usual.text}, more than MaxTime, and never starts",
        )


def _sizes(site: Site, part: Entry) -> Iterator[Found]:
    least, most = part.value("MinNodes"), part.value("MaxNodes")
    low, high = integer(least.text if least else None), integer(most.text if most else None)
    if least and low is not None and high is not None and low > high:
        yield site.warning(
            "partition-sizes", least, f"MinNodes is {low} and MaxNodes {high}, so no job has a right size"
        )
        return
    nodes = part.value("Nodes")
    there = None
    if nodes is not None and site.complete:
        there = len(site.hosts) if nodes.text.upper() == "ALL" else len(expanded(nodes.text) or ()) or None
        if there is not None and any(name in site.node_sets for name in expanded(nodes.text) or ()):
            there = None
    if least and low is not None and there is not None and low > there > 0:
        yield site.warning(
            "partition-sizes",
            least,
            f"a job must ask for {low} nodes, but '{part.names}' has {there}, so none ever starts",
        )


def _exclusions(site: Site, part: Entry) -> Iterator[Found]:
    """Keys of which Slurm ignores one."""
    for kept, ignored in (
        ("DefMemPerNode", "DefMemPerCPU"),
        ("MaxMemPerNode", "MaxMemPerCPU"),
        ("AllowAccounts", "DenyAccounts"),
        ("AllowQos", "DenyQos"),
    ):
        one, other = part.value(kept), part.value(ignored)
        if one and other and part.line in _lines(part, one, other) and one.text.upper() != "ALL":
            code = "partition-memory-twice" if "Mem" in kept else "slurm-key-ignored"
            yield site.warning(
                code,
                other,
                f"{ignored} is ignored, since {kept} is there; Slurm logs an error",
                "one of them",
                key=True,
            )
    topo, user = part.own("ExclusiveTopo"), part.own("ExclusiveUser")
    if topo and user and topo.text.lower() in TRUE and user.text.lower() in TRUE and site.since("26.05"):
        yield site.warning(
            "slurm-key-ignored", user, "ExclusiveUser is ignored, since ExclusiveTopo is there", "one of them", key=True
        )


def _lines(part: Entry, *settings: Setting) -> list[object]:
    own = set(part.line.pairs)
    return [part.line for setting in settings if setting.pair in own]


def weights(site: Site) -> Iterator[Found]:
    """Weights of resources that the cluster does not count stop slurmctld."""
    counted = {*_BASIC, *site.words("AccountingStorageTRES")}
    if any(word.startswith("gres/gpu") for word in counted) and site.since("23.02"):
        counted.update(_ADDED)
    settings = [found for part in site.partitions if (found := part.own("TRESBillingWeights"))]
    settings += [found for node in site.nodes if (found := node.own("TRESWeights"))]
    total = site.setting("PriorityWeightTRES")
    if total and site.plugin("PriorityType") == "multifactor":
        settings.append(total)
    for found in settings:
        start = 0
        for item in found.text.split(","):
            name = item.partition("=")[0].strip()
            if name and "=" in item and name.lower() not in counted and not name.lower().startswith("license/"):
                hint = f"AccountingStorageTRES={name.lower()}" if "/" in name else did_you_mean(name, _BASIC)
                yield site.error(
                    "tres-unknown",
                    site.part(found, start + item.find(name), len(name)),
                    f"'{name}' is counted nowhere, and slurmctld does not start with its weight",
                    hint,
                )
            start += len(item) + 1


CHECKS = (there, names, members, values, weights)
