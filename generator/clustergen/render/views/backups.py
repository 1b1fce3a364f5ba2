"""Backups: timers that dump the accounting database and copy slurmctld's state to storage of other machines."""

from __future__ import annotations

from typing import Literal

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import File
from clustergen.render.formats import SHELL
from clustergen.render.views.alerts.backups import TEXTFILE, kinds
from clustergen.render.views.exporters import node_exporter
from clustergen.render.views.slurm.daemons import state_location
from clustergen.render.views.slurm.slurmdbd import SECRET, database_endpoint, has_password, is_local

_CALENDAR = {
    ("database", "day"): "*-*-* 02:15:00",
    ("database", "hour"): "*-*-* *:15:00",
    ("state", "day"): "*-*-* 02:45:00",
    ("state", "hour"): "*-*-* *:45:00",
}


@record
class Database:
    """Where mariadb-dump connects. `host`: empty for the socket; `secret`: file with the password, empty without."""

    name: str
    user: str
    host: str
    port: str
    secret: str


@record
class Backup:
    """The script, its unit and its timer. Exactly one of `database` and `state` is what it saves.

    `metrics`: file for node_exporter, empty for none. `daemon`: what must be stopped before a restore.
    """

    kind: str
    title: str
    script: str
    user: str
    host: str
    cluster: str
    directory: str
    keep_days: int
    period: str
    calendar: str
    daemon: str
    metrics: str
    database: Database | None
    state: str


def _database(cluster: Cluster) -> Database:
    spec = cluster.manifest.slurm.accounting
    host, port = ("", "") if is_local(cluster) else database_endpoint(cluster)
    return Database(spec.database_name, spec.database_user, host, port, SECRET if has_password(cluster) else "")


def _backup(cluster: Cluster, os: OperatingSystem, kind: Literal["database", "state"]) -> Backup | None:
    spec = cluster.manifest.backups
    if spec is None or kind not in kinds(cluster):
        return None
    hosts = cluster.accounting_hosts if kind == "database" else cluster.controllers
    period: str = getattr(spec, kind)
    textfiles = os.fact("node_exporter_textfile_dir") if node_exporter(cluster, os) else ""
    return Backup(
        kind=kind,
        title="the accounting database of Slurm" if kind == "database" else "the state of slurmctld",
        script=f"/usr/local/sbin/clustergen-backup-{kind}",
        user=cluster.manifest.slurm.user,
        host=hosts[0],
        cluster=cluster.slurm_name,
        directory=spec.directory.rstrip("/"),
        keep_days=spec.keep_days,
        period=period,
        calendar=_CALENDAR[kind, period],
        daemon="slurmdbd" if kind == "database" else "slurmctld",
        metrics=f"{textfiles}/{TEXTFILE.format(kind=kind)}" if textfiles else "",
        database=_database(cluster) if kind == "database" else None,
        state="" if kind == "database" else state_location(cluster).rstrip("/"),
    )


def database(cluster: Cluster, os: OperatingSystem) -> Backup | None:
    return _backup(cluster, os, "database")


def state(cluster: Cluster, os: OperatingSystem) -> Backup | None:
    return _backup(cluster, os, "state")


_SOURCE = "slurm_controller/usr/local/sbin/clustergen-backup"
_UNIT = "slurm_controller/etc/systemd/system/clustergen-backup"
FILES: tuple[File, ...] = tuple(
    row
    for group, kind, view in (("slurm_accounting", "database", database), ("slurm_controller", "state", state))
    for row in (
        File(
            f"{group}/usr/local/sbin/clustergen-backup-{kind}",
            view,
            mode=0o755,
            per="os",
            format=SHELL,
            source=_SOURCE,
        ),
        File(
            f"{group}/etc/systemd/system/clustergen-backup-{kind}.service",
            view,
            DAEMON_RELOAD,
            per="os",
            source=f"{_UNIT}.service",
        ),
        File(
            f"{group}/etc/systemd/system/clustergen-backup-{kind}.timer",
            view,
            restart(f"clustergen-backup-{kind}.timer"),
            per="os",
            source=f"{_UNIT}.timer",
        ),
    )
)
