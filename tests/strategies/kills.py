"""Failures that a lab can show: how to cause each, the alert that it raises, and its repair."""

from __future__ import annotations

from typing import NamedTuple

_METRICS = "/var/lib/prometheus/node-exporter"
_STATE = "/var/lib/slurm/slurmctld"
_SCHEMA = "mariadb slurm_acct_db"
_PROLOG = "/etc/slurm/prolog.d/00-lab"


class Kill(NamedTuple):
    """`fails` and `repairs` are scripts of the shell on `host`."""

    id: str
    host: str
    fails: str
    repairs: str
    alert: str
    """Its name, severity, node or rack and unit, as far as it has them."""
    follows_s: int = 5
    """Within this time, an alert on what follows from it would fire as well."""


def _stopped(unit: str, host: str, alert: str = "", *, follows_s: int = 5) -> Kill:
    alert = alert or f"NodeServiceStopped warning {host} {unit}.service"
    name = f"{unit} of {host}"
    return Kill(name, host, f"systemctl stop {unit}", f"systemctl start {unit}", alert, follows_s)


def _killed(unit: str, host: str, alert: str = "", *, follows_s: int = 5) -> Kill:
    """Ended by a signal; systemd would start it again."""
    drop_in = f"/run/systemd/system/{unit}.service.d"
    fails = rf"mkdir -p {drop_in}; printf '[Service]\nRestart=no\n' >{drop_in}/97-lab.conf"
    return Kill(
        f"{unit} of {host} killed",
        host,
        f"{fails}; systemctl daemon-reload; systemctl kill -s KILL {unit}",
        f"rm -r {drop_in}; systemctl daemon-reload; systemctl start {unit}",
        alert or f"NodeUnitFailed warning {host} {unit}.service",
        follows_s,
    )


KILLS = (
    _stopped("slurmctld", "slurm-head", "SlurmctldUnreachable critical"),
    _stopped("slurmd", "compute02", follows_s=25),
    _stopped("prometheus-node-exporter", "compute02", "NodeDown critical compute02"),
    _stopped("mariadb", "slurm-head"),
    _stopped("munge", "compute02", follows_s=25),
    _stopped("munge", "slurm-head", "SlurmctldUnreachable critical"),
    _stopped("munge", "login1"),
    _stopped("chrony", "compute02"),
    _killed("slurmdbd", "slurm-head"),
    _killed("mariadb", "slurm-head"),
    _killed("slurmd", "compute02", follows_s=25),
    _killed("munge", "compute02", follows_s=25),
    _killed("slurmctld", "slurm-head", "SlurmctldUnreachable critical"),
    Kill(
        "a node is drained",
        "slurm-head",
        "scontrol update nodename=compute02 state=drain reason=fan",
        "scontrol update nodename=compute02 state=resume",
        "SlurmNodeDrained warning compute02",
    ),
    Kill(
        "prolog fails",
        "compute02",
        rf"printf '#!/bin/sh\nexit 1\n' >{_PROLOG}; chmod 755 {_PROLOG};"
        " cd /tmp; runuser -u alice -- sbatch -o /dev/null -w compute02 --gpus=1 --wrap true",
        f"rm {_PROLOG}; scancel -u alice; scontrol update nodename=compute02 state=resume",
        "SlurmPrologFailed warning compute02",
    ),
    Kill(
        "metrics that cannot be read",
        "compute02",
        f"echo 'lab{{' >{_METRICS}/lab.prom",
        f"rm {_METRICS}/lab.prom",
        "TextfileUnreadable warning compute02",
    ),
    Kill(
        "timer of kernel metrics",
        "compute02",
        f"systemctl stop clustergen-kernel-metrics.timer; touch -d '20 minutes ago' {_METRICS}/kernel.prom",
        "systemctl start clustergen-kernel-metrics.timer clustergen-kernel-metrics.service",
        "KernelMetricsOld warning compute02",
    ),
    Kill(
        "timer of Slurm's metrics",
        "slurm-head",
        f"systemctl stop clustergen-slurm-metrics.timer clustergen-slurm-metrics.service; rm {_METRICS}/slurm.prom",
        "systemctl start clustergen-slurm-metrics.timer clustergen-slurm-metrics.service",
        "SlurmMetricsMissing warning",
    ),
    Kill(
        "backups that cannot be written",
        "slurm-head",
        "install -d -o slurm -m 700 /srv/backups; mount -t tmpfs -o ro,mode=700,uid=slurm none /srv/backups;"
        " systemctl start clustergen-backup-state || true",
        "umount /srv/backups; systemctl start clustergen-backup-state",
        "NodeUnitFailed warning slurm-head clustergen-backup-state.service",
    ),
    Kill(
        "state of another cluster",
        "slurm-head",
        f"systemctl stop slurmctld; cp -p {_STATE}/clustername /run/clustername; echo other >{_STATE}/clustername;"
        " systemctl start --no-block slurmctld",
        f"cp -p /run/clustername {_STATE}/clustername; systemctl restart slurmctld",
        "SlurmctldUnreachable critical",
    ),
    Kill(
        "database with an older schema",
        "slurm-head",
        f"{_SCHEMA} -e 'create table kept as select * from convert_version_table;"
        " update convert_version_table set version = 1'; systemctl restart --no-block slurmdbd",
        f"{_SCHEMA} -e 'update convert_version_table set version = (select version from kept); drop table kept';"
        " systemctl restart slurmdbd",
        "NodeServiceStopped warning slurm-head slurmdbd.service",
    ),
    Kill(
        "munge key that differs",
        "compute02",
        "cp -p /etc/munge/munge.key /run/munge.key; head -c 1024 /dev/urandom >/etc/munge/munge.key;"
        " systemctl restart munge slurmd",
        "cp -p /run/munge.key /etc/munge/munge.key; systemctl restart munge slurmd",
        "SlurmNodeDown warning compute02",
        follows_s=25,
    ),
)
