"""The fabric against the cables of the plan, the worst first."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.hardware import absent, displaced, surplus
from clustergen.hardware.findings import Group
from clustergen.hardware.pairing import Pairing


def differences(pairs: Pairing) -> Iterator[Group]:
    """All that differs. Of a file that is cut off, nothing is said to be missing.

    The order matters: each step takes out what it reports, so that a node that is off is not eight missing cables.
    """
    is_complete = pairs.facts.is_complete
    if is_complete:
        yield from absent.missing_switches(pairs)
        yield from absent.missing_nodes(pairs)
    yield from displaced.rails(pairs)
    yield from displaced.crossed(pairs)
    yield from displaced.misplaced(pairs)
    if is_complete:
        yield from absent.missing(pairs)
    yield from surplus.slow(pairs)
    yield from surplus.unnamed(pairs)
    yield from surplus.foreign_switches(pairs)
    yield from surplus.unplanned(pairs)
    yield from displaced.other_ports(pairs)
