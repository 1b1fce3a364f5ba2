"""Time zones of the package tzdata, the present ones and old names of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

_LINKS = {
    "CST6CDT": "America/Chicago",
    "EST5EDT": "America/New_York",
    "MST7MDT": "America/Denver",
    "PST8PDT": "America/Los_Angeles",
}
"""Old names that are links since 2024b of IANA, which some releases of the package still have as zones."""


@cache
def time_zones() -> Mapping[str, str]:
    """Zone → its present name where it is an old one, else empty. Debian 13 and Ubuntu 24.04 have the old ones in a
    package of their own.
    """
    names = sorted(row[0] for row in _rows("zones"))
    of_countries = {row[2] for row in _rows("zoneinfo/zone.tab", "\t")}  # no old name among them
    present = {name for name in names if name in of_countries | {"GMT", "UTC"} or name.startswith("Etc/")}
    links = _LINKS | {row[2]: row[1] for row in _rows("zoneinfo/tzdata.zi") if row[0] == "L"}
    return {name: "" if name in present else links[name] for name in names if name in present | links.keys()}


def _rows(name: str, separator: str | None = None) -> Iterator[list[str]]:
    """The lines of a file of the package, split into cells, without comments."""
    for line in files("tzdata").joinpath(name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split(separator)
