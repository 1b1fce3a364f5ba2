"""cables.csv: every cable with both ends, in the columns that NetBox imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.cluster.model import Cluster
from clustergen.facility.cabling import cables
from clustergen.facility.model import Cable, Device, End
from clustergen.facility.placement import devices
from clustergen.render.views.facility.csv_table import CsvTable, csv_table

_COLUMNS = (
    *("side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name"),
    *("type", "status", "label", "length", "length_unit", "description"),
)
_INTERFACE = "dcim.interface"


def cables_csv(cluster: Cluster) -> CsvTable | None:
    """None where no network names its switches."""
    made = cables(cluster)
    return csv_table(_COLUMNS, _rows(made, devices(cluster))) if made else None


def _rows(made: tuple[Cable, ...], placed: Mapping[str, Device]) -> Iterator[tuple[object, ...]]:
    where = {name: _where(device) for name, device in placed.items()}
    for cable in made:
        a, b = cable.a, cable.b
        yield (
            *(a.device, _INTERFACE, a.port, b.device, _INTERFACE, b.port),
            cable.medium.netbox_type if cable.medium else "",
            "planned",
            f"{_label(a)} | {_label(b)}",
            cable.length_m,
            "m" if cable.length_m is not None else "",
            _description(cable, where),
        )


def _label(end: End) -> str:
    return f"{end.device} {end.port}"


def _where(device: Device) -> str:
    return f"{device.place.rack} U{device.place.unit}" if device.place else "no place"


def _description(cable: Cable, where: Mapping[str, str]) -> str:
    parts = [cable.network]
    if cable.rail is not None:
        parts.append(f"rail {cable.rail}")
    if cable.gbit:
        parts.append(f"{cable.gbit} Gb/s")
    parts.append(f"{where[cable.a.device]} to {where[cable.b.device]}")
    if cable.derived_m is not None:
        parts.append(f"{cable.derived_m:g} m by geometry")
    if medium := cable.medium:
        several = f", {medium.links} links each" if medium.links > 1 else ""
        parts.append(f"{medium.id}{several}")
    return "; ".join(parts)
