"""Layers of a manifest: the files that it extends, node types that are like another one, and nodes that override fields
of their type.

Layers are merged as marked nodes, before anything is validated, so that each value keeps the place where it is written.
The texts are joined into one: a place in a layer is an offset behind the manifest's own text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from clustergen.diagnostics import Problem, did_you_mean, quote
from clustergen.manifest.nodes import Nodes
from clustergen.manifest.yaml_nodes import Node
from clustergen.records import record

_MOST_LAYERS = 8
_SERVICE = "service"
_DELIVERED = ("facility", "deliveries", "*", "types")
_BY_TYPE = (("provisioning", "images"), _DELIVERED, ("storage", "*", "node_types"))
"""Mappings and lists by node type, which hold for nodes of the type that override fields as well."""
_MOST_LEAVES = 3
_LONGEST_NAME = 63
_HINT = "write a path relative to this file: extends: ../site.yaml"


@record
class Layers:
    """The merged document of several texts. `parts`: the offset and the path of each layer, the manifest first."""

    root: Node
    text: str
    parts: tuple[tuple[int, Path], ...]
    problems: tuple[Problem, ...]


class LayerError(Exception):
    """A layer cannot be read: a message, and a hint."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def read_layers(
    root: Node,
    text: str,
    path: Path,
    read: Callable[[Path], str],
    parse: Callable[[str], tuple[Node | None, list[Problem]]],
) -> Layers:
    """The document of a manifest with the layers below it.

    `read` is the text of a file, and raises LayerError; `parse` makes a root and problems of a text.
    """
    texts, parts, roots, problems = [text], [(0, path)], [root], list[Problem]()
    boundary, files = _repository(path), [path.resolve()]
    while (link := roots[-1].child("extends")) is not None and link.value is not None:
        try:
            layer = _layer(link.value, files, boundary)
            content = read(layer)
        except LayerError as err:
            problems.append(Problem("extends-invalid", link.start, link.end - link.start, err.message, err.hint))
            break
        offset = len("\n".join(texts)) + 1
        below, mistakes = parse(content)
        texts.append(content)
        shown = parts[-1][1].parent / link.value
        parts.append((offset, shown if shown.resolve() == layer else layer))  # beside the file that a link points to
        problems += [_shifted_problem(problem, offset) for problem in mistakes]
        if below is None or not isinstance(below.children, dict):
            if not mistakes:
                message = f"{quote(link.value)} is {'empty' if below is None else 'not a mapping of sections'}"
                problems.append(Problem("extends-invalid", link.start, link.end - link.start, message))
            break
        _shift(below, offset)
        roots.append(below)
        files.append(layer)
    for below in roots[1:]:
        root = merged(root, below)
    return Layers(root, "\n".join(texts), tuple(parts), tuple(problems))


def merged(upper: Node, lower: Node) -> Node:
    """The value of a layer over that of the layer below it: mappings by key, lists of named items by name.

    A null removes the key of the layer below. Everything else replaces what is below.
    """
    if isinstance(upper.children, dict) and isinstance(lower.children, dict):
        return _merged_mapping(upper, lower)
    if isinstance(upper.children, list) and isinstance(lower.children, list):
        names, others = _by_name(lower.children), _by_name(upper.children)
        if names is not None and others is not None:
            return _merged_list(upper, names, others)
    return upper


def resolve_likes(root: Node, bases: dict[str, str]) -> Iterable[tuple[str, Problem]]:
    """Fill the node types that are `like` another one with its values; types whose reference is wrong, and why.

    `bases` gets the other one of each.
    """
    types = root.child("node_types")
    if types is None or not isinstance(types.children, dict):
        return
    declared = dict(types.children)
    for name, node in declared.items():
        like = node.child("like")
        if like is None or not isinstance(like.value, str):
            continue
        base = declared.get(like.value)
        further = base.child("like") if base is not None else None
        if base is None:
            hint = did_you_mean(like.value, [other for other in declared if other != name])
            if hint is None and _is_system(like.value):
                hint = f"write system: {like.value}"
            message = f"node type {quote(like.value)} is not defined"
        elif base is node:
            message, hint = f"node type {quote(name)} is like itself", "name another node type, or remove this line"
        elif further is not None:
            message = f"node type {quote(like.value)} is itself like {quote(further.value)}: one level is allowed"
            hint = f"write like: {further.value}, and repeat the values that {like.value} changes"
        else:
            result, bases[name] = merged(node, base), like.value
            types.children[name], types.value[name] = result, result.value
            continue
        yield name, Problem("like-invalid", like.start, like.end - like.start, message, hint)


def _is_system(name: str) -> bool:
    from clustergen.catalogue.systems import system  # of wrong manifests alone

    return system(name) is not None


@record
class Override:
    """Fields of a node type that an entry of `nodes` has in the file, and for which it gets a derived type."""

    entry: str
    """Name of the first such entry, a host list."""
    base: str
    """Its type."""
    fields: dict[str, Any]


def resolve_overrides(
    root: Node, refused: Container[str], bases: dict[str, str], overrides: dict[str, Override]
) -> Iterator[Problem]:
    """Move fields of a node type from entries of `nodes` to node types of their own, whose names say what differs:
    `h100-mig-slices` is like h100 but for its MIG plan. Entries with the same fields share one. Yields what cannot be
    overridden. Types of `refused` have no derived ones: they are reported already. `bases` gets those of derived types,
    `overrides` what nodes have for them in the file.
    """
    nodes, types = root.child("nodes"), root.child("node_types")
    if nodes is None or not isinstance(nodes.children, list):
        return
    derived: dict[str, tuple[str, object]] = {}
    for entry in nodes.children:
        if not isinstance(entry.children, dict):
            continue
        kind = entry.child("type")
        yield from _fixed_fields(entry, kind.value if kind else None)
        fields = _taken(entry, Nodes.OVERRIDES)
        if kind is None:
            continue  # which is reported
        base = types.child(kind.value) if types is not None and isinstance(kind.value, str) else None
        if not fields.children or types is None or base is None or kind.value in refused:
            continue  # an unknown type is reported by its name
        assert isinstance(types.children, dict)
        first = re.split("[^a-z0-9-]", str(entry.value.get("name")))[0]
        value = kind.value, fields.value
        names = _derived_names(kind.value, fields, first)
        name = next(name for name in names if name not in types.children or derived.get(name) == value)
        if name not in types.children:
            derived[name] = value
            result = merged(fields, base)
            assert isinstance(result.children, dict)
            result.children["like"], result.value["like"] = kind, kind.value
            result.keys["like"] = kind.start, kind.end
            types.children[name], types.value[name] = result, result.value
            types.keys[name] = next(iter(fields.keys.values()))
            bases[name] = kind.value
            overrides[name] = Override(str(entry.value.get("name")), kind.value, fields.value)
        entry.children["type"] = Node(kind.start, kind.end, name, "*")  # whose text in the file is another one
        entry.value["type"] = name
    for name, (of_base, _) in derived.items():
        _refer(root, of_base, name)


def _refer(root: Node, base: str, name: str) -> None:
    """A derived type stands beside its base wherever that is listed, unless it is listed itself, in any delivery."""
    for path in _BY_TYPE:
        places = list(_at(root, path))
        listing = [place for place in places if name in place.value]
        for place in places if not listing or path != _DELIVERED else ():
            if place in listing:
                continue
            if isinstance(place.children, dict) and base in place.children:
                place.children[name], place.value[name] = place.children[base], place.value[base]
                place.keys[name] = place.keys[base]
            elif isinstance(place.children, list) and base in place.value:
                item = place.children[place.value.index(base)]
                place.children.append(Node(item.start, item.end, name, "*"))
                place.value.append(name)


def _at(node: Node, path: Sequence[str]) -> Iterator[Node]:
    """Collections at a path, in which * stands for any key."""
    if not path:
        yield from (node,) if node.children is not None else ()
    elif isinstance(node.children, dict):
        for key in list(node.children) if path[0] == "*" else path[:1]:
            if key in node.children:
                yield from _at(node.children[key], path[1:])


def _fixed_fields(entry: Node, kind: object) -> Iterator[Problem]:
    """Fields that nodes cannot override, which are removed from the entry."""
    of_service = Nodes.OVERRIDES if kind == _SERVICE else ()
    fixed = _taken(entry, {*of_service, "like", "system"})
    for key, node in (fixed.children if isinstance(fixed.children, dict) else {}).items():
        start, end = fixed.keys[key]
        shown = node.value if isinstance(node.value, str) else "NAME"
        if key == "like":
            message, hint = "nodes are like the node type that is their type", f"write type: {shown} instead"
        elif key == "system":
            message = "nodes cannot override the system of their type: they would be other machines"
            hint = f"add {shown}: {{system: {shown}}} to node_types, and write type: {shown} here"
        else:
            message = f"{key} is a field of node types, and machines of type {_SERVICE} have none"
            hint = f"define a node type with {key} under node_types, and write its name as the type"
        yield Problem("node-override-invalid", start, end - start, message, hint)


def _taken(entry: Node, names: Container[str]) -> Node:
    """The mapping of those keys of an entry, which lacks them from then on."""
    assert isinstance(entry.children, dict)
    fields = Node(entry.start, entry.end, {}, entry.style)
    fields.children = {}
    for key in [key for key in entry.children if key in names]:
        child = entry.children.pop(key)
        fields.children[key], fields.value[key], fields.keys[key] = child, entry.value.pop(key), entry.keys.pop(key)
        fields.height = max(fields.height, child.height + 1)
    return fields


def _derived_names(base: str, fields: Node, first: str) -> Iterator[str]:
    """`h100-mig-slices`: the type and the field that differs with its value, or the fields, so that the name stays
    while other entries come and go; then with the beginning of the host names, and with numbers.
    """
    assert isinstance(fields.children, dict)
    leaves: dict[str, object] = {}
    for key, child in fields.children.items():
        inner = child.children if isinstance(child.children, dict) and child.children else {key: child}
        leaves |= {leaf: node.value for leaf, node in inner.items()}
    words = sorted(leaves)[:_MOST_LEAVES]
    if len(leaves) == 1 and isinstance(value := leaves[words[0]], str | int):
        words += filter(None, [re.sub("[^a-z0-9]+", "-", str(value).lower()).strip("-")])
    name = "-".join([base, *words])
    yield name[:_LONGEST_NAME]
    name = f"{name}-{first}"
    yield name[:_LONGEST_NAME]
    for number in count(2):
        yield f"{name[: _LONGEST_NAME - len(str(number)) - 1]}-{number}"


def _repository(path: Path) -> Path:
    """The directory that layers may be in: the repository of the manifest, else the one above its own directory."""
    directory = path.resolve().parent
    return next((above for above in (directory, *directory.parents) if (above / ".git").exists()), directory.parent)


def _layer(link: object, files: list[Path], boundary: Path) -> Path:
    """The file that the last of `files` extends. LayerError where it may not."""
    if not isinstance(link, str) or not link:
        raise LayerError("extends is not the path of a file", _HINT)
    if link.startswith(("/", "~")):
        raise LayerError(f"{quote(link)} is not a relative path", _HINT)
    try:
        layer = (files[-1].parent / link).resolve()
    except (OSError, RuntimeError, ValueError) as err:  # links in a circle, a null byte
        raise LayerError(f"cannot read {quote(link)}: {err}", _HINT) from None
    if not layer.is_relative_to(boundary):
        message = f"{quote(link)} is outside of {quote(str(boundary))}, the repository of this manifest"
        raise LayerError(message, "move the file into the repository")
    if layer in files:
        names = " → ".join(file.name for file in [*files[files.index(layer) :], layer])
        raise LayerError(f"a file extends itself: {names}", "remove one of the `extends` keys")
    if len(files) > _MOST_LAYERS:
        raise LayerError(f"more than {_MOST_LAYERS} layers")
    return layer


def _merged_mapping(upper: Node, lower: Node) -> Node:
    assert isinstance(upper.children, dict)
    assert isinstance(lower.children, dict)
    result = Node(upper.start, upper.end, {}, upper.style)
    result.children, result.is_incomplete = {}, upper.is_incomplete or lower.is_incomplete
    for key in [*lower.children, *(key for key in upper.children if key not in lower.children)]:
        child, below = upper.children.get(key), lower.children.get(key)
        if child is not None and below is not None:
            if child.value is None:
                continue
            child = merged(child, below)
        child = child or below
        assert child is not None
        result.children[key], result.value[key] = child, child.value
        result.keys[key] = upper.keys[key] if key in upper.keys else lower.keys[key]
        result.height = max(result.height, child.height + 1)
    return result


def _merged_list(upper: Node, names: dict[str, Node], others: dict[str, Node]) -> Node:
    result = Node(upper.start, upper.end, [], upper.style)
    items = [merged(others[name], node) if name in others else node for name, node in names.items()]
    items += [node for name, node in others.items() if name not in names]
    result.children, result.value = items, [node.value for node in items]
    result.height = 1 + max((node.height for node in items), default=0)
    return result


def _by_name(items: list[Node]) -> dict[str, Node] | None:
    """Items by the value of their key `name`; None where one has none, or two have the same."""
    names = {
        name: item for item in items if isinstance(item.value, dict) and isinstance(name := item.value.get("name"), str)
    }
    return names if len(names) == len(items) else None


def _shift(root: Node, offset: int) -> None:
    """Move the spans of a document behind the texts before it; a node that aliases share is moved once."""
    pending, moved = [root], set[int]()
    while pending:
        node = pending.pop()
        if id(node) in moved:
            continue
        moved.add(id(node))
        node.start += offset
        node.end += offset
        node.keys = {key: (start + offset, end + offset) for key, (start, end) in node.keys.items()}
        if node.children is not None:
            pending += node.children.values() if isinstance(node.children, dict) else node.children


def _shifted_problem(problem: Problem, offset: int) -> Problem:
    other = problem.other and (problem.other[0] + offset, problem.other[1] + offset)
    return problem._replace(start=problem.start + offset, other=other)
