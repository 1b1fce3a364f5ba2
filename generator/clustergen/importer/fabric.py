"""Slurm's topology as the manifest's fabric: switches with uplinks, or blocks. What does not fit stays as it is, with
the reason.
"""

from __future__ import annotations

import re

from clustergen.catalogue.systems import system
from clustergen.cluster.slurm.keys.topology import TOP
from clustergen.diagnostics import ManifestPath
from clustergen.hostlist import compress
from clustergen.importer.comments import comments_of
from clustergen.importer.draft import Draft
from clustergen.importer.lines import PLACES, import_lines
from clustergen.importer.machines import Machines
from clustergen.importer.originals import Originals
from clustergen.importer.topology import CONF, YAML, Group, MisfitError, Topology, file_of, read_topology

FABRIC: ManifestPath = ("networks", "fabric")
_TOPOLOGY: ManifestPath = ("slurm", "topology")
_SECTIONS = (FABRIC, *((*_TOPOLOGY, field) for field in ("blocks", "block_sizes", "format")))
"""Parts of the manifest that replace a file of Slurm's topology."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_ONE_ITEM = re.compile(r"[^,\[]+(\[[^\]]+\][^,\[]*)?")
_INFINIBAND = re.compile(r"(?i)(?<![a-z])(ib|sdr|qdr|fdr|edr|hdr|ndr|xdr|infiniband)(?![a-z])")


def import_topology(draft: Draft, originals: Originals, machines: Machines) -> None:
    """The file that the release reads, as structure where the manifest makes the same file of it."""
    file = file_of(originals)
    if file is None:
        return
    if file == YAML and CONF in originals.configs:
        draft.note("meant", f"{CONF} is omitted: Slurm ignores it because {YAML} exists", CONF)
    try:
        topology = read_topology(originals, file)
        _check(topology, originals, machines)
        _check_use(topology, originals)
    except MisfitError as err:
        as_file(draft, originals, str(err))
        return
    if file == YAML:
        comments = comments_of(originals.directory.texts[YAML])
        draft.expect(YAML, dict(comments.above))
        draft.head += comments.head
        draft.tail += comments.tail
    if topology.kind == "tree":
        _switches(draft, topology, machines)
    elif topology.kind == "block":
        for group in topology.groups:
            draft.set((*_TOPOLOGY, "blocks", group.name), compress(group.nodes), [group.origin])
        if topology.sizes_origin is not None:
            draft.set((*_TOPOLOGY, "block_sizes"), topology.sizes, [topology.sizes_origin])
    if file == YAML:
        _as_yaml(draft, originals, topology)


def as_file(draft: Draft, originals: Originals, reason: str) -> bool:
    """The file line by line, or whole, in place of what was made of it; False where it is that already."""
    file = file_of(originals)
    lines = PLACES[CONF]
    if file is None or any(True for _ in draft.below(lines)) or YAML in draft.whole:
        return False
    for place in _SECTIONS:
        for item in list(draft.below(place)):
            draft.remove(item)
    words = f"{file} is kept unchanged: {reason}"
    if file == YAML:
        draft.note("choice", words)
        draft.whole.add(YAML)
        draft.items.pop((*_TOPOLOGY, "plugin"), None)
        _note_plugin(draft, originals)
        return True
    import_lines(draft, originals, CONF)
    first = next(draft.below(lines), None)
    if first is None:  # nothing stands in it
        return False
    draft.note("choice", words)
    first.comments.insert(0, words)
    return True


def without_plugin(draft: Draft, originals: Originals) -> bool:
    """Leaves a plugin out that has no switches and no blocks; False where there is none."""
    item, setting = draft.items.pop((*_TOPOLOGY, "plugin"), None), originals.conf.value("TopologyPlugin")
    if item is None or setting is None:
        return False
    empty = f"{CONF} is empty"
    absent = f"{CONF} is not next to slurm.conf, and slurmctld does not start without it"
    words = empty if CONF in originals.configs else absent
    draft.note("left-out", f"TopologyPlugin={setting.text}: {words}", originals.origin(setting).place, "TopologyPlugin")
    return True


def is_about_topology(path: ManifestPath) -> bool:
    return any(path[: len(place)] == place for place in _SECTIONS)


def _check(topology: Topology, originals: Originals, machines: Machines) -> None:
    """Raises MisfitError where clustergen would make another topology of it."""
    plugin = (originals.conf.text("TopologyPlugin") or "").lower().rpartition("/")[2]
    if topology.file == CONF and plugin not in ("tree", "block", "3d_torus"):
        raise MisfitError("Slurm does not read it, because TopologyPlugin is not set")
    if topology.file == CONF and plugin != topology.kind:
        raise MisfitError(f"it is not a file of topology/{plugin}")
    if topology.kind == "flat":
        return
    names = [group.name for group in topology.groups]
    if wrong := next((name for name in names if not _NAME.fullmatch(name)), None):
        raise MisfitError(f"{wrong!r} is not a single valid name")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise MisfitError(f"{twice} is listed twice")
    compute = dict.fromkeys(host for machine in machines.nodes for host in machine.hosts)
    on: dict[str, str] = {}
    for group in topology.groups:
        for host in group.nodes:
            if host not in compute:
                raise MisfitError(f"{host} of {group.name} is not a node of slurm.conf")
            if host in on:
                raise MisfitError(f"{host} is in {on[host]} and in {group.name}")
            on[host] = group.name
    if lonely := next((host for host in compute if host not in on), None):
        raise MisfitError(f"{lonely} is in none of its {'blocks' if topology.kind == 'block' else 'switches'}")
    if topology.kind == "tree":
        _check_tree(topology.groups)
    elif empty := next((group.name for group in topology.groups if not group.nodes), None):
        raise MisfitError(f"block {empty} is empty")


def _check_use(topology: Topology, originals: Originals) -> None:
    """Nothing may call a topology by its name, which the manifest does not keep."""
    for block in ("PartitionName", "NodeName") if topology.file == YAML else ():
        for entry in originals.conf.entries(block):
            if entry.text("Topology"):
                raise MisfitError(f"{entry.names} uses the topology {entry.text('Topology')}")


def _check_tree(switches: tuple[Group, ...]) -> None:
    names = {switch.name for switch in switches}
    above: dict[str, str] = {}
    for switch in switches:
        if bool(switch.nodes) == bool(switch.children):
            raise MisfitError(f"{switch.name} has {'nodes and switches' if switch.nodes else 'nothing'} below it")
        for child in switch.children:
            if child not in names:
                raise MisfitError(f"{child}, below {switch.name}, is not a switch")
            if child in above:
                raise MisfitError(
                    f"{child} is below both {above[child]} and {switch.name}, so the switches form no tree"
                )
            above[child] = switch.name
    tops = [name for name in names if name not in above]
    if len(tops) > 1:
        raise MisfitError(f"its {len(tops)} parts are not connected, and clustergen would add a switch above them")
    if len(_depths(tops, switches)) < len(names):
        raise MisfitError("its switches form a cycle")


def _switches(draft: Draft, topology: Topology, machines: Machines) -> None:
    above = {child: switch.name for switch in topology.groups for child in switch.children}
    text = " ".join([*above, *above.values(), *_features(machines)])
    named = _INFINIBAND.search(text) or any(map(_has_infiniband, _systems(draft)))
    kind = "infiniband" if named else "ethernet"
    words = f"{topology.file} does not contain the fabric type: infiniband, roce, or ethernet for TCP only"
    draft.set((*FABRIC, "type"), kind, comments=[f"CHECK: {words}."], needed=True)
    draft.note("choice", f"networks.fabric: {kind} is a guess; {words}")
    for index, alike in enumerate(_entries(draft, topology.groups, above)):
        path, origins = (*FABRIC, "switches", index), [switch.origin for switch in alike]
        draft.set((*path, "name"), compress(switch.name for switch in alike), origins, needed=True)
        if alike[0].nodes:
            draft.set((*path, "nodes"), compress(alike[0].nodes), origins)
        if alike[0].name in above:
            draft.set((*path, "uplinks", 0, "to"), above[alike[0].name], origins)


def _entries(draft: Draft, switches: tuple[Group, ...], above: dict[str, str]) -> list[list[Group]]:
    """Leaves one by one; then those above, the top last, neighbours on the same switch together, unless something is
    said of one.
    """
    entries = [[switch] for switch in switches if switch.nodes]
    depths = _depths([switch.name for switch in switches if switch.name not in above], switches)
    for switch in sorted((switch for switch in switches if switch.children), key=lambda one: -depths[one.name]):
        last = entries[-1][-1]
        alike = (
            not last.nodes and above.get(last.name) == above.get(switch.name) and not draft.has_comment(switch.origin)
        )
        if alike and _ONE_ITEM.fullmatch(compress(one.name for one in (*entries[-1], switch))):
            entries[-1].append(switch)
        else:
            entries.append([switch])
    return entries


def _depths(tops: list[str], switches: tuple[Group, ...]) -> dict[str, int]:
    """How far each switch that can be reached is below the top; a chain may be longer than Python's stack."""
    below = {switch.name: switch.children for switch in switches}
    depths = dict.fromkeys(tops, 0)
    reached = list(tops)
    for name in reached:
        for child in below[name]:
            depths[child] = depths[name] + 1
            reached.append(child)
    return depths


def _features(machines: Machines) -> list[str]:
    listed = [machine.values.get("features", ()) for machine in machines.nodes]
    return [str(word) for words in listed if isinstance(words, tuple) for word in words]


def _systems(draft: Draft) -> list[str]:
    return [str(item.value) for item in draft.below(("node_types",)) if item.path[-1] == "system"]


def _has_infiniband(ident: str) -> bool:
    model = system(ident)
    return model is not None and bool(model.nics_of("compute"))


def _as_yaml(draft: Draft, originals: Originals, topology: Topology) -> None:
    draft.set((*_TOPOLOGY, "format"), "yaml", needed=True)
    if topology.kind != "flat":
        draft.set((*_TOPOLOGY, "plugin"), topology.kind)
    if topology.name != TOP:
        draft.note("meant", f"topology {topology.name!r} is renamed to {TOP!r}; no partition uses it", YAML)
    _note_plugin(draft, originals)


def _note_plugin(draft: Draft, originals: Originals) -> None:
    plugin = originals.conf.value("TopologyPlugin")
    if plugin is not None:
        words = f"Slurm ignores TopologyPlugin={plugin.text} because {YAML} exists"
        draft.note("meant", words, originals.origin(plugin).place, "TopologyPlugin")
