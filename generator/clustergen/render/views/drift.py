"""The timer on a controller that compares the machines with the manifest."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart
from clustergen.render.file import File
from clustergen.render.formats import SHELL
from clustergen.render.views.alerts.drift import TEXTFILE, is_exported

_SCRIPT = "/usr/local/sbin/clustergen-drift"
_STATE = "clustergen-drift"


@record
class DriftRun:
    """The script, its directories, and the file of its metrics: empty where no exporter reads it."""

    script: str
    directory: str
    programs: str
    state: str
    metrics: str


@record
class DriftUnit:
    script: str
    manifest: str
    state: str
    interval: int


def script(cluster: Cluster, os: OperatingSystem) -> DriftRun | None:
    spec = cluster.manifest.drift
    if not spec.enabled:
        return None
    metrics = f"{os.fact('node_exporter_textfile_dir')}/{TEXTFILE}" if is_exported(cluster) else ""
    return DriftRun(_SCRIPT, spec.directory, spec.programs, f"/var/lib/{_STATE}", metrics)


def unit(cluster: Cluster) -> DriftUnit | None:
    spec = cluster.manifest.drift
    return DriftUnit(_SCRIPT, f"{spec.directory}/manifest.yaml", _STATE, spec.interval) if spec.enabled else None


_UNIT = "slurm_controller/etc/systemd/system/clustergen-drift"
FILES = (
    File(f"slurm_controller{_SCRIPT}", script, mode=0o755, per="os", format=SHELL),
    File(f"{_UNIT}.service", unit, DAEMON_RELOAD),
    File(f"{_UNIT}.timer", unit, restart("clustergen-drift.timer")),
)
