"""process-exporter as resolved."""

from __future__ import annotations

from clustergen.cluster.listener import Listener
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.manifest.stated import stated_at
from clustergen.records import copied, record
from clustergen_process_exporter import section as manifest


@record
class ProcessExporter(Listener):
    """process-exporter of login nodes."""

    cores: int


def resolve(section: manifest.ProcessExporter, cluster: Cluster) -> ProcessExporter | None:
    if not cluster.has(Monitoring):
        return None
    return copied(ProcessExporter, section, port_at=stated_at(section, "process_exporter", "port"))


RECORDS = {ProcessExporter: resolve}
