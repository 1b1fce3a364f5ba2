"""The program that counts errors in the kernel's log."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.contributions import Certificate
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import textfile
from clustergen.features.kernel_log.needs import TEXTFILE
from clustergen.render.file import Context
from clustergen.render.timers import timed


def values(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """The program's: the file that it writes, and files with certificates, whose ends it exports as well."""
    file = textfile(cluster, os, TEXTFILE)
    certificates = dict.fromkeys(certificate.path for certificate in cluster.needs(Certificate))
    return {"metrics_file": file, "certificates": tuple(certificates)} if file else None


FILES = tuple(timed("all", "metrics/clustergen-kernel-metrics.sh", values))
