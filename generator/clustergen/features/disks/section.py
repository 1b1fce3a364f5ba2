"""The health of disks, as written."""

from clustergen.manifest.base import field

PLACES = {
    "monitoring.smart": (bool, field(False, "Health of local disks on all nodes, read by smartctl every 15 minutes."))
}
