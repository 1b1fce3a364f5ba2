"""A YAML document as plain data with marks: nodes, and collections whose end is still to come."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

_SINGLE = "''|[^'\n]"
_DOUBLE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[^\n])|[^\\\"\n]"


class Node:
    """A value with its span in the text, in characters from the start.

    `value` is plain data, `height` the levels of collections in it. A mapping has `keys`, the span of each key; a
    collection has `children`. `style` of a scalar is `'`, `"`, `|`, `>`, `*` for an alias, or empty for a plain one;
    of a collection `{`, `[` or empty. `is_incomplete`: a merge key was left out of it.
    """

    __slots__ = ("children", "end", "height", "is_incomplete", "keys", "start", "style", "value")

    def __init__(self, start: int, end: int, value: Any, style: str = "") -> None:
        self.start = start
        self.end = end
        self.value = value
        self.style = style
        self.children: dict[str, Node] | list[Node] | None = None
        self.keys: dict[str, tuple[int, int]] = {}
        self.height = 0
        self.is_incomplete = False

    def child(self, part: str | int) -> Node | None:
        """The value at a key or an index; None where there is none."""
        if isinstance(part, str):
            return self.children.get(part) if isinstance(self.children, dict) else None
        return self.children[part] if isinstance(self.children, list) and 0 <= part < len(self.children) else None

    def take(self, other: Node) -> None:
        """Takes what another mapping under the same key has besides: that they are two has been reported."""
        if isinstance(self.children, dict) and isinstance(other.children, dict):
            for key in other.children.keys() - self.children.keys():
                self.children[key], self.keys[key] = other.children[key], other.keys[key]
                self.value[key] = other.value[key]

    def has_scalar_at(self, offset: int, styles: str = "") -> bool:
        """True if this place of the text, in characters from its start, is inside a scalar; of some styles only."""
        if not self.start <= offset < self.end:
            return False
        if self.children is None:
            return not styles or (self.style != "" and self.style in styles)
        below = self.children.values() if isinstance(self.children, dict) else self.children
        return any(child.has_scalar_at(offset, styles) for child in below)


def inside(text: str, node: Node, offset: int, length: int) -> tuple[int, int]:
    """A span of a scalar as a span of the file, through quotes and escapes; all of it where lines are folded."""
    excerpt = text[node.start : node.end]
    if node.style == "":
        starts = list(range(len(excerpt) + 1))
    elif node.style in ("'", '"'):
        token = _SINGLE if node.style == "'" else _DOUBLE
        starts = [match.start() for match in re.compile(token).finditer(excerpt, 1, len(excerpt) - 1)] + [
            len(excerpt) - 1
        ]
    else:
        starts = []
    if len(starts) != len(node.value) + 1:
        return node.start, node.end
    first = min(max(offset, 0), len(starts) - 1)
    last = min(max(offset + length, first), len(starts) - 1)
    return node.start + starts[first], node.start + starts[last]


Key: TypeAlias = tuple[str | None, int, int]


class Frame:
    """A collection whose end is still to come."""

    __slots__ = ("anchor", "before", "key", "mapping", "node")

    def __init__(self, node: Node, anchor: str | None, before: int) -> None:
        self.node = node
        self.mapping = type(node.value) is dict
        self.anchor = anchor
        self.before = before
        self.key: Key | None = None

    def add(self, child: Node) -> None:
        node = self.node
        if child.height >= node.height:
            node.height = child.height + 1
        if not self.mapping:
            node.children.append(child)  # type: ignore[union-attr]  # a list, as the value is one
            node.value.append(child.value)
            return
        assert self.key is not None
        text, start, end = self.key
        self.key = None
        if text in node.keys:
            assert isinstance(node.children, dict)
            node.children[text].take(child)
        elif text is not None:
            node.children[text] = child  # type: ignore[index,call-overload]  # a dict, as the value is one
            node.keys[text] = (start, end)
            node.value[text] = child.value
