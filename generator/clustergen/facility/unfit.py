"""Why a cable has no medium, and what would fit."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.cabling import cables, choices, connectors
from clustergen.facility.model import Cable


def cause(cable: Cable) -> str:
    """rate, connector or place: not known; fit: no medium joins both ends; reach: none is long enough."""
    if cable.gbit is None:
        return "rate"
    if not cable.a.connector or not cable.b.connector:
        return "connector"
    if not choices(cable.gbit, cable.technology, cable.b.connector, cable.a.connector):
        return "fit"
    return "place" if cable.derived_m is None else "reach"


def cause_text(cable: Cable) -> str:
    """The same in words, for lists and tables; the link's rate where it is known."""
    rate = f"{cable.gbit} Gb/s link" if cable.gbit else "link"
    a, b = cable.a.connector, cable.b.connector
    return {
        "rate": f"{rate} of the {cable.network} network without a rate",
        "connector": f"{rate}, connector of {'the switch' if a else 'the node'} not known",
        "fit": f"{rate} from {a} to {b}: no cable joins them",
        "place": f"{rate} from {a} to {b}: a device has no place in a rack",
        "reach": f"{rate} from {a} to {b}: no cable reaches",
    }[cause(cable)]


def alternatives(cable: Cable) -> Iterator[str]:
    """Other ways to join the two devices: another cage of the lower end, or another rate of the network."""
    if cable.gbit is None:
        return
    a, b = cable.a.connector, cable.b.connector
    for connector in connectors():
        if choices(cable.gbit, cable.technology, b, connector):
            yield f"order adapters with {connector} cages"
    rates = sorted({gbit for kind in cables().values() for gbit in kind.gbits}, reverse=True)
    for gbit in rates:
        if gbit != cable.gbit and choices(gbit, cable.technology, b, a):
            yield f"run the link at {gbit} Gb/s"


def reach_m(cable: Cable) -> float:
    """The longest way that anything carries the link over, in metres."""
    media = choices(cable.gbit or 0, cable.technology, cable.b.connector, cable.a.connector)
    return max((medium.reach_m for medium in media), default=0.0)
