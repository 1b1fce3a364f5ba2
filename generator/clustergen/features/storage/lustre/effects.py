"""Routers that no route leads through any more, which nodes use until their turn, and new targets, to be formatted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side

_CONF = "/etc/lnet.conf"
_GATEWAY = re.compile(r'^ +gateway: "?([^"\n]+)"?$', re.MULTILINE)
_VALUES = re.compile(r"/etc/clustergen/lustre-(.+)[.]sh")
_TARGET = re.compile(r"^  (\S+) (?:ldiskfs|zfs) ", re.MULTILINE)


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    unused = _gateways(old) - _gateways(new)
    if unused and _gateways(new):
        yield ManualStep(
            f"stop the routers that no route leads through now: {', '.join(sorted(unused))}; not before", _CONF
        )
    before = _targets(old)
    for path, names in _targets(new).items():
        if names - before.get(path, set()):
            entry = _VALUES.sub(r"\1", path)
            text = f"run clustergen-lustre {entry} check on the servers of new targets, then format, mount and pools"
            yield ManualStep(text, path)


def _gateways(side: Side) -> set[str]:
    return {nid for file in side.files.values() if file.target == _CONF for nid in _GATEWAY.findall(file.text)}


def _targets(side: Side) -> dict[str, set[str]]:
    """Path of the values of a file system → names of its targets."""
    files = [file for file in side.files.values() if _VALUES.fullmatch(file.target)]
    return {file.target: set(_TARGET.findall(file.text)) for file in files}
