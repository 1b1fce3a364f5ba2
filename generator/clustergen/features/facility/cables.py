"""cables.csv: every cable with both ends, in the columns that NetBox imports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.cabling import Medium
from clustergen.cluster.model import Cluster
from clustergen.facility.cabling import cables
from clustergen.facility.model import Cable, Device
from clustergen.facility.placement import devices
from clustergen.features.facility.csv_table import CsvTable, csv_table

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
            _label(cable),
            cable.length_m,
            "m" if cable.length_m is not None else "",
            _description(cable, where),
        )


def _label(cable: Cable) -> str:
    """The text for both ends. A twin cable is one piece in two cages, so its rows have one label."""
    if _is_twin(cable):
        return f"{cable.a.device} {cable.a.cage} | {cable.b.device} {cable.b.cage}"
    return f"{cable.a.device} {cable.a.port} | {cable.b.device} {cable.b.port}"


def _is_twin(cable: Cable) -> bool:
    medium = cable.medium
    return medium is not None and medium.links > 1 and not medium.is_splitter


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
        parts += [*_shared(cable, medium), medium.id]
    return "; ".join(parts)


def _shared(cable: Cable, medium: Medium) -> Iterator[str]:
    """The common part of this row and others: one cable, or one module in a cage of several ports."""
    a, b = cable.a, cable.b
    if _is_twin(cable):
        yield f"one cable for {medium.links} rows: cage {a.cage} to cage {b.cage}"
    elif medium.is_splitter:
        trunk = f"port {b.port.rpartition('/')[0]}" if medium.fibre else f"cage {b.cage}"
        yield f"one splitter for {medium.links} rows: {trunk} of {b.device}"
    if medium.fibre:
        modules = [
            f"cage {end.cage} of {end.device}"
            for end, ports in ((a, medium.ports_b), (b, medium.ports_a))
            if ports > 1 and end.cage != end.port
        ]
        if modules:
            yield f"module shared with the other port of {' and of '.join(modules)}"
