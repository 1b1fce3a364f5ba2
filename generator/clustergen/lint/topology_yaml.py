"""topology.yaml: several topologies, from Slurm 25.05 on."""

from __future__ import annotations

from collections.abc import Iterator

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from clustergen.diagnostics import Severity, did_you_mean
from clustergen.lint.found import Found
from clustergen.lint.site import TRUE, Site, Spot, expanded
from clustergen.slurmconf.grammar import Span

_FILE = "topology.yaml"
_KINDS = {"tree": "25.05", "block": "25.05", "flat": "25.05", "ring": "26.05", "torus3d": "26.05"}


def conf(site: Site) -> Iterator[Found]:
    text = site.folder.text(_FILE)
    if text is None:
        return
    if not site.since("25.05"):
        yield site.warning(
            "topology-ignored",
            _FILE,
            f"Slurm reads topology.yaml from 25.05 on; {site.release} does not know it",
            "topology.conf",
        )
        return
    try:
        root = yaml.compose(text.encode("utf-8", "replace").decode(), Loader=yaml.SafeLoader)
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        words = getattr(err, "problem", None) or "this is no YAML"
        yield site.error(
            "yaml-syntax", Spot(_FILE, Span(line, column, column + 1)), f"{words}; slurmctld does not start"
        )
        return
    except RecursionError:
        yield site.error("yaml-too-deep", _FILE, "too many levels inside one another")
        return
    if not isinstance(root, SequenceNode):
        yield site.error(
            "type-wrong", _spot(root), "a list of topologies is wanted; slurmctld does not start", "- topology: NAME"
        )
        return
    names: dict[str, Node] = {}
    for item in root.value:
        yield from _topology(site, item, names)
    for part in site.partitions:
        found = part.own("Topology")
        if found and found.text not in names:
            yield site.error(
                "topology-unknown",
                found,
                f"no topology is called '{found.text}', and slurmctld does not start",
                did_you_mean(found.text, names),
            )


def _topology(site: Site, item: Node, names: dict[str, Node]) -> Iterator[Found]:
    fields = _fields(item)
    if fields is None:
        yield site.error(
            "type-wrong", _spot(item), "a topology is a mapping; slurmctld does not start", "- topology: NAME"
        )
        return
    name = fields.get("topology")
    if not isinstance(name, ScalarNode):
        yield site.error("key-missing", _spot(item), "a topology without a name", "- topology: NAME")
    elif name.value in names:
        yield site.error("topology-unknown", _spot(name), f"'{name.value}' is a topology already")
    else:
        names[name.value] = name
    kinds = [key for key in fields if key in _KINDS]
    for key, value in fields.items():
        if key not in ("topology", "cluster_default", *_KINDS):
            yield site.error(
                "key-unknown",
                _spot(value),
                f"a topology has no key '{key}'",
                did_you_mean(key, ("cluster_default", *_KINDS)),
            )
        elif key in _KINDS and not site.since(_KINDS[key]):
            yield site.error(
                "topology-too-new", _spot(value), f"'{key}' exists from Slurm {_KINDS[key]} on; this is {site.release}"
            )
    if len(kinds) != 1:
        yield site.error(
            "key-missing",
            _spot(item),
            "a topology is one of tree, block and flat; slurmctld does not start",
            "tree: {switches: […]}",
        )
        return
    default = fields.get("cluster_default")
    if isinstance(default, ScalarNode) and default.value.lower() not in (*TRUE, "no", "false", "0"):
        yield site.error("type-wrong", _spot(default), "cluster_default is true or false")
    body = _fields(fields[kinds[0]]) or {}
    if kinds[0] == "tree":
        yield from _tree(site, body, fields["tree"])
    elif kinds[0] == "block":
        yield from _members(site, body, "blocks", "block")


def _tree(site: Site, body: dict[str, Node], at: Node) -> Iterator[Found]:
    switches = _entries(body, "switches", "switch")
    if not switches:
        yield site.error(
            "topology-without-switches",
            _spot(at),
            "a tree without switches; slurmctld does not start",
            "switches: [{switch: s1, nodes: …}]",
        )
    for name, fields in switches.items():
        nodes, children = fields.get("nodes"), fields.get("children")
        if nodes is not None and children is not None:
            yield site.warning(
                "switch-node-unknown",
                _spot(children),
                f"'{name}' has both nodes and children; Slurm ignores the children, and warns",
            )
            continue
        for child in expanded(children.value) or () if isinstance(children, ScalarNode) else ():
            if children is not None and child not in switches:
                yield site.error(
                    "switch-unknown",
                    _spot(children),
                    f"no switch is called '{child}', and slurmctld does not start",
                    did_you_mean(child, switches),
                )
    yield from _members(site, body, "switches", "switch")


def _members(site: Site, body: dict[str, Node], plural: str, singular: str) -> Iterator[Found]:
    seen: dict[str, str] = {}
    for name, fields in _entries(body, plural, singular).items():
        nodes = fields.get("nodes")
        if not isinstance(nodes, ScalarNode):
            continue
        hosts = expanded(nodes.value)
        if hosts is None:
            yield site.error("hostlist-syntax", _spot(nodes), f"the nodes of '{name}' are no host list")
            continue
        unknown = [host for host in hosts if site.slurm and site.complete and host not in site.hosts]
        code = "switch-node-unknown" if singular == "switch" else "block-node-unknown"
        if unknown:
            yield site.warning(
                code,
                _spot(nodes),
                f"slurm.conf has no node '{unknown[0]}'; Slurm logs an error",
                did_you_mean(unknown[0], list(site.hosts)[:2000]),
            )
        again = next((host for host in hosts if seen.setdefault(host, name) != name), None)
        if again:
            yield site.found(
                "node-on-two-leaves" if singular == "switch" else "block-node-twice",
                Severity.WARNING,
                _spot(nodes),
                f"'{again}' is on '{seen[again]}' already",
            )


def _entries(body: dict[str, Node], plural: str, singular: str) -> dict[str, dict[str, Node]]:
    """Name → fields of each entry of a list of switches or blocks."""
    listed = body.get(plural)
    found: dict[str, dict[str, Node]] = {}
    for item in listed.value if isinstance(listed, SequenceNode) else ():
        fields = _fields(item) or {}
        name = fields.get(singular)
        if isinstance(name, ScalarNode):
            found[name.value] = fields
    return found


def _fields(node: Node) -> dict[str, Node] | None:
    if not isinstance(node, MappingNode):
        return None
    return {key.value: value for key, value in node.value if isinstance(key, ScalarNode)}


def _spot(node: Node | None) -> Spot:
    if node is None:
        return Spot(_FILE, Span(1, 1, 1))
    start, end = node.start_mark, node.end_mark
    column = start.column + 1
    return Spot(_FILE, Span(start.line + 1, column, end.column + 1 if end.line == start.line else column + 1))


CHECKS = (conf,)
