"""A daemon of the nodes that listens on a TCP port, for records of features."""

from __future__ import annotations

from clustergen.diagnostics import ManifestPath
from clustergen.records import record


@record
class Listener:
    """`port_at`: the path in the manifest that sets the port; None where it is left to the default."""

    port: int
    port_at: ManifestPath | None
