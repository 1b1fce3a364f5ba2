"""The nodes' time zone."""

from typing import Annotated

from clustergen.manifest.base import field, text

Zone = Annotated[
    str,
    text(r"^[A-Za-z]+(/[A-Za-z0-9_+-]+)*$", "write a zone as timedatectl list-timezones shows it: Europe/Berlin"),
]

PLACES = {
    "host.timezone": (Zone | None, field(None, "Time zone (/etc/localtime); default: left as it is on the node."))
}
