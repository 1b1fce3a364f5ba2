"""More lines of /etc/hosts by name, as other tools have them: one finding with the line by address."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from clustergen.diagnostics import Finding
from clustergen.diagnostics.model_path import value_at
from clustergen.diagnostics.words import on_one_line

_PLACE = ("host", "extra_hosts")


def merged(findings: list[Finding], data: Any) -> list[Finding]:
    """The findings, with one in place of those of a name and its address that changed places."""
    lines = value_at(data, _PLACE)
    swapped = {}
    for name, value in lines.items() if isinstance(lines, Mapping) else ():
        address = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
        with contextlib.suppress(ValueError):
            ip_address(address)
            swapped[(*_PLACE, name)] = f"write {on_one_line(str(address))}: [{on_one_line(name)}]"
    result, reported = [], set()
    for finding in findings:
        path = finding.path[:3]
        if path not in swapped:
            result.append(finding)
        elif path not in reported:
            reported.add(path)
            message = "host.extra_hosts: the key must be the address, and its value a list of names"
            result.append(Finding("text-malformed", path, message, swapped[path], key=True))
    return result
