"""Backups: timers that dump the accounting database and copy slurmctld's state to storage of other machines."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, textfile
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, Accounting
from clustergen.features.backups.resolved import TEXTFILE, Backups, Kind
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import File

_CALENDAR = {
    ("database", "day"): "*-*-* 02:15:00",
    ("database", "hour"): "*-*-* *:15:00",
    ("state", "day"): "*-*-* 02:45:00",
    ("state", "hour"): "*-*-* *:45:00",
}


@record
class Values:
    """Values of clustergen-backup-KIND. `metrics_file`: for node_exporter, or empty. `state`: slurmctld's directory.

    Where mariadb-dump connects: `database_host` is empty for the socket, `secret_file` without a password.
    """

    user: str
    cluster: str
    directory: str
    keep_days: int
    metrics_file: str
    state: str
    database: str
    database_user: str
    database_host: str
    database_port: str
    secret_file: str


@record
class Units:
    """The service and the timer of one backup."""

    title: str
    script: str
    user: str
    host: str
    directory: str
    period: str
    calendar: str
    has_metrics: bool


def _backups(cluster: Cluster, kind: Kind) -> Backups | None:
    """None where this kind of backup is not made."""
    return backups if cluster.has(Backups) and kind in (backups := cluster.of(Backups)).periods else None


def _units(cluster: Cluster, kind: Kind) -> Units | None:
    backups = _backups(cluster, kind)
    if backups is None:
        return None
    hosts = cluster.slurm.accounting_hosts if kind == "database" else cluster.slurm.controllers
    period = backups.periods[kind]
    return Units(
        title="the accounting database of Slurm" if kind == "database" else "the state of slurmctld",
        script=f"/usr/local/sbin/clustergen-backup-{kind}",
        user=cluster.slurm.user,
        host=hosts[0],
        directory=backups.directory,
        period=period,
        calendar=_CALENDAR[kind, period],
        has_metrics=cluster.has(NodeExporter),
    )


def _values(cluster: Cluster, os: OperatingSystem, kind: Kind) -> Values | None:
    backups, accounting = _backups(cluster, kind), cluster.of(Accounting)
    if backups is None:
        return None
    return Values(
        user=cluster.slurm.user,
        cluster=cluster.slurm.cluster_name,
        directory=backups.directory,
        keep_days=backups.keep_days,
        metrics_file=textfile(cluster, os, TEXTFILE.format(kind=kind)),
        state=cluster.slurm.state_location.rstrip("/"),
        database=accounting.database_name,
        database_user=accounting.database_user,
        database_host="" if accounting.database_is_local else accounting.database_host,
        database_port="" if accounting.database_port is None else str(accounting.database_port),
        secret_file=PASSWORD_FILE if accounting.has_password else "",
    )


def _rows(group: str, kind: Kind) -> tuple[File, ...]:
    def units(cluster: Cluster) -> Units | None:
        return _units(cluster, kind)

    def values(cluster: Cluster, os: OperatingSystem) -> Values | None:
        return _values(cluster, os, kind)

    name, unit = f"clustergen-backup-{kind}", "slurm_controller/etc/systemd/system/clustergen-backup"
    place = f"{group}/etc/systemd/system/{name}"
    program = "backup/clustergen-backup.sh"
    return (
        File(f"{group}/usr/local/sbin/{name}", units, mode=0o755, program=program),
        File(f"{group}/etc/clustergen/backup-{kind}.sh", values, values=True, per="os"),
        File(f"{place}.service", units, DAEMON_RELOAD, source=f"{unit}.service"),
        File(f"{place}.timer", units, restart(f"{name}.timer"), source=f"{unit}.timer"),
    )


FILES = (*_rows("slurm_accounting", "database"), *_rows("slurm_controller", "state"))
