"""Probes from outside as written."""

from typing import Annotated

from pydantic import Field

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, PortNumber, Section, Url, field
from clustergen.units import Bare


class Blackbox(Section):
    """blackbox_exporter on the monitoring nodes."""

    port: PortNumber = field(ports()["blackbox-exporter"].port, "Port.")
    interval: Annotated[int, Field(ge=15, le=3600), Bare("second")] = field(60, "Time between two probes.")
    ssh: bool = field(True, "Probe sshd of all nodes.")
    bmc: bool = field(True, "Probe the web pages of BMCs, by the names of /etc/hosts: host-bmc.")
    web: tuple[Url, ...] = field((), "Web pages to probe.")


PLACES = {
    "monitoring.blackbox": (
        Annotated[Blackbox | None, NOT_EMPTY],
        field(None, "Probes of sshd, BMCs and web pages from outside."),
    )
}
