"""Logs of all nodes in one place."""

from typing import Annotated

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, PortNumber, Section, field, section
from clustergen.units import Bytes, Duration


class LogTls(Section):
    """Files on every node, in PEM form, which the site installs. Each node's certificate is signed by one authority."""

    ca: AbsolutePath = field(..., "Certificate of the authority.")
    certificate: AbsolutePath = field(
        ..., "Certificate of the node; a collector's is issued for the host name that the nodes know."
    )
    key: AbsolutePath = field(..., "Private key of the node.")


class Logs(Section):
    """Central logs: every node sends its log to the nodes with the role log-collector."""

    port: PortNumber = field(ports()["log-collector"].port, "Port of the collectors.")
    retention: Duration = field("30d", "Time after which the logs of a day are deleted.", validate_default=True)
    retention_size: Bytes = field("50GiB", "Maximum size of all logs on a collector.", validate_default=True)
    queue_size: Bytes = field(
        "1GiB", "Maximum size of the queue on a node's disk while a collector does not respond.", validate_default=True
    )
    tls: Annotated[LogTls | None, NOT_EMPTY] = field(None, "Encryption, with certificates for both sides.")


PLACES = {"logs": (Logs, section(Logs, "Central logs."))}
