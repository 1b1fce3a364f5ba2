"""JuiceFS: the section of the manifest."""

from __future__ import annotations

from typing import Annotated, Literal

from clustergen.manifest.base import AbsolutePath, PortNumber, field, text
from clustergen.manifest.mount import Mount
from clustergen.units import Bytes

MetadataUrl = Annotated[
    str,
    text(
        r"^(redis|rediss|postgres|mysql|tikv|etcd)://[A-Za-z0-9@().,:_-]+(/[A-Za-z0-9_.-]+)?$",
        "write redis://host:6379/1 or another URL of a metadata engine",
    ),
]


class JuiceFs(Mount):
    """A JuiceFS file system. Its servers, a metadata engine and an object store, are outside of the cluster."""

    type: Literal["juicefs"] = field(..., "Kind of file system.")
    metadata: MetadataUrl = field(
        ..., "URL of the metadata engine, without a password.", sample="redis://10.0.0.20:6379/1"
    )
    password: bool = field(False, "The metadata engine requires a password, which the site gives.")
    cache: AbsolutePath = field("/var/cache/juicefs", "Directory of the cache on a local disk.")
    cache_size: Bytes = field("100GiB", "Maximum size of the cache of a node.", validate_default=True)
    port: PortNumber = field(9567, "Port at which each client serves its metrics.")


PLACES = {"storage.*.juicefs": JuiceFs}
