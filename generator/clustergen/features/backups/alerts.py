"""Alerts on backups: the last one is too old, or there never was one."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.backups.resolved import Backups, Kind
from clustergen.render.alerts import Alert, Topic

_LIMITS = {"hour": 3 * 3600, "day": 26 * 3600}
"""Seconds: two hourly backups may fail; a daily one has two hours for its run."""


def _alerts(kind: Kind, limit: int) -> Iterator[Alert]:
    series = f'clustergen_backup_timestamp_seconds{{backup="{kind}"}}'
    service = f"clustergen-backup-{kind}"
    labels = (("backup", kind),)
    look = f"`journalctl -u {service}` names the reason; `systemctl start {service}` repeats the backup."
    yield Alert(
        "BackupStale", f"time() - max({series}) > {limit}", "0s", "warning",
        summary=f"The last backup of Slurm's {kind} is {{{{ $value | humanizeDuration }}}} old",
        meaning="What was recorded since then would be lost with its disk.",
        action=look,
        labels=labels,
    )  # fmt: skip
    yield Alert(
        "BackupMissing", f"absent({series})", f"{limit}s", "warning",
        summary=f"There is no backup of Slurm's {kind}",
        meaning="The timer has never run to its end, or its host does not report.",
        action=look,
        labels=labels,
    )  # fmt: skip


def topic(cluster: Cluster) -> Topic | None:
    periods = cluster.of(Backups).periods if cluster.has(Backups) else {}
    if not periods or not cluster.has(NodeExporter):
        return None
    alerts = [alert for kind, period in periods.items() for alert in _alerts(kind, _LIMITS[period])]
    return Topic(
        "backups",
        "Backups of Slurm: age.",
        (),
        tuple(alerts),
        look="On the controller: `systemctl list-timers 'clustergen-*'`.",
        page="overview",
        works="Slurm and all jobs; what was backed up before can be restored",
        place=170,
    )
