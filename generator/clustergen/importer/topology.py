"""topology.conf and topology.yaml as they are: the switches of a tree, or the blocks, with where each is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from clustergen.cluster.slurm.keys.topology import TOP
from clustergen.hostlist import HostlistError, expand
from clustergen.importer.draft import Origin
from clustergen.importer.originals import Originals
from clustergen.records import record
from clustergen.slurmconf.yaml_nodes import YamlNodesError, compose

YAML, CONF = "topology.yaml", "topology.conf"


@record
class Group:
    """A switch, with nodes or with switches below it, or a block of nodes."""

    name: str
    nodes: tuple[str, ...]
    children: tuple[str, ...]
    origin: Origin


@record
class Topology:
    """The topology of one file. `kind`: tree, block or flat."""

    file: str
    kind: str
    groups: tuple[Group, ...]
    sizes: tuple[int, ...] = ()
    sizes_origin: Origin | None = None
    name: str = ""
    """In topology.yaml, where each has one."""


class MisfitError(Exception):
    """Why a topology stays as its file has it."""


def file_of(originals: Originals) -> str | None:
    """The file that the release reads: topology.yaml, where it is there, takes the place of the other one."""
    if originals.release.has("topology-yaml") and originals.directory.has(YAML):
        return YAML
    return CONF if CONF in originals.configs else None


def read_topology(originals: Originals, file: str) -> Topology:
    """MisfitError where it says more than the manifest has words for."""
    try:
        return _of_yaml(originals.directory.text(YAML) or "") if file == YAML else _of_conf(originals)
    except HostlistError as err:
        raise MisfitError(err.message) from None


def _of_conf(originals: Originals) -> Topology:
    conf = originals.configs[CONF]
    kinds = {"switchname": "tree", "blockname": "block"}
    entries = [entry for key in kinds for entry in conf.entries(key)]
    more = [key for key in list(conf.keys()) if key not in (*kinds, "blocksizes")]
    if more:
        raise MisfitError(f"{conf.settings(more[0])[0].key} has no field")
    if len({entry.block for entry in entries}) != 1:
        raise MisfitError("it has both switches and blocks" if entries else "it has neither switches nor blocks")
    groups = []
    for entry in entries:
        keys = {setting.key.lower() for setting in entry.settings()}
        if strange := keys - {"nodes", "switches", "linkspeed"}:
            raise MisfitError(f"the manifest has no field for {strange.pop()} of {entry.names}")
        nodes, children = (_names(entry.text(key) or "") for key in ("Nodes", "Switches"))
        groups.append(Group(entry.names, nodes, children, originals.origin(entry.name, entry)))
    sizes = conf.value("BlockSizes")
    return Topology(
        CONF,
        kinds[entries[0].block],
        tuple(groups),
        _sizes(sizes.text.split(",")) if sizes else (),
        originals.origin(sizes) if sizes else None,
    )


def _of_yaml(text: str) -> Topology:
    try:
        root = _plain(compose(text))
    except YamlNodesError as err:
        raise MisfitError(f"Slurm cannot read line {err.line}: {err.message}") from None
    if not isinstance(root, list) or not all(isinstance(item, dict) for item in root):
        raise MisfitError("it is not a list of topologies")
    if len(root) != 1:
        raise MisfitError(f"it has {len(root)} topologies, but a manifest supports one")
    spec = {**root[0]}
    name, kinds = str(spec.pop("topology", "")), sorted(spec.keys() - {"cluster_default", _LINE})
    if len(kinds) != 1 or kinds[0] not in ("tree", "block", "flat"):
        raise MisfitError(f"{' and '.join(kinds) or 'a topology of no kind'} has no field")
    body = spec[kinds[0]] if isinstance(spec[kinds[0]], dict) else {}
    member = {"tree": "switch", "block": "block"}.get(kinds[0], "")
    listed = body.get({"switch": "switches", "block": "blocks"}.get(member, ""), [])
    groups = tuple(_members(listed, member)) if member else ()
    if member and not groups:
        raise MisfitError("it has neither switches nor blocks")
    sizes = body.get("block_sizes", ())
    at = Origin(file=YAML, line=int(spec.get(_LINE, 1)), block="", name=name, key="block_sizes", text="")
    return Topology(
        file=YAML, kind=kinds[0], groups=groups, sizes=_sizes(sizes), sizes_origin=at if sizes else None, name=name
    )


def renamed(text: str) -> str:
    """A topology.yaml with one topology, by the name that clustergen gives it; as the only one it is the cluster's."""
    root = yaml.safe_load(text)
    root[0] |= {"topology": TOP, "cluster_default": True}
    return yaml.safe_dump(root)


def _members(listed: Any, member: str) -> Iterator[Group]:
    for item in listed if isinstance(listed, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get(member), str):
            raise MisfitError(f"a {member} without a name")
        if strange := sorted(item.keys() - {member, "nodes", "children", _LINE}):
            raise MisfitError(f"{strange[0]} of {item[member]} has no field")
        nodes, children = (_names(str(item.get(key) or "")) for key in ("nodes", "children"))
        origin = Origin(
            file=YAML, line=int(item[_LINE]), block=member, name=item[member], key=member, text=item[member]
        )
        yield Group(item[member], nodes, children, origin)


_LINE = "\0line"


def _plain(node: yaml.Node | None) -> Any:
    """Mappings, which know the line where they begin, lists and texts."""
    if isinstance(node, yaml.MappingNode):
        mapping = {str(key.value): _plain(value) for key, value in node.value}
        return {**mapping, _LINE: node.start_mark.line + 1}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item) for item in node.value]
    return node.value if isinstance(node, yaml.ScalarNode) and not node.tag.endswith(":null") else ""


def _names(text: str) -> tuple[str, ...]:
    return tuple(expand(text)) if text else ()


def _sizes(words: Any) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in words)
    except (TypeError, ValueError):
        raise MisfitError("its block sizes are not numbers") from None
