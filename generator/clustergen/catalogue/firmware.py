"""Settings of system firmware: which matter, what they follow from, and their Redfish attributes on known machines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from functools import cache
from typing import Literal

from clustergen.catalogue.tables import NOTHING, keyed, listed
from clustergen.records import record

FamilyName = Literal["dgx-h100", "supermicro", "dell", "hpe", "lenovo", "ami", "gb200"]
Expect = Literal["threads", "numa", "iommu", "relaxed-ordering", "on", "site"]


@record
class FirmwareSetting:
    """One setting; `expect` names what its value follows from."""

    name: str
    title: str
    expect: Expect
    why: str
    unverified: frozenset[str] = NOTHING


@record
class FirmwareAttribute:
    """Redfish name of a setting; `*` in it stands for a number. `values`: meaning (on, off, 2) → the BMC's value."""

    family: str
    setting: str
    attribute: str
    values: Mapping[str, str]
    unverified: frozenset[str] = NOTHING

    def meaning(self, value: str) -> str:
        """The meaning of a value; empty for one that the catalogue does not know."""
        return next((meaning for meaning, text in self.values.items() if text == value), "")


@record
class FirmwareFamily:
    """Machines with the same attributes; `resource` is the path at which their BMC serves these."""

    name: str
    title: str
    systems: tuple[str, ...]
    resource: str
    unverified: frozenset[str] = NOTHING


ADAPTER_SETTINGS = (
    *("LINK_TYPE_P1", "LINK_TYPE_P2", "ROCE_CC_PRIO_MASK_P1", "ROCE_CC_PRIO_MASK_P2", "MAX_ACC_OUT_READ"),
    *("ADVANCED_PCI_SETTINGS", "SRIOV_EN", "NUM_OF_VFS"),
)
"""Settings of the firmware of NVIDIA's adapters that are compared, by their names in mlxconfig and mstconfig."""


settings = keyed("firmware_settings.tsv", FirmwareSetting, lambda row: row.name)
"""By name, in the order of the table."""
_families = listed("firmware_families.tsv", FirmwareFamily)


def family_of(system: str | None, name: str | None = None) -> FirmwareFamily | None:
    """The family of a name, or without one that of a system of the catalogue, if its attributes are known."""
    return next((one for one in _families() if (one.name == name if name else system in one.systems)), None)


def _values(text: str) -> Mapping[str, str]:
    return dict(pair.split("=", 1) for pair in re.split(r" (?=\w+=)", text) if pair)


attributes = listed("firmware_attributes.tsv", FirmwareAttribute, values=_values)
"""Of all families."""


@cache
def _any_attribute() -> re.Pattern[str]:
    return re.compile("|".join(translate(row.attribute) for row in attributes()))


def attribute_patterns() -> frozenset[str]:
    """Names of all families' attributes."""
    return frozenset(row.attribute for row in attributes())


def is_known(attribute: str) -> bool:
    """True if some family has an attribute of this name."""
    return _any_attribute().match(attribute) is not None
