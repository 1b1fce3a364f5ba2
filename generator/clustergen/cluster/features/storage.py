"""File systems as resolved. Each kind has its own record, in `filesystems`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from clustergen.filesystems import part
from clustergen.filesystems.entry import Entry
from clustergen.records import record

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster
    from clustergen.manifest.model import Manifest


@record
class Storage:
    """Entries by name, in order of the manifest."""

    entries: Mapping[str, Entry]


def resolve(manifest: Manifest, cluster: Cluster) -> Storage:
    entries: dict[str, Entry] = {}
    for name, section in manifest.storage.items():
        module = part(section.type, "entry")
        assert module is not None, "every kind of file system has a record"
        entries[name] = module.resolve(name, section, manifest, cluster)
    return Storage(entries)
