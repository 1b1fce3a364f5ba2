"""PartitionName, NodeSet and DownNodes lines."""

from __future__ import annotations

import re

from clustergen.catalogue.slurm_meanings import spelled
from clustergen.diagnostics import ManifestPath
from clustergen.hostlist import HostlistError, expand, is_node_name
from clustergen.importer.draft import Draft, Origin, Value
from clustergen.importer.forms import fits, value_of
from clustergen.importer.machines import Machines
from clustergen.importer.originals import Originals
from clustergen.importer.settings import option_value
from clustergen.manifest.base import AnyName, SlurmName
from clustergen.manifest.partitions import Partition
from clustergen.slurmconf.config import Entry
from clustergen.slurmconf.scalars import boolean
from clustergen.slurmrules.fields import fields_of


def import_partitions(draft: Draft, originals: Originals, machines: Machines) -> None:
    """Node sets, partitions, and lines that set nodes down at the first start."""
    _node_sets(draft, originals, machines)
    entries = originals.conf.entries("PartitionName")
    default = [entry for entry in entries if boolean(entry.text("Default") or "")]
    for entry in entries:
        names = entry.names
        try:
            several = expand(names)
        except HostlistError:
            several = [names]
        for one in (names, *several) if several != [names] else ():
            words = f"to Slurm '{names}' is one partition, which no job can request; the manifest has {len(several)}"
            draft.note("meant", words, originals.origin(entry.name, entry).place, f"PartitionName {one}")
        for one in several:
            if not fits(one, AnyName):
                origin = originals.origin(entry.name, entry)
                draft.note("left-out", f"'{one}' is not a valid partition name", origin.place, f"PartitionName {one}")
                continue
            _partition(draft, originals, entry, one)
            if entry in default[:-1]:
                draft.items.pop(("slurm", "partitions", one, "default"), None)
                last = default[-1].names
                words = (
                    f"partition {one} is not the default: two partitions set Default=YES, and Slurm uses the last,"
                    f" {last}"
                )
                draft.note("meant", words, originals.origin(entry.name, entry).place, f"Default {one}")
    machines.mark_outside(_inside(draft, machines))
    _down_nodes(draft, originals)


def _partition(draft: Draft, originals: Originals, entry: Entry, name: str) -> None:
    path: ManifestPath = ("slurm", "partitions", name)
    start = originals.origin(entry.name, entry)
    origins: dict[str, Origin] = {}
    for setting in entry.settings():
        for key in spelled("slurm.conf", "PartitionName", setting.key):
            origins.setdefault(key, originals.origin(setting, entry))
    nodes = origins.pop("Nodes", None)
    draft.set((*path, "nodes"), _nodes(draft, nodes), [start], needed=True)
    for key, origin in origins.items():
        rows = fields_of("slurm.conf", "PartitionName", key)
        field = rows[0].path if rows else ""
        option = ((*path, "options", key), option_value(origin.text))
        value = value_of(rows[0], origin.text, Partition) if rows else None
        if key == "TRESBillingWeights":
            _billing(draft, path, origin, option)
        elif origin.text.upper() == "ALL" and (key == "AllocNodes" or (rows and rows[0].form == "names")):
            continue
        elif value is None:
            draft.set(*option, [origin])
        elif value != Partition.model_fields[field].default:
            draft.set((*path, field), value, [origin], passthrough=[option])


def _nodes(draft: Draft, nodes: Origin | None) -> Value:
    if nodes is None or not nodes.text:
        return "none"
    if nodes.text.upper() == "ALL":
        return "all"
    try:
        wrong = next((host for host in expand(nodes.text) if not is_node_name(host)), None)
    except HostlistError as err:
        wrong = err.message
    if wrong is not None:
        draft.note("left-out", f"Nodes={nodes.text} of {nodes.name}: {wrong}", nodes.place, f"Nodes {nodes.name}")
        return "none"
    text = re.sub(r"[ \t]*,[ \t]*|[ \t]+", ",", nodes.text.strip())
    return re.sub(r"\[([0-9]+)\](?!\[)", r"\1", text)


def _billing(draft: Draft, path: ManifestPath, origin: Origin, option: tuple[ManifestPath, Value]) -> None:
    """Numbers by resource where each is one; memory by the GiB, as it is rendered."""
    weights: dict[str, float | str] = {}
    for word in origin.text.split(","):
        key, _, text = word.strip().partition("=")
        in_gib = key.lower() == "mem"
        try:
            number = float(text if not in_gib else text[:-1] if text[-1:] in ("G", "g") else "")
            weights[key] = f"{number:g}G" if in_gib else number
        except ValueError:
            draft.set(*option, [origin])
            return
    draft.set((*path, "billing"), weights, [origin], passthrough=[option])


def _node_sets(draft: Draft, originals: Originals, machines: Machines) -> None:
    """Sets by feature as the hosts that have it: the manifest's sets are host lists."""
    having: dict[str, list[int]] = {}
    for index, machine in enumerate(machines.nodes):
        features = machine.values.get("features", tuple(machine.options.get("Feature", "").split(",")))
        for feature in dict.fromkeys(features if isinstance(features, tuple) else ()):
            having.setdefault(str(feature), []).append(index)
    for entry in originals.conf.entries("NodeSet"):
        origin = originals.origin(entry.name, entry)
        feature_names = set((entry.text("Feature") or "").split(",")) - {""}
        hosts: list[str] = []
        try:
            hosts += expand(entry.text("Nodes") or "") if entry.text("Nodes") else []
        except HostlistError as err:
            draft.note("left-out", f"NodeSet={entry.names}: {err.message}", origin.place, f"NodeSet {entry.names}")
        for index in sorted({index for feature in feature_names for index in having.get(feature, ())}):
            hosts += machines.nodes[index].hosts
        if not hosts or not fits(entry.names, SlurmName):
            draft.note("left-out", f"NodeSet={entry.names} has no nodes", origin.place, f"NodeSet {entry.names}")
            continue
        comments = (
            [f"Feature={','.join(sorted(feature_names))} in {origin.file}: the nodes that have it now."]
            if feature_names
            else []
        )
        listed = machines.folded(dict.fromkeys(hosts))
        draft.set(("slurm", "node_sets", entry.names), listed, [origin], comments=comments)
        if feature_names:
            words = f"node set {entry.names} lists the nodes that have the feature now"
            draft.note("meant", words, origin.place, f"NodeSet {entry.names}")
            for key in ("Feature", "Nodes"):
                draft.note("meant", words, origin.place, f"{key} {entry.names}")


def _inside(draft: Draft, machines: Machines) -> set[str]:
    """The hosts of all partitions."""
    slurm = draft.data().get("slurm", {})
    sets = slurm.get("node_sets", {})
    member_names: set[str] = set()
    for spec in slurm.get("partitions", {}).values():
        if spec["nodes"] == "all":
            return {host for machine in machines.nodes for host in machine.hosts}
        try:
            names = expand(spec["nodes"]) if spec["nodes"] != "none" else []
        except HostlistError:
            continue
        member_names.update(names)
        for one in sets.keys() & names:
            member_names.discard(one)
            member_names.update(expand(sets[one]))
    return member_names


def _down_nodes(draft: Draft, originals: Originals) -> None:
    for entry in originals.conf.entries("DownNodes"):
        index = len({path[2] for path in draft.items if path[:2] == ("slurm", "lines")})
        origin = originals.origin(entry.name, entry)
        draft.set(("slurm", "lines", index, "DownNodes"), entry.names, [origin])
        for setting in entry.settings():
            draft.set(("slurm", "lines", index, setting.key), setting.text, [originals.origin(setting, entry)])
