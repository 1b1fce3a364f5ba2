"""The clocks of all nodes."""

from clustergen.manifest.base import field

PLACES = {"host.chrony": (bool, field(True, "Configure chrony."))}
