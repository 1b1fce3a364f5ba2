"""Modules of the SNMP exporter: those of the devices against those in the files that monitoring nodes have for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Diagnostic, Finding, Place, did_you_mean
from clustergen.features.snmp.modules import FILES, MODULES
from clustergen.features.snmp.resolved import Snmp
from clustergen.render.tree import RenderedFile

_OURS = frozenset(module.name for module in MODULES)


def problems(
    directory: Path, cluster: Cluster, files: Mapping[str, RenderedFile], members: Mapping[str, tuple[NodeGroup, ...]]
) -> Iterator[Diagnostic | Finding]:
    """Devices whose module a monitoring node lacks, and site files that the exporter cannot read.

    `directory` is the site's, `files` the tree with the site's files, `members` the nodes of its groups.
    """
    if not cluster.has(Snmp):
        return
    servers = cluster.with_role("monitoring")
    modules: dict[int, set[str]] = {group.index: set() for group in servers}
    for file in files.values():
        if not file.target or not file.group or not fnmatchcase(file.target, FILES):
            continue
        try:
            names = _modules_in(file)
        except ValueError as err:
            yield Diagnostic.of("site-file-unreadable", Place(str(directory.parent / file.source)), str(err))
            return
        for group in servers:
            if group in members[file.group]:
                modules[group.index] |= names
    candidates = set.intersection(*modules.values())
    for name, device in cluster.of(Snmp).devices.items():
        if device.module not in candidates:
            yield Finding(
                "snmp-module-unknown",
                ("monitoring", "snmp", "devices", name, "module"),
                f"no file of the SNMP exporter defines module '{device.module}'",
                did_you_mean(device.module, sorted(candidates))
                or f"add the module in {directory.name}/monitoring{FILES.replace('*', '-NAME')}",
            )


def _modules_in(file: RenderedFile) -> frozenset[str]:
    """Names below `modules` of a file. ValueError where it is no YAML mapping."""
    if not file.source.startswith("site/"):
        return _OURS
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        document: Any = yaml.load(file.content, Loader=loader)  # noqa: S506  a safe loader, in C where PyYAML has it
    except yaml.YAMLError as err:
        mark = getattr(err, "problem_mark", None)
        line = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(
            f"this is not YAML, and the SNMP exporter does not start with it: {line}{_reason(err)}"
        ) from None
    section = document.get("modules") if isinstance(document, dict) else None
    return frozenset(map(str, section)) if isinstance(section, dict) else frozenset()


def _reason(err: yaml.YAMLError) -> str:
    return getattr(err, "problem", None) or "a character that YAML does not allow"
