"""The node exporter of every node."""

from __future__ import annotations

import re

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.contributions import Service
from clustergen.cluster.file_system import file_systems
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter
from clustergen.records import record
from clustergen.render.arguments import Arguments, restarts
from clustergen.render.file import File

# Those whose failure an administrator must know of; all units of all nodes would be a hundred series for each.
_UNITS = "|".join(
    (
        "slurm.+|munge|mariadb|chronyd?|sshd?|nvidia-.+|opensmd?|prometheus.*|alertmanager|grafana-server|nfs-.+|rsyslog|sackd|lnet|docker|irqbalance|NetworkManager",
        *(unit for kind in file_systems() for unit in kind.monitored_units),
        "clustergen-.+",
    )
)
_HIDDEN_MOUNTS = "^/(dev|proc|run|sys|var/lib/docker/.+|var/lib/containers/storage/.+)($|/)"


@record
class StateDirectory:
    """A directory below /var/lib that the unit has to make."""

    unit: str
    state_directory: str


def node_exporter(cluster: Cluster, os: OperatingSystem, exporter: NodeExporter) -> Arguments:
    return Arguments(
        os.fact("node_exporter_unit"),
        (
            f"--web.listen-address=:{exporter.port}",
            f"--collector.textfile.directory={os.fact('node_exporter_textfile_dir')}",
            f"--collector.filesystem.mount-points-exclude={_HIDDEN_MOUNTS}",
            "--collector.systemd",
            f"--collector.systemd.unit-include=^({_units(cluster)})[.](service|timer)$",
            "--no-collector.schedstat",  # thousands of series per node, one set for each CPU
            "--no-collector.softnet",
            *(f"--collector.{name}" for name in exporter.collectors),
        ),
    )


def _units(cluster: Cluster) -> str:
    """With those of features, whose alerts read them."""
    services = (service.name for service in cluster.needs(Service))
    others = (name for name in services if name.replace("-", "").isalnum() and not re.fullmatch(_UNITS, name))
    return "|".join(dict.fromkeys((_UNITS, *others)))


def textfile_directory(_: Cluster, os: OperatingSystem, __: NodeExporter) -> StateDirectory | None:
    """Debian's package makes its directory itself."""
    if os.fact("family") == "debian":
        return None
    directory = os.fact("node_exporter_textfile_dir").removeprefix("/var/lib/")
    return StateDirectory(os.fact("node_exporter_unit"), directory)


_DROP_IN = "all/etc/systemd/system/prometheus-node-exporter.service.d/50-clustergen.conf"
FILES = (
    File(
        "all/{os.node_exporter_env_file}",
        node_exporter,
        restarts,
        per="os",
        source="all/etc/default/prometheus-node-exporter",
    ),
    File(_DROP_IN, textfile_directory, restarts, per="os"),
)
