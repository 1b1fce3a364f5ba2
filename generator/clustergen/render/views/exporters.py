"""Exports of the nodes to Prometheus: the node exporter, and by programs of ours Slurm's state and RoCE counters."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.contributions import SafeWriter
from clustergen.cluster.file_system import file_systems
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.cluster.slurm.power_saving import PowerSaving
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, Effect, restart
from clustergen.render.file import File, View
from clustergen.render.views.alerts import disks, kernel, roce
from clustergen.render.views.alerts.expiry import certificates
from clustergen.render.views.alerts.slurm import TEXTFILE, own_endpoint
from clustergen.render.views.slurm.services import state_is_mounted

# Those whose failure an administrator must know of; all units of all nodes would be a hundred series for each.
_UNITS = "|".join(
    (
        "slurm.+|munge|mariadb|chronyd?|sshd?|nvidia-.+|opensm|prometheus.*|alertmanager|nfs-server|rsyslog",
        *(unit for kind in file_systems() for unit in kind.monitored_units),
        "clustergen-.+",
    )
)
_HIDDEN_MOUNTS = "^/(dev|proc|run|sys|var/lib/docker/.+|var/lib/containers/storage/.+)($|/)"
_WRITE = "/usr/local/sbin/clustergen-write"
_SCRIPT = "/usr/local/sbin/clustergen-slurm-metrics"


@record
class Arguments:
    """Arguments of the node exporter, in the file that its unit reads them from."""

    unit: str
    arguments: tuple[str, ...]


@record
class StateDirectory:
    """A directory below /var/lib that the unit has to make."""

    unit: str
    state_directory: str


@record
class SlurmMetrics:
    """Of the program that asks Slurm: the file that it writes.

    `counts`: slurmctld itself does not count jobs and nodes. `power_saving`: it switches nodes off.
    """

    metrics_file: str
    counts: bool
    power_saving: bool


@record
class KernelValues:
    """Of the program that reads the kernel's log; it also exports the end of certificates."""

    metrics_file: str
    certificates: tuple[str, ...]


@record
class HardwareValues:
    """Of a program that reads hardware."""

    metrics_file: str


@record
class Unit:
    script: str


def write_program(cluster: Cluster, os: OperatingSystem) -> bool:
    """The program that replaces files in directories that may belong to another account."""
    return node_exporter(cluster, os) is not None or bool(cluster.needs(SafeWriter)) or state_is_mounted(cluster)


def node_exporter(cluster: Cluster, os: OperatingSystem) -> Arguments | None:
    if not cluster.has(NodeExporter):
        return None
    exporter = cluster.of(NodeExporter)
    return Arguments(
        os.fact("node_exporter_unit"),
        (
            f"--web.listen-address=:{exporter.port}",
            f"--collector.textfile.directory={os.fact('node_exporter_textfile_dir')}",
            f"--collector.filesystem.mount-points-exclude={_HIDDEN_MOUNTS}",
            "--collector.systemd",
            f"--collector.systemd.unit-include=^({_UNITS})[.](service|timer)$",
            "--no-collector.schedstat",  # thousands of series per node, one set for each CPU
            "--no-collector.softnet",
            *(f"--collector.{name}" for name in exporter.collectors),
        ),
    )


def textfile_directory(cluster: Cluster, os: OperatingSystem) -> StateDirectory | None:
    """Debian's package makes its directory itself."""
    exporter = node_exporter(cluster, os)
    if exporter is None or os.fact("family") == "debian":
        return None
    return StateDirectory(exporter.unit, os.fact("node_exporter_textfile_dir").removeprefix("/var/lib/"))


def slurm_metrics(cluster: Cluster, os: OperatingSystem) -> SlurmMetrics | None:
    if node_exporter(cluster, os) is None:
        return None
    file = f"{os.fact('node_exporter_textfile_dir')}/{TEXTFILE}"
    saves = cluster.has(PowerSaving)
    return SlurmMetrics(file, not own_endpoint(cluster), saves)


def kernel_metrics(cluster: Cluster, os: OperatingSystem) -> KernelValues | None:
    file = _textfile(cluster, os, kernel.TEXTFILE)
    return KernelValues(file, certificates(cluster)) if file else None


def disk_metrics(cluster: Cluster, os: OperatingSystem) -> HardwareValues | None:
    file = _textfile(cluster, os, disks.TEXTFILE)
    return HardwareValues(file) if file and disks.is_exported(cluster) else None


def roce_metrics(cluster: Cluster, os: OperatingSystem) -> HardwareValues | None:
    file = _textfile(cluster, os, roce.TEXTFILE)
    return HardwareValues(file) if file and roce.is_exported(cluster) else None


def _textfile(cluster: Cluster, os: OperatingSystem, name: str) -> str:
    return f"{os.fact('node_exporter_textfile_dir')}/{name}" if node_exporter(cluster, os) else ""


def _unit(cluster: Cluster, script: str, values: View) -> Unit | None:
    return Unit(script) if values(cluster, cluster.os) else None


def slurm_metrics_unit(cluster: Cluster) -> SlurmMetrics | None:
    return slurm_metrics(cluster, cluster.os)


def _restart(view: Any) -> Effect:
    return restart(view.unit)


_SYSTEM = "etc/systemd/system"


def _hardware(group: str, program: str, values: View) -> Iterator[File]:
    """A program, its values, and the timer that runs it."""
    name, _, kind = program.partition(".")
    script = f"/usr/local/sbin/{name}"
    unit = partial(_unit, script=script, values=values)
    data = f"{name.removeprefix('clustergen-')}.{'json' if kind == 'py' else 'sh'}"
    yield File(f"{group}{script}", unit, mode=0o755, program=f"metrics/{program}")
    yield File(f"{group}/etc/clustergen/{data}", values, values=True, per="os")
    yield File(f"{group}/{_SYSTEM}/{name}.service", unit, DAEMON_RELOAD)
    yield File(f"{group}/{_SYSTEM}/{name}.timer", unit, restart(f"{name}.timer"))


_METRICS = f"slurm_controller/{_SYSTEM}/clustergen-slurm-metrics"
FILES = (
    File(
        "all/{os.node_exporter_env_file}",
        node_exporter,
        _restart,
        per="os",
        source="all/etc/default/prometheus-node-exporter",
    ),
    File(
        f"all/{_SYSTEM}/prometheus-node-exporter.service.d/50-clustergen.conf", textfile_directory, _restart, per="os"
    ),
    File(f"all{_WRITE}", write_program, mode=0o755, per="os", program="write/clustergen-write.py"),
    File(
        f"slurm_controller{_SCRIPT}",
        slurm_metrics,
        mode=0o755,
        per="os",
        program="slurm/clustergen-slurm-metrics.sh",
    ),
    File("slurm_controller/etc/clustergen/slurm-metrics.sh", slurm_metrics, values=True, per="os"),
    File(f"{_METRICS}.service", slurm_metrics_unit, DAEMON_RELOAD),
    File(f"{_METRICS}.timer", slurm_metrics_unit, restart("clustergen-slurm-metrics.timer")),
    *_hardware("all", "clustergen-kernel-metrics.sh", kernel_metrics),
    *_hardware("all", "clustergen-disk-metrics.py", disk_metrics),
    *_hardware("fabric_node", "clustergen-roce-metrics.sh", roce_metrics),
)
