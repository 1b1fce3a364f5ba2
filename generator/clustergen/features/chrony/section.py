"""The clocks of all nodes."""

from __future__ import annotations

from clustergen.manifest.base import field

PLACES = {"host.chrony": (bool, field(True, "Configure chrony."))}
