"""Alerts on probes of the blackbox exporter."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.features.blackbox.resolved import Blackbox
from clustergen.render.alerts import Alert, Topic, unless_asleep


def topic(cluster: Cluster, _: Blackbox) -> Topic:
    return Topic(
        "probes",
        "Probes of sshd, BMCs and web pages.",
        (),
        tuple(_probes(cluster)),
        look="From the monitoring node, connect by hand: `ssh HOST`, or `curl -kv https://HOST/`.",
        page="monitoring",
        works="the cluster and its jobs, unless other alerts fire: a probe reports one way in",
        place=90,
    )


def _probes(cluster: Cluster) -> Iterator[Alert]:
    port = cluster.of(Blackbox).port
    yield Alert(
        "ProbeFailed", "probe_success == 0" + unless_asleep(cluster), "5m", "warning",
        summary="{{ $labels.job }} of {{ $labels.instance }} fails",
        meaning="probe-ssh: sshd does not answer; probe-bmc: the BMC accepts no connection; probe-web: the page is not"
        " served.",
        action=f"On the monitoring node: `curl 'localhost:{port}/probe?module=ssh&target=HOST:22&debug=true'` shows"
        " each step.",
    )  # fmt: skip
    yield Alert(
        "CertificateExpires", "probe_ssl_earliest_cert_expiry - time() < 14 * 86400", "1h", "warning",
        summary="The certificate of {{ $labels.instance }} expires in {{ $value | humanizeDuration }}",
        meaning="Browsers and programs refuse the page after that.",
        action="Renew the certificate, and reload the server.",
    )  # fmt: skip
