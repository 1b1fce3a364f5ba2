"""File systems as resolved. Each kind has its own record, in `features/storage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clustergen.cluster.entry import Entry
from clustergen.feature import Attributed, checked, module
from clustergen.manifest.mount import Mount
from clustergen.records import record

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster
    from clustergen.manifest.model import Manifest


@record
class Storage:
    """File systems, in order of the manifest."""

    entries: Mapping[str, Entry]  # by name


def resolve(manifest: Manifest, cluster: Cluster) -> Storage:
    entries: dict[str, Entry] = {}
    by_kind: dict[str, dict[str, Mount]] = {}
    for name, section in manifest.storage.items():
        by_kind.setdefault(section.type, {})[name] = section
    for name, section in manifest.storage.items():
        kind = module(f"storage.{section.type}", "resolved")
        assert kind is not None, "every kind of file system has a record"
        with Attributed(kind.__name__):
            entries[name] = checked(kind.resolve(name, by_kind[section.type], cluster), Entry, kind.resolve)
    return Storage(entries)
