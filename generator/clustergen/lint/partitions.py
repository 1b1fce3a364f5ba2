"""PartitionName lines: who is in them, times, sizes, memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import islice

from clustergen.diagnostics import Severity, did_you_mean
from clustergen.hostlist import compress
from clustergen.lint.finding import LintFinding
from clustergen.lint.hostlists import near_node, not_defined, spot_of, unreadable
from clustergen.lint.site import Site, expanded, hosts_of
from clustergen.slurmconf.config import Entry, Setting
from clustergen.slurmconf.scalars import TRUE, seconds_of
from clustergen.slurmrules.conf import integer
from clustergen.slurmrules.limits import BUILT_IN_TRES

_HARDWARE = ("CPUs", "Procs", "Sockets", "SocketsPerBoard", "CoresPerSocket", "RealMemory", "Gres")
_ADDED = ("gres/gpumem", "gres/gpuutil")  # by Slurm itself, to gres/gpu, from 23.02 on


def exist(site: Site) -> Iterator[LintFinding]:
    if site.slurm is None or not site.complete:
        return
    if not site.partitions:
        if site.nodes:
            severity = Severity.WARNING if site.has("starts-without-partitions") else Severity.ERROR
            yield site.finding(
                "default-partition-missing",
                severity,
                site.directory.main,
                "no PartitionName line, so no job can run",
                "add PartitionName=batch Nodes=ALL Default=YES",
            )
        return
    defaults = [value for part in site.partitions if (value := part.value("Default")) and value.text.lower() in TRUE]
    owners = [part for part in site.partitions if (part.text("Default") or "").lower() in TRUE]
    for part, value in zip(owners[1:], defaults[1:], strict=True):
        yield site.warning(
            "default-partition-twice",
            value,
            f"partition '{owners[0].names}' is already the default; Slurm uses the last one, '{owners[-1].names}'",
            f"keep Default=YES on one line; '{part.names}' sets it too"
            if part is not owners[-1]
            else "keep Default=YES on one line",
        )
    if not owners:
        yield site.warning(
            "default-partition-missing",
            site.partitions[0],
            "no partition is the default: jobs submitted without --partition are rejected, and Slurm logs an error",
            "add Default=YES to one of them",
            key=True,
        )


def names(site: Site) -> Iterator[LintFinding]:
    first: dict[str, Entry] = {}
    for part in site.partitions:
        if part.names in first:
            yield site.error(
                "partition-twice",
                part,
                f"partition '{part.names}' is already defined on line {first[part.names].line.number}; slurmctld does"
                " not start",
            )
        first.setdefault(part.names, part)
        what = {",": "a comma", " ": "a blank", "[": "a bracket, which Slurm does not expand here"}
        character = next((each for each in what if each in part.names), None)
        if character is not None:
            message = f"this is one partition whose name contains {what[character]}, so no job can request it"
            yield site.warning(
                "slurm-value-harmful", part, message, "write one PartitionName line per partition, without brackets"
            )
    for part in site.partitions:
        for name in (part.text("Alternate") or "").split(","):
            setting = part.own_value("Alternate")
            if name.strip() and setting and name.strip() not in first:
                yield site.warning(
                    "partition-unknown",
                    setting,
                    f"partition '{name.strip()}' is not defined",
                    did_you_mean(name, islice(first, 2000)),
                )


def members(site: Site) -> Iterator[LintFinding]:
    """Every name is a node, a node set or ALL."""
    texts = (part.text("Nodes") for part in site.partitions)
    used = {name for text in texts for name in _named(text) if name in site.node_sets}
    for entry in site.node_sets.values():
        yield from _node_set(site, entry, used)
    for part in site.partitions:
        listed = part.value("Nodes")
        if listed is not None:
            yield from _list(site, listed, f"partition '{part.names}'", Severity.ERROR)


def _node_set(site: Site, entry: Entry, used: Collection[str]) -> Iterator[LintFinding]:
    """`used`: the node sets that partitions name, as Slurm looks at the nodes of these alone."""
    if entry.names in site.hosts:
        severity = Severity.ERROR if site.has("node-set-is-node-stops") else Severity.WARNING
        message = f"'{entry.names}' is also the name of a node, so its meaning is ambiguous"
        yield site.finding("node-set-is-node", severity, entry, message, "rename the node set")
    listed = entry.own_value("Nodes")
    if listed is not None:
        severity = Severity.ERROR if entry.names in used else Severity.WARNING
        yield from _list(site, listed, f"node set '{entry.names}'", severity)


def outside(site: Site) -> Iterator[LintFinding]:
    """Nodes that no partition has."""
    texts = [text for part in site.partitions if (text := part.text("Nodes")) is not None]
    if not texts or not site.complete or any(text.strip().upper() == "ALL" for text in texts):
        return
    named = {name for text in texts for name in _named(text)}
    features = set()
    for name, entry in site.node_sets.items():
        if name in named:
            named.update(_named(entry.text("Nodes")))
            features.add(entry.text("Feature"))
    for node in site.nodes:
        left = [host for host in hosts_of(node) or () if host not in named]
        if left and not _has_feature(node, features) and not (node.text("State") or "").upper().startswith("FUTURE"):
            message = f"{compress(left[:2000], suffixes=True)} {'are' if len(left) > 1 else 'is'} in no partition"
            # a line without hardware is often that of a login node, which runs no jobs
            no_hardware = all(node.own_value(key) is None for key in _HARDWARE)
            severity = Severity.INFO if no_hardware else Severity.WARNING
            message += ", so no job runs there"
            hint = f"add {'them' if len(left) > 1 else 'it'} to Nodes of a partition"
            yield site.finding("node-in-no-partition", severity, node, message, hint)


def _has_feature(node: Entry, features: Collection[str | None]) -> bool:
    return any(word in features for word in (node.text("Feature", "Features") or "").split(","))


def _named(text: str | None) -> list[str]:
    """The names in a partition's Nodes, which blanks divide too; none for what cannot be read."""
    return expanded(_with_commas(text or "")) or []


def _with_commas(text: str) -> str:
    return ",".join(re.split(r"[\s,]+", text.strip()))


def _list(site: Site, setting: Setting, of: str, severity: Severity) -> Iterator[LintFinding]:
    text = _with_commas(setting.text).strip(",")
    if not text or text.upper() == "ALL":
        return
    names = expanded(text)
    if names is None:
        yield unreadable(site, setting, f"Nodes of {of} is not a host list", severity)
        return
    missing = [name for name in names if name not in site.hosts and name not in site.node_sets]
    if missing and site.complete:
        does = "; slurmctld does not start" if severity is Severity.ERROR else ""
        message = f"{of}: {not_defined('node', missing)}{does}"
        hint = "write ALL alone, or remove it" if missing[0].upper() == "ALL" else near_node(site, missing[0])
        yield site.finding("node-unknown", severity, spot_of(site, setting, missing[0]), message, hint)


def values(site: Site) -> Iterator[LintFinding]:
    for part in site.partitions:
        yield from _times(site, part)
        yield from _sizes(site, part)
        yield from _exclusions(site, part)
        shared = part.own_value("OverSubscribe", "Shared")
        word, _, number = shared.text.partition(":") if shared else ("", "", "")
        least = {"yes": 2, "force": 1}.get(word.lower(), 0)
        if shared and ":" in shared.text and least and (integer(number) or 0) < least:
            yield site.warning(
                "slurm-value-wrong",
                shared,
                f"{shared.key}={shared.text} is not a valid value: Slurm uses NO and logs an error",
            )
        mode = part.own_value("PreemptMode")
        if mode and "gang" in mode.text.lower() and site.has("preempt-mode-of-partition-logged"):
            yield site.warning(
                "slurm-value-wrong",
                mode,
                "GANG applies to the whole cluster; Slurm ignores it here and logs an error",
                "move GANG to the cluster's PreemptMode",
            )


def _times(site: Site, part: Entry) -> Iterator[LintFinding]:
    longest, usual = part.value("MaxTime"), part.value("DefaultTime")
    most = seconds_of(longest.text) if longest else None
    normal = seconds_of(usual.text) if usual else None
    if usual and most is not None and most > 0 and normal is not None and (normal < 0 or normal > most):
        yield site.warning(
            "partition-times",
            usual,
            f"a job without --time gets DefaultTime {usual.text}, which exceeds MaxTime, and never starts",
        )


def _sizes(site: Site, part: Entry) -> Iterator[LintFinding]:
    least, most = part.value("MinNodes"), part.value("MaxNodes")
    low, high = integer(least.text if least else None), integer(most.text if most else None)
    if least and low is not None and high is not None and low > high:
        yield site.warning(
            "partition-sizes", least, f"MinNodes {low} is larger than MaxNodes {high}, so no job size is allowed"
        )
        return
    nodes = part.value("Nodes")
    if least is None or low is None or nodes is None or not site.complete:
        return
    listed = expanded(nodes.text) or ()
    available = 0 if any(name in site.node_sets for name in listed) else len(listed)
    if nodes.text.upper() == "ALL":
        available = len(site.hosts)
    if low > available > 0:
        yield site.warning(
            "partition-sizes",
            least,
            f"MinNodes is {low}, but partition '{part.names}' has {available} nodes, so no job ever starts",
        )


def _exclusions(site: Site, part: Entry) -> Iterator[LintFinding]:
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
                f"{ignored} is ignored because {kept} is set; Slurm logs an error",
                "remove one of them",
                key=True,
            )
    topo, user = part.own_value("ExclusiveTopo"), part.own_value("ExclusiveUser")
    if topo and user and topo.text.lower() in TRUE and user.text.lower() in TRUE and site.has("exclusive-topo-first"):
        yield site.warning(
            "slurm-key-ignored",
            user,
            "ExclusiveUser is ignored because ExclusiveTopo is set",
            "remove one of them",
            key=True,
        )


def _lines(part: Entry, *settings: Setting) -> list[object]:
    line_keys = set(part.line.pairs)
    return [part.line for setting in settings if setting.pair in line_keys]


def weights(site: Site) -> Iterator[LintFinding]:
    """Weights of resources that the cluster does not count stop slurmctld."""
    counted = {*BUILT_IN_TRES, *site.words("AccountingStorageTRES")}
    if any(word.startswith("gres/gpu") for word in counted) and site.has("gpu-use-counted"):
        counted.update(_ADDED)
    settings = [setting for part in site.partitions if (setting := part.own_value("TRESBillingWeights"))]
    settings += [setting for node in site.nodes if (setting := node.own_value("TRESWeights"))]
    total = site.setting("PriorityWeightTRES")
    if total and site.plugin("PriorityType") == "multifactor":
        settings.append(total)
    for setting in settings:
        start = 0
        for item in setting.text.split(","):
            name = item.partition("=")[0].strip()
            if name and "=" in item and name.lower() not in counted and not name.lower().startswith("license/"):
                hint = (
                    f"write AccountingStorageTRES={name.lower()}" if "/" in name else did_you_mean(name, BUILT_IN_TRES)
                )
                yield site.error(
                    "tres-unknown",
                    site.part(setting, start + item.find(name), len(name)),
                    f"'{name}' is not a tracked resource (TRES), and slurmctld does not start with a weight for it",
                    hint,
                )
            start += len(item) + 1
