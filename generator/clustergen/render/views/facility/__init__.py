"""`facility/` of the tree: what is bought, where it stands, what it draws and how it is cabled."""

from __future__ import annotations

from clustergen.render.file import File
from clustergen.render.formats import TABLE
from clustergen.render.views.facility.cables import cables_csv

FILES = (File("tree/facility/cables.csv", cables_csv, format=TABLE, source="tree/facility/table.csv"),)
