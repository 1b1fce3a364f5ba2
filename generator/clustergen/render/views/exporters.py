"""What the nodes export to Prometheus: the node exporter, and by scripts of ours Slurm's state and RoCE counters."""

from __future__ import annotations

from typing import Any

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster
from clustergen.filesystems import file_systems
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, Effect, restart
from clustergen.render.file import File
from clustergen.render.formats import PYTHON, SHELL
from clustergen.render.views.alerts import disks, kernel, roce
from clustergen.render.views.alerts.expiry import certificates
from clustergen.render.views.alerts.slurm import TEXTFILE, own_endpoint
from clustergen.render.views.fixed import Fixed
from clustergen.render.views.scrape import monitored
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
_KERNEL_SCRIPT = "/usr/local/sbin/clustergen-kernel-metrics"
_DISK_SCRIPT = "/usr/local/sbin/clustergen-disk-metrics"
_ROCE_SCRIPT = "/usr/local/sbin/clustergen-roce-metrics"


@record
class NodeExporter:
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
    """The script that asks Slurm, and the file it writes.

    `counts`: slurmctld itself does not count jobs and nodes. `power_saving`: it switches nodes off.
    """

    script: str
    file: str
    counts: bool
    power_saving: bool


@record
class KernelMetrics:
    """The script that reads the kernel's log, the file it writes, and the certificates whose end it exports."""

    script: str
    file: str
    certificates: tuple[str, ...]


@record
class HardwareMetrics:
    """A script that reads hardware, and the file it writes."""

    script: str
    file: str


def write_program(cluster: Cluster, os: OperatingSystem) -> Fixed | None:
    """The program that replaces files in directories that may belong to another account."""
    is_used = node_exporter(cluster, os) is not None or cluster.manifest.reports is not None
    return Fixed() if is_used or state_is_mounted(cluster) else None


def node_exporter(cluster: Cluster, os: OperatingSystem) -> NodeExporter | None:
    spec = cluster.manifest.monitoring.node_exporter
    if not monitored(cluster) or not spec.enabled:
        return None
    return NodeExporter(
        os.fact("node_exporter_unit"),
        (
            f"--web.listen-address=:{spec.port}",
            f"--collector.textfile.directory={os.fact('node_exporter_textfile_dir')}",
            f"--collector.filesystem.mount-points-exclude={_HIDDEN_MOUNTS}",
            "--collector.systemd",
            f"--collector.systemd.unit-include=^({_UNITS})[.](service|timer)$",
            "--no-collector.schedstat",  # thousands of series per node, one set for each CPU
            "--no-collector.softnet",
            *(f"--collector.{name}" for name in spec.collectors),
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
    saves = cluster.manifest.slurm.power_saving is not None
    return SlurmMetrics(_SCRIPT, file, not own_endpoint(cluster), saves)


def kernel_metrics(cluster: Cluster, os: OperatingSystem) -> KernelMetrics | None:
    if node_exporter(cluster, os) is None:
        return None
    file = f"{os.fact('node_exporter_textfile_dir')}/{kernel.TEXTFILE}"
    return KernelMetrics(_KERNEL_SCRIPT, file, certificates(cluster))


def kernel_metrics_unit(cluster: Cluster) -> KernelMetrics | None:
    return kernel_metrics(cluster, cluster.os)


def disk_metrics(cluster: Cluster, os: OperatingSystem) -> HardwareMetrics | None:
    if node_exporter(cluster, os) is None or not disks.is_exported(cluster):
        return None
    return HardwareMetrics(_DISK_SCRIPT, f"{os.fact('node_exporter_textfile_dir')}/{disks.TEXTFILE}")


def disk_metrics_unit(cluster: Cluster) -> HardwareMetrics | None:
    return disk_metrics(cluster, cluster.os)


def roce_metrics(cluster: Cluster, os: OperatingSystem) -> HardwareMetrics | None:
    if node_exporter(cluster, os) is None or not roce.is_exported(cluster):
        return None
    return HardwareMetrics(_ROCE_SCRIPT, f"{os.fact('node_exporter_textfile_dir')}/{roce.TEXTFILE}")


def roce_metrics_unit(cluster: Cluster) -> HardwareMetrics | None:
    return roce_metrics(cluster, cluster.os)


def slurm_metrics_unit(cluster: Cluster) -> SlurmMetrics | None:
    return slurm_metrics(cluster, cluster.os)


def _restart(view: Any) -> Effect:
    return restart(view.unit)


_SYSTEM = "etc/systemd/system"
_METRICS = f"slurm_controller/{_SYSTEM}/clustergen-slurm-metrics"
_KERNEL = f"all/{_SYSTEM}/clustergen-kernel-metrics"
_DISK = f"all/{_SYSTEM}/clustergen-disk-metrics"
_ROCE = f"fabric_node/{_SYSTEM}/clustergen-roce-metrics"
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
    File(f"slurm_controller{_SCRIPT}", slurm_metrics, mode=0o755, per="os", format=SHELL),
    File(f"{_METRICS}.service", slurm_metrics_unit, DAEMON_RELOAD),
    File(f"{_METRICS}.timer", slurm_metrics_unit, restart("clustergen-slurm-metrics.timer")),
    File(f"all{_KERNEL_SCRIPT}", kernel_metrics, mode=0o755, per="os", format=SHELL),
    File(f"{_KERNEL}.service", kernel_metrics_unit, DAEMON_RELOAD),
    File(f"{_KERNEL}.timer", kernel_metrics_unit, restart("clustergen-kernel-metrics.timer")),
    File(f"all{_DISK_SCRIPT}", disk_metrics, mode=0o755, per="os", format=PYTHON),
    File(f"{_DISK}.service", disk_metrics_unit, DAEMON_RELOAD),
    File(f"{_DISK}.timer", disk_metrics_unit, restart("clustergen-disk-metrics.timer")),
    File(f"fabric_node{_ROCE_SCRIPT}", roce_metrics, mode=0o755, per="os", format=SHELL),
    File(f"{_ROCE}.service", roce_metrics_unit, DAEMON_RELOAD),
    File(f"{_ROCE}.timer", roce_metrics_unit, restart("clustergen-roce-metrics.timer")),
)
