"""Logs of all nodes in one place."""

from typing import Annotated

from clustergen.catalogue.network import ports
from clustergen.manifest.base import NOT_EMPTY, AbsolutePath, PortNumber, Section, UserName, field, section, text
from clustergen.units import Bytes, Duration


class LogTls(Section):
    """Files on every node, in PEM form, which the site installs. Each node's certificate is signed by one authority."""

    ca: AbsolutePath = field(..., "Certificate of the authority.")
    certificate: AbsolutePath = field(
        ..., "Certificate of the node; a collector's is issued for the host name that the nodes know."
    )
    key: AbsolutePath = field(..., "Private key of the node.")


IndexName = Annotated[
    str, text(r"^[a-z0-9][a-z0-9_-]*$", "use lower-case letters, digits, - and _, as cluster-logs", 63)
]
# Without a port, rsyslog and the program that deletes indexes would each take one of their own.
SearchServer = Annotated[
    str, text(r"^https?://[A-Za-z0-9.-]+:[0-9]{1,5}/?$", "write host and port: https://search.example.org:9200", 255)
]


class LogSearch(Section):
    """Elasticsearch or OpenSearch, which the site operates. The password of `user` is the secret `log-search`."""

    servers: tuple[SearchServer, ...] = field(
        ...,
        "Addresses with their ports, without a path.",
        min_length=1,
        sample="[https://search.example.org:9200]",
    )
    index: IndexName = field("cluster-logs", "Name of the indexes, to which the day is added: cluster-logs-2026.11.28.")
    retention: Duration = field("30d", "Time after which the index of a day is deleted.", validate_default=True)
    user: UserName | None = field(None, "Account with rights on these indexes and their template. Default: none.")
    ca: AbsolutePath | None = field(
        None,
        "Certificate of the servers' authority, a file on the collectors; default: those that the operating system"
        " trusts.",
    )


class Logs(Section):
    """Central logs: every node sends its log to the nodes with the role log-collector."""

    port: PortNumber = field(ports()["log-collector"].port, "Port of the collectors.")
    retention: Duration = field("30d", "Time after which the logs of a day are deleted.", validate_default=True)
    retention_size: Bytes = field("50GiB", "Maximum size of all logs on a collector.", validate_default=True)
    queue_size: Bytes = field(
        "1GiB", "Maximum size of the queue on a node's disk while a collector does not respond.", validate_default=True
    )
    tls: Annotated[LogTls | None, NOT_EMPTY] = field(None, "Encryption, with certificates for both sides.")
    search: Annotated[LogSearch | None, NOT_EMPTY] = field(
        None, "Index the logs in Elasticsearch or OpenSearch, from the first collector."
    )


PLACES = {"logs": (Logs, section(Logs, "Central logs."))}
