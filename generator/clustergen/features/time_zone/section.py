"""The nodes' time zone."""

from typing import Annotated

from pydantic import AfterValidator

from clustergen.catalogue.time_zones import time_zones
from clustergen.diagnostics import did_you_mean
from clustergen.manifest.base import field, text

_FORM = "write a zone as timedatectl list-timezones shows it: Europe/Berlin"


def _present_zone(name: str) -> str:
    """Refuses a zone that some node would not have."""
    zones = time_zones()
    if zones.get(name) == "":
        return name
    from pydantic_core import PydanticCustomError

    present = [zone for zone, renamed in zones.items() if not renamed]
    cities = {zone.rpartition("/")[2].lower(): zone for zone in present if "/" in zone}
    message, hint = "'{value}' is not a time zone", did_you_mean(name, present) or _FORM
    if renamed := zones.get(name):
        message, hint = "'{value}' is an old name, which not all systems install", f"write {renamed}"
    elif city := cities.get(name.rpartition("/")[2].lower()):
        hint = f"write {city}"
    raise PydanticCustomError("value-not-allowed", message, {"value": name, "hint": hint})


Zone = Annotated[str, text(r"^[A-Za-z]+(/[A-Za-z0-9_+-]+)*$", _FORM), AfterValidator(_present_zone)]

PLACES = {
    "host.timezone": (Zone | None, field(None, "Time zone (/etc/localtime); default: left as it is on the node."))
}
