"""JupyterHub on its node: settings, unit, account, PAM service and what sudo allows it."""

from __future__ import annotations

from typing import Any

from clustergen.cluster.model import Cluster
from clustergen.features.notebooks.choices import Choice, choices
from clustergen.features.notebooks.needs import PROGRAMS
from clustergen.features.notebooks.resolved import Notebooks
from clustergen.records import copied, record
from clustergen.render.effects import CREATE, DAEMON_RELOAD, restart
from clustergen.render.file import File
from clustergen.render.formats import CONF

UNIT = "jupyterhub.service"
_STATE = "/var/lib/jupyterhub"
_BACKUP = "/usr/local/sbin/clustergen-notebooks-backup"
_START = 600  # seconds that a job may wait in the queue


@record
class Values:
    """Values of jupyterhub_config.py. Empty: no certificate, no QOS; `idle_seconds` of 0: notebooks are not stopped."""

    bind_url: str
    host: str
    hub_port: int
    certificate: str
    key: str
    group: str
    programs: str
    state: str
    qos: str
    idle_seconds: int
    start_seconds: int
    choices: tuple[dict[str, Any], ...]
    backup: str
    backup_days: int


@record
class Hub:
    """Its unit and account. `host`: the one of the group's nodes that runs it."""

    host: str
    group: str
    programs: str
    state: str


@record
class Backup:
    """Its timer and service. `host`: the one of the group's nodes that runs the hub."""

    host: str
    directory: str
    program: str


def values(cluster: Cluster, notebooks: Notebooks) -> Values:
    tls = notebooks.tls
    return copied(
        Values,
        notebooks,
        bind_url=f"https://:{notebooks.port}" if tls else f"http://127.0.0.1:{notebooks.port}",
        certificate=tls.certificate if tls else "",
        key=tls.key if tls else "",
        programs=PROGRAMS,
        state=_STATE,
        idle_seconds=(notebooks.idle_minutes or 0) * 60,
        start_seconds=_START,
        choices=tuple(map(_row, choices(cluster))),
    )


def _row(choice: Choice) -> dict[str, Any]:
    return {
        "name": f"{choice.partition}/{choice.gpus}",
        "title": choice.title,
        "partition": choice.partition,
        "gres": choice.gres,
        "cpus": choice.cpus,
        "memory_mib": choice.memory_mib,
        "minutes": list(choice.minutes),
    }


def hub(_: Cluster, notebooks: Notebooks) -> Hub:
    return copied(Hub, notebooks, programs=PROGRAMS, state=_STATE)


def backup(_: Cluster, notebooks: Notebooks) -> Backup | None:
    return Backup(notebooks.host, notebooks.backup, _BACKUP) if notebooks.backup else None


_RESTART = restart(UNIT)
_TIMER = "clustergen-notebooks-backup.timer"
_ETC = "notebook_hub/etc"
FILES = (
    File(f"{_ETC}/sysusers.d/clustergen-jupyterhub.conf", hub, CREATE),
    File(f"{_ETC}/jupyterhub/jupyterhub_config.py", hub, _RESTART, program="notebooks/jupyterhub_config.py"),
    File(f"{_ETC}/clustergen/notebooks.json", values, _RESTART, values=True),
    File(f"{_ETC}/pam.d/jupyterhub", hub, format=CONF),
    File(f"{_ETC}/sudoers.d/clustergen-jupyterhub", hub, mode=0o440, format=CONF),
    File(f"{_ETC}/systemd/system/{UNIT}", hub, _RESTART),
    File(f"notebook_hub{_BACKUP}", backup, mode=0o755, program="notebooks/clustergen-notebooks-backup.py"),
    File(f"{_ETC}/systemd/system/clustergen-notebooks-backup.service", backup, DAEMON_RELOAD),
    File(f"{_ETC}/systemd/system/{_TIMER}", backup, restart(_TIMER)),
)
