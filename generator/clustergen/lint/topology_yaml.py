"""topology.yaml: several topologies, from Slurm 25.05 on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from clustergen.catalogue.versions import since
from clustergen.diagnostics import did_you_mean
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site, Spot
from clustergen.lint.topology_blocks import Block, Size, blocks
from clustergen.lint.topology_tree import Switch, tree
from clustergen.slurmconf.config import Setting
from clustergen.slurmconf.grammar import Pair, Span
from clustergen.slurmconf.scalars import TRUE
from clustergen.slurmconf.yaml_nodes import YamlNodesError, compose

_FILE = "topology.yaml"
_KINDS = {"tree": "yaml", "block": "yaml", "flat": "yaml", "ring": "ring", "torus3d": "torus3d"}
"""Kind of topology → the behaviour of releases that have it."""
_KEYS = {
    "topology": ("topology", "cluster_default", *_KINDS),
    "tree": ("switches",),
    "block": ("blocks", "block_sizes"),
    "switch": ("switch", "nodes", "children"),
    "block of a list": ("block", "nodes"),
}
"""Kind of mapping → the keys that it may have."""
_OF_TEXTS = ("switch", "block of a list")
_NULL = "tag:yaml.org,2002:null"

Fields = dict[str, tuple[Node, Node]]
"""Key → the node of the key and that of its value."""


def conf(site: Site) -> Iterator[LintFinding]:
    text = site.directory.text(_FILE)
    if text is None:
        return
    if not site.has("topology-yaml"):
        message = f"topology.yaml requires Slurm {since('topology-yaml')} or newer; {site.release} ignores it"
        yield site.warning("topology-ignored", _FILE, message, "write topology.conf")
        return
    root = _composed(site, text)
    if isinstance(root, LintFinding):
        yield root
    elif not isinstance(root, SequenceNode):
        message = "the file is not a list of topologies; slurmctld does not start"
        yield site.error("type-wrong", _spot(root), message, "write - topology: NAME")
    else:
        names: set[str] = set()
        for item in root.value:
            yield from _topology(site, item, names)
        yield from _asked_for(site, names)


def _composed(site: Site, text: str) -> Node | LintFinding | None:
    """The nodes of the text, or why it has none."""
    try:
        return compose(text)
    except YamlNodesError as err:
        spot = Spot(_FILE, Span(err.line, err.column, err.column + 1))
        if err.is_bound:
            return site.error("file-unreadable", spot, f"cannot read this file: {err.message}")
        code = "yaml-too-deep" if err.is_depth else "yaml-syntax"
        return site.error(code, spot, f"{err.message}; slurmctld does not start")


def _asked_for(site: Site, names: set[str]) -> Iterator[LintFinding]:
    for part in site.partitions:
        setting = part.own_value("Topology")
        if setting and setting.text not in names:
            message = f"topology '{setting.text}' is not defined; slurmctld does not start"
            yield site.error("topology-unknown", setting, message, did_you_mean(setting.text, names))


def _topology(site: Site, item: Node, names: set[str]) -> Iterator[LintFinding]:
    fields = _fields(item)
    if fields is None:
        message = "this topology is not a mapping; slurmctld does not start"
        yield site.error("type-wrong", _spot(item), message, "write - topology: NAME")
        return
    yield from _keys(site, fields, "topology")
    yield from _named(site, item, fields, names)
    kinds = [key for key in fields if key in _KINDS and not _is_no(fields[key][1])]
    for kind in kinds:
        behaviour = f"topology-{_KINDS[kind]}"
        if not site.has(behaviour):
            message = f"'{kind}' requires Slurm {since(behaviour)} or newer; this is {site.release}"
            yield site.error("topology-too-new", _spot(fields[kind][1]), message)
    if len(kinds) != 1:
        message = "a topology must have exactly one of tree, block and flat; slurmctld does not start"
        yield site.error("key-missing", _spot(item), message, "write tree: {switches: […]}")
    elif kinds[0] == "tree":
        yield from _tree(site, fields["tree"][1])
    elif kinds[0] == "block":
        yield from _blocks(site, fields["block"][1])


def _named(site: Site, item: Node, fields: Fields, names: set[str]) -> Iterator[LintFinding]:
    """The name, and whether the topology is that of the cluster."""
    name = _setting(fields, "topology")
    if name is None:
        message = "this topology has no name, so no partition can use it"
        yield site.warning("key-missing", _spot(item), message, "write - topology: NAME")
    elif name.text in names:
        yield site.warning("topology-unknown", name, f"topology '{name.text}' is already defined")
    else:
        names.add(name.text)
    default = _setting(fields, "cluster_default")
    if default and default.text.lower() not in (*TRUE, "no", "false", "0"):
        yield site.warning(
            "type-wrong", default, "cluster_default must be true or false; Slurm accepts this value silently"
        )


def _tree(site: Site, body: Node) -> Iterator[LintFinding]:
    fields = _fields(body) or {}
    yield from _keys(site, fields, "tree")
    switches = []
    for item in _items(fields, "switches"):
        entry = _fields(item) or {}
        yield from _keys(site, entry, "switch")
        name, nodes, children = (_setting(entry, key) for key in _KEYS["switch"])
        if name is None:
            message = "this switch has no name; slurmctld does not start"
            yield site.error("key-missing", _spot(item), message, "write - switch: NAME")
            continue
        if nodes and children:
            message = f"switch '{name.text}' has both nodes and children; Slurm ignores the children and logs a warning"
            yield site.warning("switch-node-unknown", children, message)
        switches.append(Switch(name, nodes, None if nodes else children))
    if switches:
        yield from tree(site, switches, _FILE)
    else:
        message = "this tree has no switches; slurmctld does not start"
        yield site.error("topology-without-switches", _spot(body), message, "write switches: [{switch: s1, nodes: …}]")


def _blocks(site: Site, body: Node) -> Iterator[LintFinding]:
    fields = _fields(body) or {}
    yield from _keys(site, fields, "block")
    listed = []
    for item in _items(fields, "blocks"):
        entry = _fields(item) or {}
        yield from _keys(site, entry, "block of a list")
        name = _setting(entry, "block")
        if name is None:
            message = "this block has no name; slurmctld does not start"
            yield site.error("key-missing", _spot(item), message, "write - block: NAME")
        else:
            listed.append(Block(name, _setting(entry, "nodes")))
    sizes = [
        Size(node.value if isinstance(node, ScalarNode) else "", _spot(node)) for node in _items(fields, "block_sizes")
    ]
    yield from blocks(site, listed, sizes)
    if not listed:
        message = "this block topology has no blocks; slurmctld does not start"
        yield site.error("topology-blocks-missing", _spot(body), message, "write blocks: [{block: b1, nodes: …}]")


def _keys(site: Site, fields: Mapping[str, tuple[Node, Node]], of: str) -> Iterator[LintFinding]:
    """Keys that nobody reads, and lists where Slurm reads a text."""
    for key, (at, value) in fields.items():
        if key not in _KEYS[of]:
            message = f"'{key}' is not a key of a {of.partition(' ')[0]}; Slurm silently ignores it"
            yield site.warning("key-unknown", _spot(at), message, did_you_mean(key, _KEYS[of]))
        elif of in _OF_TEXTS and not isinstance(value, ScalarNode):
            message = f"'{key}' must be a host list in one string; slurmctld does not start"
            yield site.error("type-wrong", _spot(value), message, f"write {key}: n[1-4],n7")


def _items(fields: Fields, key: str) -> list[Node]:
    listed = fields[key][1] if key in fields else None
    return listed.value if isinstance(listed, SequenceNode) else []


def _fields(node: Node) -> Fields | None:
    if not isinstance(node, MappingNode):
        return None
    return {key.value: (key, value) for key, value in node.value if isinstance(key, ScalarNode)}


def _setting(fields: Fields, key: str) -> Setting | None:
    """A text of the mapping as a setting of a file, so that one check judges both; None where there is none."""
    if key not in fields:
        return None
    at, value = fields[key]
    if not isinstance(value, ScalarNode) or (value.tag == _NULL and value.value != "~"):  # which Slurm takes as a text
        return None
    name, text = _spot(at).at, _spot(value).at
    quotes = int(value.style in ("'", '"'))
    column = text.column + quotes
    pair = Pair(
        key=key,
        operator="=",
        value=value.value,
        quoted=bool(quotes),
        line=name.line,
        column=name.column,
        value_line=text.line,
        value_column=column,
        value_end=max(column, text.end_column - quotes),
    )
    return Setting(_FILE, pair)


def _is_no(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value.lower() in ("no", "false", "0")


def _spot(node: Node | None) -> Spot:
    if node is None:
        return Spot(_FILE, Span(1, 1, 1))
    start, end = node.start_mark, node.end_mark
    column = start.column + 1
    return Spot(_FILE, Span(start.line + 1, column, end.column + 1 if end.line == start.line else column + 1))
