"""Files of the machine room, in `facility/` of the tree."""

from __future__ import annotations

from functools import partial

from clustergen.cluster.networks import NETWORKS
from clustergen.features.facility.elevations import elevations
from clustergen.features.facility.network_pictures import network_picture
from clustergen.features.facility.readme import facility_readme
from clustergen.features.facility.tables import (
    bom_csv,
    cables_csv,
    device_type_yaml,
    devices_csv,
    power_feeds_csv,
    racks_csv,
)
from clustergen.features.facility.topology_dot import topology_dot
from clustergen.render.file import File
from clustergen.render.formats import TABLE

_TABLE = "tree/facility/table.csv"

FILES = (
    File("tree/facility/README.md", facility_readme),
    File("tree/facility/bom.csv", bom_csv, format=TABLE, source=_TABLE),
    File("tree/facility/cables.csv", cables_csv, format=TABLE, source=_TABLE),
    File("tree/facility/devices.csv", devices_csv, format=TABLE, source=_TABLE),
    File("tree/facility/racks.csv", racks_csv, format=TABLE, source=_TABLE),
    File("tree/facility/power-feeds.csv", power_feeds_csv, format=TABLE, source=_TABLE),
    File("tree/facility/device-types/{device_type}.yaml", device_type_yaml, source="tree/facility/device-type.yaml"),
    File("tree/facility/topology.dot", topology_dot),
    File("tree/facility/{row}.svg", elevations, source="tree/facility/racks.svg"),
    *(
        File(f"tree/facility/{name}.svg", partial(network_picture, name), source="tree/facility/network.svg")
        for name in NETWORKS
    ),
)
