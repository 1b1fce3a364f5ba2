"""Alerts on the directory of users: nodes that reach no server of it, and programs that do not report."""

from __future__ import annotations

from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.identity.needs import DOMAIN, TEXTFILE
from clustergen.features.identity.resolved import Identity
from clustergen.render.alerts import Alert, Topic

_LOOK = f"On a node: `sssctl domain-status {DOMAIN}`, and the last lines of `/var/log/sssd/sssd_{DOMAIN}.log`."


def topic(identity: Identity, _: NodeExporter) -> Topic:
    servers = ", ".join(identity.servers)
    alerts = (
        Alert(
            "DirectoryOffline", "count(clustergen_directory_online == 0) > 0", "10m", "warning",
            summary="{{ $value }} nodes reach no server of the directory",
            meaning="SSSD answers from its cache: users who have logged in there before still can, others are unknown.",
            action="`clustergen_directory_online == 0` in Prometheus lists the nodes. Many of them: the servers, their"
            " certificates or the password of the account are wrong. One: its network, or its files."
            f" Servers: {servers}.",
        ),
        Alert(
            "DirectoryMetricsOld", f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 1800', "0s",
            "warning",
            summary="{{ $labels.instance }} has not asked SSSD for {{ $value | humanizeDuration }}",
            meaning="DirectoryOffline cannot fire for this node.",
            action="On the node: `systemctl status clustergen-directory-metrics.timer clustergen-directory-metrics`.",
        ),
    )  # fmt: skip
    return Topic(
        "directory",
        "Directory of users.",
        (),
        alerts,
        look=_LOOK,
        page="node",
        works="running jobs, and users whom the nodes remember",
        place=135,
    )
