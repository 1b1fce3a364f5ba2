"""node_exporter, as written."""

from typing import Annotated

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import PortNumber, Section, field, section, text
from clustergen.units import Bare


class NodeExporter(Section):
    """node_exporter."""

    enabled: bool = field(True, "On all nodes.")
    port: PortNumber = field(ports()["node-exporter"].port, "Port.")
    collectors: tuple[Annotated[str, text(r"^[a-z_]+$", "use lower-case letters and _, as systemd")], ...] = field(
        (), "More collectors."
    )


PLACES = {
    "monitoring.node_exporter": (NodeExporter, section(NodeExporter, "Host metrics.")),
    "monitoring.thresholds.node_down": (
        Annotated[int, Field(ge=1, le=86400), Bare("second")],
        field(300, "Time without response from a node."),
    ),
}
