"""Where the boxes of a network's picture stand: tiers from the top down, the nodes below their leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clustergen.catalogue.hardware import switch as switch_model
from clustergen.cluster.model import Cluster, Switch
from clustergen.diagnostics.words import counted
from clustergen.features.facility.drawing import MARGIN, Text, fitted, lines, roles
from clustergen.features.facility.network_graph import REST, Box, NetworkGraph, Unit
from clustergen.records import record
from clustergen.render.views.diagram import shortened

NODE_GAP = 58  # between leaves and nodes
_TOP, _HIGH, _TIER_GAP = 76, 42, 124
_GUTTER = 136  # captions of the tiers
_LEAF, _FEW, _FEW_LEAF = 132, 4, 190  # width of a leaf, and where leaves are few
_GAP, _UNIT_GAP = 12, 36
_REST, _REST_GAP = 132, 44
_LEAST_ABOVE, _MOST_ABOVE = 66, 150
_ABOVE_GAP, _STACK = 6, 8  # between boxes, and what a stack adds
_LINE = 13
_PADDING = 10
_MOST_NAMED = 5  # types whose nodes have names in one box
_RAILS = 8  # colours of rails
_MOST_TYPES, _CAPTION_LINES = 3, 3
_TIERS = ("leaf", "spine", "core", "upper switch")


class _Area(NamedTuple):
    x: int
    y: int
    width: int
    height: int


@record
class DrawnBox:
    """`classes` are those of the style sheet, `wire` that of its cables; texts are relative to the box."""

    classes: str
    wire: str
    x: int
    y: int
    width: int
    height: int
    is_stack: bool
    title: str
    texts: tuple[Text, ...]

    @property
    def middle(self) -> int:
        return self.x + self.width // 2


class Layout:
    """Boxes by the ids of the graph, captions, and the size of the picture."""

    def __init__(self, cluster: Cluster, network: str, graph: NetworkGraph) -> None:
        self._network, self._graph = network, graph
        self._titles = {host: group.type.title for group in cluster.groups for host in group.hosts}
        self._roles = roles(cluster)
        leaves = sum(len(unit.leaves) for unit in graph.units)
        self._leaf = _LEAF if leaves > _FEW else _FEW_LEAF
        widths = [len(unit.leaves) * (self._leaf + _GAP) - _GAP for unit in graph.units]
        leaves_width = sum(widths) + _UNIT_GAP * (len(widths) - 1)
        most = max((sum(not box.is_rest for box in tier) for tier in graph.tiers), default=0)
        self._main = max(leaves_width, most * (_LEAST_ABOVE + _ABOVE_GAP), 200)
        self._rest_x = _GUTTER + self._main + _REST_GAP
        self._leaf_x = tuple(self._leaf_positions(_GUTTER + (self._main - leaves_width) // 2))
        has_rest = graph.rest_leaves is not None or any(box.is_rest for tier in graph.tiers for box in tier)
        self.width = (self._rest_x + _REST if has_rest else _GUTTER + self._main) + MARGIN
        self.boxes: dict[str, DrawnBox] = {}
        self.switches: dict[str, tuple[Switch, ...]] = {}
        self.captions: list[Text] = []
        y = _TOP
        for number in range(len(graph.tiers), 0, -1):
            self._tier(number, y)
            y += _HIGH + _TIER_GAP
        self._leaves(y)
        self.bottom = self._nodes(y + _HIGH + NODE_GAP)

    def _leaf_positions(self, x: int) -> Iterator[int]:
        for unit in self._graph.units:
            for _ in unit.leaves:
                yield x
                x += self._leaf + _GAP
            x += _UNIT_GAP - _GAP

    def _caption(self, y: int, name: str, switches: Sequence[Switch]) -> None:
        models = Counter(map(_model, switches))
        title = counted(len(switches), name).partition(" ")[2].capitalize()
        rows = [(title, "tier"), *((f"{count} × {model or 'unknown'}", "note") for model, count in models.items())]
        rows = rows[:_CAPTION_LINES]
        self.captions += lines(rows, MARGIN, y + 31 - 7 * len(rows), 15, _GUTTER - MARGIN - 12)

    def _tier(self, number: int, y: int) -> None:
        tier = self._graph.tiers[number - 1]
        self._caption(y, tier_name(number), [switch for box in tier for switch in box.switches])
        shown = [box for box in tier if not box.is_rest]
        pitch = self._main / max(1, len(shown))
        stack = _STACK if any(len(box.switches) > 1 for box in shown) else 0
        if len(shown) == len(self._leaf_x):
            pitch = self._leaf + _GAP
        wide = min(_MOST_ABOVE, int(pitch) - _ABOVE_GAP - stack)
        middles = [_GUTTER + int(pitch * (place + 0.5)) for place in range(len(shown))]
        if len(shown) == len(self._leaf_x):
            middles = [x + self._leaf // 2 for x in self._leaf_x]
        for box, middle in zip(shown, middles, strict=True):
            self._shown(box, _Area(middle - wide // 2, y, wide, _HIGH))
        for box in tier:
            if box.is_rest:
                count = counted(len(box.switches), f"more {tier_name(number)}")
                self._rest(box, y, [(count, "name")])

    def _leaves(self, y: int) -> None:
        rest = self._graph.rest_leaves
        leaves = [box for unit in self._graph.units for box in unit.leaves]
        every = [switch for box in (*leaves, *([rest] if rest else ())) for switch in box.switches]
        self._caption(y, "leaf" if self._graph.tiers else "switch", every)
        for box, x in zip(leaves, self._leaf_x, strict=True):
            self._shown(box, _Area(x, y, self._leaf, _HIGH))
        if rest:
            units = counted(self._graph.more_units, "more unit")
            self._rest(rest, y, [(counted(len(rest.switches), "leaf"), "name"), (units, "")])

    def _shown(self, box: Box, area: _Area) -> None:
        rails = sorted({rail for switch in box.switches for rail in switch.rails})
        name = shortened([switch.name for switch in box.switches])
        where = f"rail {rails[0]}" if len(rails) == 1 else f"rails {rails[0]} to {rails[-1]}" if rails else ""
        count = f"{len(box.switches)} switches" if len(box.switches) > 1 else ""
        words = [(name, "name"), (", ".join(filter(None, (count, where))), "")]
        self.switches[box.id] = box.switches
        rail = f"r{rails[0] % _RAILS}" if len(rails) == 1 else ""
        self._box(box.id, f"{self._network} {rail}".strip(), rail or "plain", area, len(box.switches) > 1, name, words)

    def _rest(self, box: Box, y: int, words: Sequence[tuple[str, str]]) -> None:
        self.switches[box.id] = box.switches
        name = shortened([switch.name for switch in box.switches])
        area = _Area(self._rest_x, y, _REST, _HIGH)
        self._box(box.id, f"{self._network} rest", "rest", area, len(box.switches) > 1, name, words)

    def _nodes(self, y: int) -> int:
        """The lower edge of the lowest box."""
        self.captions.append(Text(MARGIN, y + 22, "Nodes", "tier"))
        bottom = y
        for unit in self._graph.units:
            first, last = self.boxes[unit.leaves[0].id], self.boxes[unit.leaves[-1].id]
            types: dict[tuple[str, tuple[str, ...]], list[str]] = {}
            for host in unit.nodes:
                types.setdefault((self._titles.get(host, "unknown"), unit.partial.get(host, ())), []).append(host)
            listed = [
                (f"{len(hosts)} × {title}{f', on {shortened(names)} only' if names else ''}", "")
                for (title, names), hosts in types.items()
            ]
            name, wide = shortened(unit.nodes), last.x + last.width - first.x
            is_by_type = 1 < len(types) <= _MOST_NAMED and _cut(name, wide)
            if len(listed) > _MOST_TYPES and not is_by_type:
                listed = [*listed[: _MOST_TYPES - 1], (f"{len(listed) - _MOST_TYPES + 1} more types", "")]
            if not name:
                free = sum(switch.free_ports for box in unit.leaves for switch in box.switches)
                name = counted(free, "other port") if free else "no nodes"
            words = [(name, "name"), *listed]
            if is_by_type:  # their names, type by type
                names_of = [(shortened(hosts), "name") for hosts in types.values()]
                words = [word for pair in zip(names_of, listed, strict=True) for word in pair]
            area = _Area(first.x, y, wide, 24 + _LINE * (len(words) - 1))
            self._box(unit.id, self._role(unit), "plain", area, len(unit.nodes) > 1, name, words)
            bottom = max(bottom, y + area.height)
        if self._graph.rest_nodes:
            count = counted(self._graph.rest_nodes, "node")
            area = _Area(self._rest_x, y, _REST, 24 + _LINE)
            self._box(REST, f"{self._role(self._graph.units[0])} rest", "rest", area, True, count, [(count, "name")])
            bottom = max(bottom, y + area.height)
        return bottom

    def _role(self, unit: Unit) -> str:
        """The role of most of its nodes."""
        each = Counter(self._roles[host] for host in unit.nodes if host in self._roles)
        return each.most_common(1)[0][0] if each else "service"

    def _box(
        self,
        key: str,
        classes: str,
        wire: str,
        area: _Area,
        is_stack: bool,
        title: str,
        words: Sequence[tuple[str, str]],
    ) -> None:
        kept = [(text, kind) for text, kind in words if text]
        start = (area.height - _LINE * len(kept)) // 2 + 10
        texts = []
        for row, (text, kind) in enumerate(kept):
            line = fitted(text, area.width - _PADDING, kind)
            texts.append(Text(area.width // 2 + 2, start + _LINE * row, line, f"{kind} middle".strip()))
        self.boxes[key] = DrawnBox(
            classes=classes, wire=wire, **area._asdict(), is_stack=is_stack, title=title, texts=tuple(texts)
        )


def _cut(name: str, wide: int) -> bool:
    """True if a name does not fit into a box."""
    return fitted(name, wide - _PADDING, "name") != name


def tier_name(number: int) -> str:
    """A switch of the tier, counted from the leaves."""
    return _TIERS[min(number, len(_TIERS) - 1)]


def _model(switch: Switch) -> str:
    model = switch_model(switch.model) if switch.model else None
    return model.model if model else switch.model or ""
