"""Limits of users and services, as written."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import field
from clustergen.units import Bytes

PLACES = {
    "host.memlock": (
        Literal["unlimited"] | Bytes,
        field("unlimited", "Locked memory limit of users; required by RDMA."),
    ),
    "host.nofile": (Annotated[int, Field(ge=1024, le=1048576)], field(131072, "Open files limit of users.")),
    "host.journal_size": (
        Bytes,
        field("2GiB", "Size of a node's journal; when it is full, the oldest entries go.", validate_default=True),
    ),
}
