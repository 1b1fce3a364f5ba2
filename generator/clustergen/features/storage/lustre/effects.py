"""Routers that are left out of the routes: nodes use them until each has had its turn."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side

_CONF = "/etc/lnet.conf"
_GATEWAY = re.compile(r'^ +gateway: "?([^"\n]+)"?$', re.MULTILINE)


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    unused = _gateways(old) - _gateways(new)
    if unused and _gateways(new):
        yield ManualStep(
            f"stop the routers that no route leads through now: {', '.join(sorted(unused))}; not before", _CONF
        )


def _gateways(side: Side) -> set[str]:
    return {nid for file in side.files.values() if file.target == _CONF for nid in _GATEWAY.findall(file.text)}
