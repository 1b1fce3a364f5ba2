"""Where nodes are named in the manifest that a tree was rendered from."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree

_MOST = 12


def named_in(tree, nodes):
    """`manifest.yaml:36 nodes, :41 racks.rack1.nodes`; "see its host lists" where the manifest does not lie beside the tree."""
    name = Tree(tree).lock["manifest"]["name"]
    try:
        text = (Path(tree).resolve().parent / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "see its host lists"
    mentions = [f":{line} {path}" for line, path in places(text, set(nodes))]
    more = f" and {len(mentions) - _MOST} more" if len(mentions) > _MOST else ""
    return (name + ", ".join(mentions[:_MOST]) + more) if mentions else "see its host lists"


def places(text, nodes):
    """Line and path of every host list in a YAML text that has one of the nodes."""
    import yaml

    try:
        top = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return
    open_nodes = [("", top)]
    while open_nodes:
        path, node = open_nodes.pop(0)
        if isinstance(node, yaml.MappingNode):
            inner = [(f"{path}.{key.value}" if path else str(key.value), value) for key, value in node.value]
            open_nodes = [*inner, *open_nodes]
        elif isinstance(node, yaml.SequenceNode):
            open_nodes = [*((path, value) for value in node.value), *open_nodes]
        elif isinstance(node, yaml.ScalarNode) and _has(node.value, nodes):
            yield node.start_mark.line + 1, path.removesuffix(".name")


def _has(text, nodes):
    from clustergen.hostlist import names_of

    return not nodes.isdisjoint(names_of(text))
