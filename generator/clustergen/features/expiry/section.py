"""Dates of licences and contracts, as written."""

from typing import Annotated

from clustergen.manifest.base import field, text
from clustergen.manifest.rewrites import as_date

Title = Annotated[str, text(r"^[A-Za-z0-9][A-Za-z0-9 ._/()+-]*$", "use letters, digits, blanks and . _ / ( ) + -", 80)]
Day = Annotated[
    str,
    text(
        r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", "write the date as 2027-03-31", rewrite=as_date
    ),
]

PLACES = {
    "monitoring.expires": (
        dict[Title, Day],
        field({}, "Last days of licences and contracts, to alert before: {NVIDIA AI Enterprise: 2027-03-31}."),
    )
}
