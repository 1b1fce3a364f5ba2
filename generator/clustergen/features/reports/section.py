"""Reports of how the cluster was used."""

from typing import Annotated, Literal

from clustergen.manifest.base import NOT_EMPTY, Section, field


class Reports(Section):
    """Usage by account and user, written on the primary controller when a period is over."""

    period: Literal["day", "week", "month"] = field("week", "Period of a report.")


PLACES = {
    "reports": (
        Annotated[Reports | None, NOT_EMPTY],
        field(None, "Reports of usage; none unless the section is present."),
    )
}
