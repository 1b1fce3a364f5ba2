"""Names of systems and operating systems, which people write in more ways than the catalogue has."""

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator

from clustergen.catalogue.operating_systems import described_by, operating_systems, releases_of
from clustergen.manifest.base import Name

_RELEASE = re.compile(r"[0-9]")
_REBUILDS = "rhel", "redhat", "alma", "oracle"


def _same_system(value: Any) -> Any:
    if not isinstance(value, str) or (same := described_by(value)) == value:
        return value
    if same:
        is_rebuild = value.lower().startswith(_REBUILDS)
        hint = f"write {same}" + (f": {value} has the same packages and paths" if is_rebuild else "")
    elif (others := releases_of(value)) and (shorter := [other for other in others if value.startswith(other)]):
        hint = f"write {shorter[0]}"
    elif others and _RELEASE.search(value):
        hint = f"install {' or '.join(others)} on the nodes: the catalogue has no packages and paths of {value}"
    else:
        return value
    from pydantic_core import PydanticCustomError

    raise PydanticCustomError("value-not-allowed", "cannot be '{value}'", {"value": value, "hint": hint})


if TYPE_CHECKING:
    OsName = str
else:  # the names of the catalogue's files
    OsName = Annotated[Literal[tuple(operating_systems())], BeforeValidator(_same_system)]


_PRODUCT = re.compile(r"[A-Za-z][A-Za-z0-9 ._-]{1,62}")


def _system_name(value: Any) -> Any:
    """A product name as its maker writes it is no name of the catalogue, but says which one is meant."""
    if isinstance(value, str) and value != value.lower().replace(" ", "-") and _PRODUCT.fullmatch(value):
        from pydantic_core import PydanticCustomError

        from clustergen.catalogue.products import board_hint, product_system, systems_hint, systems_like

        names = systems_like(value)
        same = names[0] if len(names) == 1 else None if names else product_system(value)
        listing = (
            systems_hint(names) if names else board_hint(value) or "run clustergen catalogue systems for all names"
        )
        hint = f"write {same}" if same else listing
        context = {"value": value, "hint": hint}
        raise PydanticCustomError("system-unknown", "cannot be '{value}', a product name", context)
    return value


SystemName = Annotated[Name, BeforeValidator(_system_name)]
