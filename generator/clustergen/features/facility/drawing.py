"""Common parts of the pictures: roles with their colours, a legend, and text that fits its box.

Coordinates are pixels at 100 %. The browser chooses the font, so widths are those of DejaVu Sans, which is wider than
most; a nested `<svg>` clips what another font makes wider still.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from unicodedata import east_asian_width

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.facility.placement import switches_of
from clustergen.records import record

MARGIN = 20
ROLES = {
    "gpu": "GPU node",
    "cpu": "CPU node",
    "service": "service node",
    "fabric": "fabric switch",
    "storage": "storage switch",
    "management": "management switch",
    "bmc": "BMC switch",
    "nvlink": "NVLink switch tray",
    "shelf": "power shelf",
}
"""Class of a box in the picture → its name in the legend."""

BOLD = 1.12
"""Width of bold text to that of plain text."""

SIZES = {
    "": 9,
    "value": 9,
    "model": 9,
    "name": 10 * BOLD,
    "key": 11,
    "note": 11,
    "over": 11,
    "rack": 13 * BOLD,
    "tier": 13 * BOLD,
    "heading": 15 * BOLD,
}
"""Class of a text → its size in the style sheet, that of bold text by its width."""

_NARROWEST = 0.42  # of these, in em
_NARROW = frozenset("fijlrtI.,:;'|!()[]- ")
_WIDE = {"w": 0.82, "M": 0.87, "m": 0.98, "W": 1.0, "@": 1.0, "%": 0.95, "×": 0.84, "…": 1.0}
_SWATCH = 16  # a square of the legend and the space to its text


@record
class Text:
    """A line of text; `kind` is its class in the style sheet."""

    x: int
    y: int
    text: str
    kind: str = ""


@record
class Swatch:
    """An entry of the legend."""

    role: str
    label: str
    x: int
    y: int


def width(text: str, kind: str) -> float:
    """An upper estimate of the width of a text of a class in a sans-serif font."""
    return SIZES[kind] * sum(map(_em, text))


def _em(sign: str) -> float:
    if sign in _NARROW:
        return _NARROWEST
    if sign in _WIDE:
        return _WIDE[sign]
    if sign > "\u02ff":
        return 1.1 if east_asian_width(sign) in "WFA" else 0.9
    return 0.76 if sign in "DGHNOQU" else 0.7 if sign.isupper() else 0.64


def fitted(text: str, room: float, kind: str) -> str:
    """The text, with an ellipsis in its middle where it is wider than `room`: host names differ at their ends."""
    if width(text, kind) <= room:
        return text
    kept = min(len(text) - 1, int(room / (_NARROWEST * SIZES[kind])))
    while kept and width(text[: kept // 2] + "…" + text[len(text) - (kept - kept // 2) :], kind) > room:
        kept -= 1
    return text[: kept // 2] + "…" + text[len(text) - (kept - kept // 2) :]


def roles(cluster: Cluster) -> Mapping[str, str]:
    """Role by name of a node or switch."""
    of_nodes = {host: _role(group) for group in cluster.groups for host in group.hosts}
    return of_nodes | {switch.name: name for name, switches in switches_of(cluster).items() for switch in switches}


def _role(group: NodeGroup) -> str:
    if not group.has("slurm-compute"):
        return "service"
    return "gpu" if group.type.gpus else "cpu"


def legend(used: Iterable[str], y: int, right: int) -> tuple[tuple[Swatch, ...], int]:
    """The roles in use, in lines that end before `right`, and the height of these lines."""
    present = set(used)
    x, top, swatches = MARGIN, y, []
    for role in (role for role in ROLES if role in present):
        wide = _SWATCH + round(width(ROLES[role], "key")) + 16
        if x + wide > right and x > MARGIN:
            x, top = MARGIN, top + 18
        swatches.append(Swatch(role, ROLES[role], x, top))
        x += wide
    return tuple(swatches), top + 18 - y if swatches else 0


def lines(texts: Iterable[tuple[str, str]], x: int, y: int, step: int, room: float) -> Iterator[Text]:
    """Texts with their kinds one below the other, each fitted to `room`; empty ones take no line."""
    for text, kind in texts:
        if text:
            yield Text(x, y, fitted(text, room, kind), kind)
            y += step
