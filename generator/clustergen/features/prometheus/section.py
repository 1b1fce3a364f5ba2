"""Prometheus, as written."""

from typing import Annotated

from clustergen.catalogue.network import ports
from clustergen.manifest.base import Endpoint, Name, Phrase, PortNumber, Url, field, text
from clustergen.units import Bytes, Duration

LabelName = Annotated[str, text(r"^[a-zA-Z_][a-zA-Z0-9_]*$", "use letters, digits and _, and begin with a letter")]

PLACES = {
    "monitoring.retention": (Duration, field("30d", "Retention time of samples.", validate_default=True)),
    "monitoring.retention_size": (Bytes | None, field(None, "Maximum size of all samples.")),
    "monitoring.port": (PortNumber, field(ports()["prometheus"].port, "Port of Prometheus.")),
    "monitoring.remote_write": (tuple[Url, ...], field((), "Remote stores that receive all samples.")),
    "monitoring.targets": (dict[Name, tuple[Endpoint, ...]], field({}, "More jobs: {ipmi: [bmc1:9290]}.")),
    "monitoring.labels": (dict[LabelName, Phrase], field({}, "External labels.")),
}
