"""Warewulf's nodes.conf: field names and values by the declarations of its source, because no package has Warewulf."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_address
from typing import Any

import yaml

from clustergen.catalogue.warewulf import fields_by_section
from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_address(value: object) -> bool:
    try:
        ip_address(value if isinstance(value, str) else "")
    except ValueError:
        return False
    return True


_FORMS: dict[str, Callable[[Any], bool]] = {
    "text": _is_text,
    "list": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "texts": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "flag": lambda value: value in ("true", "false"),
    "address": _is_address,
    "mac": lambda value: isinstance(value, str) and re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", value) is not None,
}


def _problems(section: str, values: object, place: str) -> Iterator[str]:
    if not isinstance(values, dict):
        yield f"{place} is not a mapping"
        return
    fields = fields_by_section()[section]
    for name, value in values.items():
        where = f"{place}.{name}" if place else str(name)
        form, _, inner = fields.get(name, "").partition(":")
        if not form:
            yield f"{where} is not a field of Warewulf"
        elif form == "section":
            yield from _problems(inner, value, where)
        elif form == "sections":
            for key, part in value.items() if isinstance(value, dict) else [("", None)]:
                yield from _problems(inner, part, f"{where}.{key}")
        elif not _FORMS[form](value):
            yield f"{where}: {value!r} is no {form}"


def _references(document: dict[str, Any], groups: set[str]) -> Iterator[str]:
    """Profiles that nodes name, and overlays of the tree."""
    profiles = document.get("nodeprofiles") or {}
    for name, profile in profiles.items():
        cluster = f"{profile.get('cluster name')}."
        for overlay in profile.get("system overlay", ()):
            if overlay.startswith(cluster) and overlay.removeprefix(cluster) not in groups:
                yield f"nodeprofiles.{name}: the tree has no files of group {overlay.removeprefix(cluster)}"
    for name, node in (document.get("nodes") or {}).items():
        if not any(profile in profiles for profile in node.get("profiles", ())):
            yield f"nodes.{name}: no profile of this file"


def _nodes_conf(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    groups = {entry.group for entry in trial.tree.entries.values() if entry.group}
    complaints = []
    for entry in entries:
        try:
            document = yaml.safe_load(entry.content)
        except yaml.YAMLError as err:
            complaints.append(" ".join(str(err).split()))
            continue
        problems = list(_problems("file", document, "")) or list(_references(document, groups))
        complaints += [f"{entry.path}: {problem}" for problem in problems]
    yield check.judged(entries, complaints, (), yaml.__version__)


COMPONENT = "host"
CHECKS = (
    Check(
        name="warewulf",
        what="Warewulf: profiles and nodes",
        parser="PyYAML",
        proves="Well-formed YAML whose fields and values are those that the source of Warewulf 4.6.5 and 4.7.0"
        " declares, with profiles and overlays that exist. Warewulf itself is not run: Debian has no package.",
        reads=paths("warewulf/nodes.conf"),
        ask=_nodes_conf,
    ),
)
