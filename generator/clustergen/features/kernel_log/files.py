"""The program that counts errors in the kernel's log."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.contributions import Certificate
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.kernel_log.needs import TEXTFILE
from clustergen.records import record
from clustergen.render.timers import timed


@record
class Values:
    """The program's: the file that it writes, and files with certificates, whose ends it exports as well."""

    metrics_file: str
    certificates: tuple[str, ...]


def values(cluster: Cluster, os: OperatingSystem) -> Values | None:
    file = textfile(cluster, os, TEXTFILE)
    certificates = dict.fromkeys(certificate.path for certificate in cluster.needs(Certificate))
    return Values(file, tuple(certificates)) if file else None


FILES = tuple(timed("all", "metrics/clustergen-kernel-metrics.sh", values))
