"""Alerts on dates: certificates in files of the nodes, and licences and contracts that the manifest lists."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from clustergen.cluster.model import Cluster
from clustergen.features.expiry.needs import METRIC, reads_certificates
from clustergen.features.expiry.resolved import Expiry
from clustergen.render.alerts import Alert, Topic

_CERTIFICATE_DAYS = 14
_LICENCE_DAYS = 30
_DAY = 86400


def topic(cluster: Cluster) -> Topic | None:
    alerts = (*(_certificates() if reads_certificates(cluster) else ()), *_licences(cluster))
    return (
        Topic(
            "expiry",
            "Dates of certificates, licences and contracts.",
            (),
            alerts,
            look="`openssl x509 -noout -enddate -in FILE` shows the date of a certificate.",
            page="monitoring",
            works="everything that depends on the date, until then",
            place=140,
        )
        if alerts
        else None
    )


def _certificates() -> Iterator[Alert]:
    yield Alert(
        "CertificateFileExpires", f"{METRIC} - time() < {_CERTIFICATE_DAYS * _DAY}", "1h", "warning",
        summary="{{ $labels.file }} on {{ $labels.instance }} expires in {{ $value | humanizeDuration }}",
        meaning="After that, rsyslog cannot send logs to the collector, SSSD reaches no LDAP server, or browsers refuse"
        " Grafana's pages.",
        action="Renew the certificate and install it on every node that has it. Then restart the service that reads it:"
        " rsyslog, sssd or grafana-server.",
    )  # fmt: skip


def _licences(cluster: Cluster) -> Iterator[Alert]:
    for name, day in cluster.of(Expiry).dates.items() if cluster.has(Expiry) else ():
        end = int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()) + _DAY  # it is still valid that day
        for severity, days in (("warning", _LICENCE_DAYS), ("critical", 0)):
            yield Alert(
                "LicenceExpired" if severity == "critical" else "LicenceExpires",
                f"{end} - vector(time()) < {days * _DAY}" + (" > 0" if days else ""), "1h", severity,  # type: ignore[arg-type]
                summary=f"{name} ends on {day}" if days else f"{name} ended on {day}",
                meaning="The manifest lists this date in monitoring.expires. What depends on the licence or contract"
                " may stop.",
                action="Renew it, and enter the new date in the manifest; then render and apply.",
                labels=(("licence", name),),
            )  # fmt: skip
