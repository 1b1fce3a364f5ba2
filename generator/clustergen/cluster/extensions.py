"""Extensions that a cluster uses: only those are in its tree, and in the lock file."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import Any

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.catalogue.tables import check_tables
from clustergen.cluster.contributions import Package, PackageOf, SlurmTopic
from clustergen.cluster.groups import all_groups, membership
from clustergen.cluster.model import Cluster, contributors, contributors_of, once_per_cluster
from clustergen.diagnostics.words import did_you_mean, one_of
from clustergen.feature import Attributed, Feature, check_fields, extension_of

_NAME = (r"[a-z][a-z0-9_]*", "lower-case letters, digits and _")
_FORMS: Mapping[str, tuple[str, str]] = {
    "port": (r"[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5]", "a number from 1 to 65535"),
    "path": (r"/[!-~]*", "an absolute path"),
    "Daemon.protocols": ("tcp|udp", '("tcp",), ("udp",) or both'),
    "Unit.name": (r"[\w@:.\\-]+\.(service|timer|socket|path|mount|target)", "the name of a unit, as motd.service"),
    "Group.name": _NAME,
    "ScrapeJob.name": (r"[\w.-]+", "letters, digits, _, - and ."),
    "ScrapeJob.port": (r"\d{1,5}", "a number from 1 to 65535"),
    "Variables.values": _NAME,
    "Picture.path": (r"[!-~]+", "a path in the tree"),
    "Secret.mode": (r"0[0-7]{3}", "four octal digits, as 0400"),
    "Secret.owner": (r"[a-z_][a-z0-9_-]*", "the name of a user"),
    "Secret.form": (r"[\s\S]*", "a text"),
    "SlurmTopic.file": (r"[a-z_]+\.conf", "a file of Slurm, as slurm.conf"),
    "Sysctl.key": (r"[\w./*-]+", "the name of a setting, as vm.swappiness"),
}
"""Types of a field of contributions, of one kind or of all."""


@once_per_cluster
def used_extensions(cluster: Cluster) -> tuple[Feature, ...]:
    """The extensions of which the cluster has a record, an entry of storage, or a contribution for nodes that exist."""
    kinds = {kind.__module__ for kind in (*cluster.record_types, *map(type, cluster.storage.values()))}
    used = {extension for module in kinds if (extension := extension_of(module))}
    groups = membership(cluster)
    for returned in contributors():
        for contribute in contributors_of(cluster, returned):
            extension = extension_of(contribute.__module__)
            if extension and any(_reaches(cluster, item, groups) for item in contribute(cluster)):
                used.add(extension)
    return tuple(sorted(used))


def check_contributions(cluster: Cluster) -> None:
    """ExtensionError for a contribution of an extension with a value that no consumer can use."""
    check_tables()
    groups = all_groups(cluster)
    types = {"", *(node_type.name for node_type in cluster.node_types)}
    purposes = {name for os in operating_systems().values() for name in os.facts}
    for function in (function for returned in contributors() for function in contributors_of(cluster, returned)):
        if extension_of(function.__module__) is None:
            continue
        with Attributed(function.__module__):
            for item in function(cluster):
                check_fields(item)
                for part in (item, *(item.rows(cluster) if isinstance(item, SlurmTopic) else ())):
                    _check_forms(function.__name__, part)
                for noun, names, valid in (
                    ("group", {*getattr(item, "groups", ()), getattr(item, "group", "all")}, groups),
                    ("node type", {getattr(item, "node_type", "")}, types),
                ):
                    if wrong := min(names - valid, default=None):
                        hint = did_you_mean(wrong, valid) or f"write {one_of(sorted(filter(None, valid)), len(valid))}"
                        raise LookupError(f"needs: {function.__name__}: there is no {noun} {wrong!r}: {hint}")
                if isinstance(item, (Package, PackageOf)) and f"package_{item.purpose}" not in purposes:
                    reason = f"no file of data/operating_systems has a row package_{item.purpose}"
                    raise LookupError(f"needs: {function.__name__}: {reason}")


def _check_forms(function: str, item: Any) -> None:
    """ValueError for a text, or one of a tuple or of the keys of a mapping, that its field cannot have."""
    kind = type(item).__name__
    for field in getattr(item, "__record_fields__", ()) or getattr(item, "_fields", ()):
        value = getattr(item, field)
        pattern, form = _FORMS.get(f"{kind}.{field}") or _FORMS.get(field) or (r"[^\x00-\x1f\x7f]*", "one line")
        for text in value if isinstance(value, (tuple, Mapping)) else (value,):
            if isinstance(text, str | int) and not re.fullmatch(pattern, str(text)):
                raise ValueError(f"needs: {function}: {kind}: {field} is {value!r}: write {form}")


def _reaches(cluster: Cluster, item: object, groups: Container[str]) -> bool:
    """True unless a contribution only says what would be, as keys without a value or packages of no node."""
    if isinstance(item, PackageOf):
        return False
    if isinstance(item, SlurmTopic):
        return any(True for _ in item.rows(cluster))
    return getattr(item, "group", "all") in groups
