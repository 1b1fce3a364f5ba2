"""Pictures of networks: a scalable unit with its leaves by rail, spines and cores, and the cables of each bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster, once_per_cluster
from clustergen.diagnostics.words import counted
from clustergen.facility.placement import switches_of
from clustergen.features.facility.drawing import MARGIN, Swatch, Text, fitted
from clustergen.features.facility.network_graph import NetworkGraph, network_graph
from clustergen.features.facility.network_layout import NODE_GAP, DrawnBox, Layout, tier_name
from clustergen.records import record
from clustergen.render.views.diagram import shortened

_EDGE = 8  # between a wire and the side of its box
_KINDS = {"infiniband": "InfiniBand", "roce": "RoCE", "ethernet": "Ethernet"}
_TITLES = {"fabric": "fabric", "storage": "storage network", "management": "management network", "bmc": "BMC network"}


@record
class Wire:
    """A bundle of cables, from the lower box to the upper."""

    kind: str
    x1: int
    y1: int
    x2: int
    y2: int


@record
class NetworkPicture:
    title: str
    desc: str
    heading: str
    width: int
    height: int
    legend: tuple[Swatch, ...]
    wires: tuple[Wire, ...]
    boxes: tuple[DrawnBox, ...]
    texts: tuple[Text, ...]


@once_per_cluster
def network_pictures(cluster: Cluster) -> Mapping[str, NetworkPicture]:
    """Name of the network → picture, of those with switches that join anything."""
    graphs = {name: network_graph(cluster, name, switches) for name, switches in switches_of(cluster).items()}
    return {name: _picture(cluster, name, graph) for name, graph in graphs.items() if graph.units}


def network_picture(name: str, cluster: Cluster) -> NetworkPicture | None:
    return network_pictures(cluster).get(name)


def _picture(cluster: Cluster, network: str, graph: NetworkGraph) -> NetworkPicture:
    layout = Layout(cluster, network, graph)
    title, summary = _TITLES[network], _summary(cluster, network, graph)
    room, bottom = layout.width - 2 * MARGIN, layout.bottom
    texts = [Text(MARGIN, 48, fitted(summary, room, "note"), "note"), *layout.captions, *_labels(layout, graph)]
    if graph.unconnected:
        bottom += 22
        names = f"not connected: {shortened(graph.unconnected)}"
        texts.append(Text(MARGIN, bottom, fitted(names, room, "note"), "note"))
    return NetworkPicture(
        title=f"{cluster.name}: {title}",
        desc=" ".join([f"{summary}.", *_sentences(graph)]),
        heading=fitted(f"{cluster.name} · {title}", room, "heading"),
        width=layout.width,
        height=bottom + MARGIN,
        legend=(),
        wires=tuple(_wires(layout, graph)),
        boxes=tuple(layout.boxes.values()),
        texts=tuple(texts),
    )


def _summary(cluster: Cluster, network: str, graph: NetworkGraph) -> str:
    spec = cluster.networks[network]
    technology = "roce" if spec.type == "roce" else graph.technology
    kind = " ".join(filter(None, (_KINDS.get(technology), spec.rate)))
    up = f", {graph.of_switches:,} between switches" if graph.of_switches else ""
    return f"{kind}: {counted(graph.of_nodes, 'link')} to nodes{up}"


def _sentences(graph: NetworkGraph) -> Iterator[str]:
    """The picture in words."""
    for unit in graph.units:
        count = sum(len(box.switches) for box in unit.leaves)
        if not unit.nodes:
            yield f"{counted(count, 'leaf')} for other devices."
            continue
        yield f"{counted(len(unit.nodes), 'node')} {shortened(unit.nodes)} on {counted(count, 'leaf')}."
        for names in dict.fromkeys(unit.partial.values()):
            hosts = [host for host, leaves in unit.partial.items() if leaves == names]
            yield f"{shortened(hosts)} on {shortened(names)} only."
    if graph.more_units:
        yield f"{counted(graph.more_units, 'more unit')} with {counted(graph.rest_nodes, 'node')}."
    for number, tier in enumerate(graph.tiers, 1):
        yield f"{counted(sum(len(box.switches) for box in tier), tier_name(number))} above."


def _wires(layout: Layout, graph: NetworkGraph) -> Iterator[Wire]:
    for low, top in graph.cables:
        below, above = layout.boxes.get(low), layout.boxes[top]
        if below is None:
            continue
        x, kinds = below.middle, (below.wire, above.wire)
        if low not in layout.switches:  # straight up from nodes, which have one wide box
            x, kinds = min(max(above.middle, below.x + _EDGE), below.x + below.width - _EDGE), kinds[::-1]
        kind = "rest" if "rest" in kinds else kinds[0]
        yield Wire(kind, x, below.y, above.middle, above.y + above.height)


def _labels(layout: Layout, graph: NetworkGraph) -> Iterator[Text]:
    """Cables to nodes beside their wire, and the bundles that go up above the box that they leave."""
    up: dict[str, dict[str, int]] = {}
    to_nodes: Counter[str] = Counter()
    for (low, top), count in graph.cables.items():
        if low in layout.switches:
            up.setdefault(low, {})[top] = count
        elif low in layout.boxes:
            to_nodes[top] += count
    for top, count in to_nodes.items():
        box = layout.boxes[top]
        y = box.y + box.height + NODE_GAP // 2 + 3
        yield Text(box.middle + 6, y, counted(count, "link"), "count")
    for low, bundles in up.items():
        box = layout.boxes[low]
        y = box.y - (16 if box.is_stack else 10)
        yield Text(box.middle, y, _bundles(layout, low, bundles), "count middle halo")


def _bundles(layout: Layout, low: str, bundles: Mapping[str, int]) -> str:
    """`16 × 2 links` where a switch has equal bundles to several, else the number of links: a twin cable has two."""
    total = sum(bundles.values())
    tops = {top: len(layout.switches[top]) for top in bundles}
    each, remainder = divmod(total, sum(tops.values()))
    is_even = not remainder and all(bundles[top] == each * count for top, count in tops.items())
    if is_even and sum(tops.values()) > 1 and len(layout.switches[low]) == 1:
        return f"{sum(tops.values())} × {counted(each, 'link')}"
    return counted(total, "link")
