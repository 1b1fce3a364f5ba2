"""WEKA: what the manifest says of it."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from clustergen.manifest.base import Device, Host, field, text
from clustergen.manifest.mount import Mount


class Weka(Mount):
    """A WekaFS file system."""

    OTHER_NAMES: ClassVar = {
        **Mount.OTHER_NAMES,
        **dict.fromkeys(("server", "servers", "host", "hosts", "backend", "cluster"), "backends"),
        **dict.fromkeys(("fs", "fsname", "filesystemname", "name", "path"), "filesystem"),
    }
    SOURCE = r"(?P<backends>[^/@\s:]+)/(?P<filesystem>\w+)"
    type: Literal["weka"] = field(..., "Kind of file system.")
    backends: tuple[Host, ...] = field(..., "Backend servers.", sample="[10.0.0.21, 10.0.0.22]", min_length=1)
    filesystem: Annotated[str, text(r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", "use letters, digits, _ . and -", 32)] = field(
        ..., "Name of the file system."
    )
    interfaces: tuple[Device, ...] = field(
        (),
        "Interfaces for its traffic; default the storage ports, or the first fabric port of nodes without storage"
        " addresses; none: UDP.",
    )
    cores: Annotated[int, Field(ge=1, le=19)] | None = field(
        None,
        "Cores on which the client polls, where it has interfaces; default 2. CpuSpecList keeps jobs off them.",
    )
    mode: Literal["readcache", "writecache", "coherent", "forcedirect"] | None = field(None, "Caching.")


PLACES = {"storage.*.weka": Weka}
