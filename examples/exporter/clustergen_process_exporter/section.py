"""The section of the manifest."""

from __future__ import annotations

from clustergen.manifest.base import PortNumber, Section, field, section


class ProcessExporter(Section):
    """process-exporter on login nodes."""

    port: PortNumber = field(9256, "Port.")
    cores: int = field(4, "Cores that a user may keep busy for half an hour before an alert.")


PLACES = {"process_exporter": (ProcessExporter | None, section(ProcessExporter, "Processor time and memory by user."))}
