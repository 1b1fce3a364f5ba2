"""PartitionName, NodeSet and DownNodes lines."""

from __future__ import annotations

import re

from clustergen.adopt.draft import Draft, Origin, Value
from clustergen.adopt.machines import NAME, Machines
from clustergen.adopt.originals import Originals
from clustergen.adopt.settings import Convert, boolean, duration, number, option_value, words
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.diagnostics import ManifestPath
from clustergen.hostlist import HostlistError, expand
from clustergen.slurmconf.folder import Entry
from clustergen.units import Duration

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,62}")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")


def _seconds(text: str) -> Value | None:
    """GraceTime: a bare number counts seconds, where the manifest's counts minutes."""
    if text.isascii() and text.isdigit() and len(text) < 9:
        return Duration(int(text)).slurm()
    return duration(text)


def _upper(*known: str) -> Convert:
    return lambda text: text.upper() if text.upper() in known else None


def _lower(**known: str) -> Convert:
    return lambda text: known.get(text.lower())


def _memory(text: str) -> Value | None:
    return f"{int(text)}MiB" if text.isascii() and text.isdigit() and 0 < int(text) < 1 << 40 else None


def _some(convert: Convert) -> Convert:
    """A list of names, and not the word for all of them."""
    return lambda text: None if text.upper() == "ALL" else convert(text)


_OF_BOOKS = _some(words(_NAME))
_ALL = ("AllowAccounts", "AllowQos", "AllowGroups", "AllocNodes")
"""Where ALL is as good as nothing."""
_TABLE: dict[str, tuple[str, Convert]] = {
    "Default": ("default", boolean),
    "MaxTime": ("max_time", duration),
    "DefaultTime": ("default_time", duration),
    "PriorityTier": ("priority_tier", number(0, 65533)),
    "PriorityJobFactor": ("priority_factor", number(0, 65533)),
    "PreemptMode": ("preempt", _lower(off="off", requeue="requeue", cancel="cancel", suspend="suspend")),
    "GraceTime": ("grace_time", _seconds),
    "DefCPUPerGPU": ("cpus_per_gpu", number(1, 4096)),
    "DefMemPerGPU": ("memory_per_gpu", _memory),
    "DefMemPerCPU": ("memory_per_cpu", _memory),
    "MaxCPUsPerNode": ("max_cpus_per_node", number(1, 1 << 31)),
    "MaxNodes": ("max_nodes", number(1, 1 << 31)),
    "MinNodes": ("min_nodes", number(1, 1 << 31)),
    "OverSubscribe": ("oversubscribe", _lower(no="no", exclusive="exclusive", yes="yes", force="force")),
    "QOS": ("qos", lambda text: text if _NAME.fullmatch(text) else None),
    "AllowAccounts": ("allow_accounts", _OF_BOOKS),
    "AllowQos": ("allow_qos", _OF_BOOKS),
    "AllowGroups": ("allow_groups", _some(words(_WORD))),
    "State": ("state", _upper("UP", "DOWN", "DRAIN", "INACTIVE")),
    "Hidden": ("hidden", boolean),
}
"""Keys of a PartitionName line, as the catalogue writes them → field."""


def take_partitions(draft: Draft, originals: Originals, machines: Machines) -> None:
    """Node sets, partitions, and lines that set nodes down at the first start."""
    _node_sets(draft, originals, machines)
    entries = originals.conf.entries("PartitionName")
    default = [entry for entry in entries if (entry.text("Default") or "").lower() in ("yes", "true", "1", "up")]
    for entry in entries:
        names = entry.names
        try:
            several = expand(names)  # Slurm makes a partition of each
        except HostlistError:
            several = [names]
        for one in several:
            if not _NAME.fullmatch(one):
                origin = originals.origin(entry.name, entry)
                draft.note("left-out", f"'{one}' is no name of a partition", origin.place, f"PartitionName {one}")
                continue
            _partition(draft, originals, entry, one)
            if entry in default[:-1]:
                draft.items.pop(("slurm", "partitions", one, "default"), None)
                last = default[-1].names
                words = f"partition {one} is not the default: two are called so, and Slurm takes the last, {last}"
                draft.note("meant", words, originals.origin(entry.name, entry).place, f"Default {one}")
    inside = _inside(draft, machines)
    for index, machine in enumerate(item for item in draft.data().get("nodes", []) if "name" in item):
        hosts = expand(machine["name"])
        runs_jobs = "slurm-compute" in machine.get("roles", ()) or (
            "roles" not in machine and machine["type"] != "service"
        )
        if runs_jobs and not inside.issuperset(hosts):
            draft.set(("nodes", index, "in_no_partition"), True)
    _down_nodes(draft, originals)


def _partition(draft: Draft, originals: Originals, entry: Entry, name: str) -> None:
    here: ManifestPath = ("slurm", "partitions", name)
    start = originals.origin(entry.name, entry)
    found: dict[str, Origin] = {}
    for setting in entry.settings():
        for key in spelled("slurm.conf", "PartitionName", setting.key):
            found.setdefault(key, originals.origin(setting, entry))
    nodes = found.pop("Nodes", None)
    draft.set((*here, "nodes"), _nodes(draft, nodes), [start], needed=True)
    for key, origin in found.items():
        field, convert = _TABLE.get(key, ("", None))
        option = ((*here, "options", key), option_value(origin.text))
        value = convert(origin.text) if convert else None
        if key == "TRESBillingWeights":
            _billing(draft, here, origin, option)
        elif key in _ALL and origin.text.upper() == "ALL":
            continue
        elif value is None:
            draft.set(*option, [origin])
        elif not (field == "state" and value == "UP") and not (field in ("default", "hidden") and value is False):
            draft.set((*here, field), value, [origin], hatch=[option])


def _nodes(draft: Draft, nodes: Origin | None) -> Value:
    if nodes is None or not nodes.text:
        return "none"
    if nodes.text.upper() == "ALL":
        return "all"
    try:
        wrong = next((host for host in expand(nodes.text) if not NAME.fullmatch(host)), None)
    except HostlistError as err:
        wrong = err.message
    if wrong is not None:
        draft.note("left-out", f"Nodes={nodes.text} of {nodes.name}: {wrong}", nodes.place, f"Nodes {nodes.name}")
        return "none"
    text = re.sub(r"[ \t]*,[ \t]*|[ \t]+", ",", nodes.text.strip())
    return re.sub(r"\[([0-9]+)\](?!\[)", r"\1", text)


def _billing(draft: Draft, here: ManifestPath, origin: Origin, option: tuple[ManifestPath, Value]) -> None:
    """As numbers by resource where each is one; memory by the GiB."""
    weights: dict[str, float] = {}
    for word in origin.text.split(","):
        key, _, text = word.strip().partition("=")
        text = text[:-1] if key.lower() == "mem" and text[-1:] in ("G", "g") else text if key.lower() != "mem" else ""
        try:
            weights[key] = float(text)
        except ValueError:
            draft.set(*option, [origin])
            return
    draft.set((*here, "billing"), weights, [origin], hatch=[option])


def _node_sets(draft: Draft, originals: Originals, machines: Machines) -> None:
    """Sets by feature as the hosts that have it: the manifest's sets are host lists."""
    for entry in originals.conf.entries("NodeSet"):
        origin = originals.origin(entry.name, entry)
        wanted = set((entry.text("Feature") or "").split(",")) - {""}
        hosts: list[str] = []
        try:
            hosts += expand(entry.text("Nodes") or "") if entry.text("Nodes") else []
        except HostlistError as err:
            draft.note("left-out", f"NodeSet={entry.names}: {err.message}", origin.place, f"NodeSet {entry.names}")
        for machine in machines.nodes:
            features = machine.values.get("features", tuple(machine.options.get("Feature", "").split(",")))
            if isinstance(features, tuple) and wanted & set(features):
                hosts += machine.hosts
        if not hosts or not _WORD.fullmatch(entry.names):
            draft.note("left-out", f"NodeSet={entry.names} has no nodes", origin.place, f"NodeSet {entry.names}")
            continue
        said = [f"Feature={','.join(sorted(wanted))} in {origin.file}: the hosts that have it today."] if wanted else []
        listed = machines.folded(dict.fromkeys(hosts))
        draft.set(("slurm", "node_sets", entry.names), listed, [origin], comments=said)
        if wanted:
            words = f"node set {entry.names} is the hosts that have the feature today"
            draft.note("meant", words, origin.place, f"NodeSet {entry.names}")
            for key in ("Feature", "Nodes"):
                draft.note("meant", words, origin.place, f"{key} {entry.names}")


def _inside(draft: Draft, machines: Machines) -> set[str]:
    """The hosts of all partitions."""
    slurm = draft.data().get("slurm", {})
    sets = slurm.get("node_sets", {})
    found: set[str] = set()
    for spec in slurm.get("partitions", {}).values():
        if spec["nodes"] == "all":
            return {host for machine in machines.nodes for host in machine.hosts}
        try:
            names = expand(spec["nodes"]) if spec["nodes"] != "none" else []
        except HostlistError:
            continue
        for one in names:
            found.update(expand(sets[one]) if one in sets else [one])
    return found


def _down_nodes(draft: Draft, originals: Originals) -> None:
    for entry in originals.conf.entries("DownNodes"):
        index = len({path[2] for path in draft.items if path[:2] == ("slurm", "lines")})
        origin = originals.origin(entry.name, entry)
        draft.set(("slurm", "lines", index, "DownNodes"), entry.names, [origin])
        for setting in entry.settings():
            draft.set(("slurm", "lines", index, setting.key), setting.text, [originals.origin(setting, entry)])
