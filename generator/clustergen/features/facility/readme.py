"""facility/README.md: what the machine room takes and costs, and what is open before an order."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.facility.cabling import cables
from clustergen.features.facility.needs import pictures
from clustergen.features.facility.questions import questions
from clustergen.features.facility.readme_cooling import cooling_tables
from clustergen.features.facility.readme_fabric import fabric_tables
from clustergen.features.facility.readme_room import room_tables
from clustergen.features.facility.refresh import refresh_table
from clustergen.features.facility.tables import has_facility
from clustergen.records import record, replace
from clustergen.render.views.tables import Table

_CODE = frozenset({"Racks", "Row", "Loop", "Devices", "Feed", "Item", "Part", "Leaves", "Model", "File system"})


@record
class FacilityReadme:
    """The page."""

    name: str
    files: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    questions: tuple[tuple[str, str], ...]


def facility_readme(cluster: Cluster) -> FacilityReadme | None:
    """None where the manifest says nothing of racks, switches or the room."""
    if not has_facility(cluster):
        return None
    files = [("bom.csv", "bill of materials, with prices where the manifest has them")]
    if cables(cluster):
        files.append(("cables.csv", "each cable with both ports, medium and length"))
    files += [(picture.path.removeprefix("facility/"), picture.title) for picture in pictures(cluster)]
    tables = (*room_tables(cluster), *cooling_tables(cluster), *fabric_tables(cluster), refresh_table(cluster))
    shown = tuple(replace(table, code=_CODE) for table in tables if table.rows)
    return FacilityReadme(cluster.name, tuple(files), shown, tuple(questions(cluster)))
