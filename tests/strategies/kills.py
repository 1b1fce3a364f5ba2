"""Failures that a lab can show: how to cause each, the alert that it raises, and its repair."""

from __future__ import annotations

from typing import NamedTuple


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
    _killed("slurmdbd", "slurm-head"),
    _killed("mariadb", "slurm-head"),
)
