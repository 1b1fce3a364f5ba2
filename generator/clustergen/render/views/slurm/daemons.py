"""slurm.conf: who the daemons are, how they talk, how long they wait, and where they log."""

from __future__ import annotations

import math

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.builds import offers
from clustergen.cluster.directories import STATE, log_of
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm_daemons import port
from clustergen.manifest.slurm import Daemon
from clustergen.render.views.slurm.settings import Section, Setting, section, words

FILE = "slurm.conf"


def log_file(cluster: Cluster, daemon: Daemon) -> str:
    return cluster.manifest.slurm.log_files.get(daemon, log_of(daemon).example.format(name=daemon))


def log_level(cluster: Cluster, daemon: Daemon) -> str:
    return cluster.manifest.slurm.log_levels.get(daemon, "info")


def pid_file(cluster: Cluster, daemon: Daemon) -> str:
    """Empty where Slurm's own default holds."""
    return cluster.manifest.slurm.pid_files.get(daemon, "")


def state_location(cluster: Cluster) -> str:
    return cluster.manifest.slurm.state_location or STATE.example


_RETURN = (
    "a DOWN node returns when an administrator resumes it",
    "a node that is DOWN because it did not respond returns by itself, a drained one does not",
    "a DOWN node returns as soon as it registers",
)


def controllers(cluster: Cluster) -> Section:
    slurm = cluster.manifest.slurm
    standby = (
        "state of jobs and nodes, shared by both controllers" if len(cluster.controllers) > 1 else "jobs and nodes"
    )
    rows = [Setting("ClusterName", cluster.slurm_name)]
    for index, host in enumerate(cluster.controllers):
        address = cluster.address.get(host)
        role = (
            ("primary" if index == 0 else "takes over after SlurmctldTimeout") if len(cluster.controllers) > 1 else ""
        )
        rows.append(Setting("SlurmctldHost", f"{host}({address})" if address else host, role))
    rows += [
        Setting("SlurmctldPort", port(cluster, "slurmctld")),
        Setting("SlurmdPort", port(cluster, "slurmd")),
        Setting("SrunPortRange", slurm.srun_ports or ""),
        Setting("SlurmUser", slurm.user, "the default is root"),
        Setting("StateSaveLocation", state_location(cluster), standby),
        Setting("SlurmdSpoolDir", slurm.spool_directory),
        Setting("SlurmctldPidFile", pid_file(cluster, "slurmctld")),
        Setting("SlurmdPidFile", pid_file(cluster, "slurmd")),
        Setting("SlurmctldParameters", _controller_words(cluster), "limits the RPC rate of each user"),
        Setting("ReturnToService", slurm.return_to_service, _RETURN[slurm.return_to_service]),
    ]
    return section("Cluster and controllers", FILE, cluster.release, rows)


def _controller_words(cluster: Cluster) -> str:
    derived = [*["enable_configless"] * cluster.manifest.slurm.configless, *["rl_enable"] * (not cluster.bare)]
    return words("SlurmctldParameters", derived, cluster.release)


def _message_words(cluster: Cluster) -> str:
    ipv6 = any(":" in group.addresses[0] for group in cluster.groups if group.addresses)
    return words("CommunicationParameters", ["block_null_hash", *["EnableIPv6"] * ipv6], cluster.release)


def _unkillable(cluster: Cluster, message_timeout: int) -> int:
    """Seconds: long enough that the health check frees what a user made unkillable (05-killed)."""
    health = cluster.manifest.health
    return min(65533, max(180, 5 * message_timeout, 2 * health.interval + 60 if health.enabled else 0))


def messages(cluster: Cluster) -> Section:
    slurm = cluster.manifest.slurm
    nodes = sum(len(group.hosts) for group in cluster.compute)
    timeout = message_timeout(cluster)
    rows = [
        Setting("AuthType", f"auth/{slurm.auth}"),
        Setting("CredType", f"cred/{slurm.auth}"),
        Setting("CommunicationParameters", _message_words(cluster), "rejects messages without a checksum"),
        Setting("MessageTimeout", timeout),
        Setting("TreeWidth", tree_width(nodes), "fan-out of messages among slurmds"),
        Setting("SlurmctldTimeout", slurm.slurmctld_timeout),
        Setting(
            "SlurmdTimeout",
            slurm.slurmd_timeout,
            "seconds without a response until a node is DOWN and its jobs are lost",
        ),
        Setting(
            "UnkillableStepTimeout",
            slurm.unkillable_step_timeout or _unkillable(cluster, timeout),
            "a node with a process that cannot be killed drains after this time",
        ),
        Setting("RebootProgram", slurm.reboot_program),
        Setting("ResumeTimeout", slurm.resume_timeout, "maximum time of a reboot; after that the node is DOWN"),
    ]
    return section("Authentication, messages and timeouts", FILE, cluster.release, rows)


def message_timeout(cluster: Cluster) -> int:
    """Seconds for an answer: the tree of slurmds gets deeper with the cluster. More than 100 is an error in the log."""
    if cluster.manifest.slurm.message_timeout is not None:
        return cluster.manifest.slurm.message_timeout
    nodes = sum(len(group.hosts) for group in cluster.compute)
    return 20 if nodes <= 64 else 30 if nodes <= 1024 else 60


def tree_width(nodes: int) -> int:
    """Two hops up to 2,500 nodes, three beyond; between the default of 23.11 and that of older releases."""
    return min(50, max(16, math.isqrt(max(nodes - 1, 0)) + 1))


def logging(cluster: Cluster) -> Section:
    slurm = cluster.manifest.slurm
    metrics = slurm.metrics and all(offers(cluster, os, "slurm_openmetrics") for os in systems_of_controllers(cluster))
    rows = [
        Setting("SlurmctldLogFile", log_file(cluster, "slurmctld")),
        Setting("SlurmctldDebug", log_level(cluster, "slurmctld")),
        Setting("SlurmdLogFile", log_file(cluster, "slurmd")),
        Setting("SlurmdDebug", log_level(cluster, "slurmd")),
        Setting("MetricsType", "metrics/openmetrics", f"for Prometheus, on port {port(cluster, 'slurmctld')}")
        if metrics
        else None,
    ]
    return section("Logs and metrics", FILE, cluster.release, rows)


def systems_of_controllers(cluster: Cluster) -> list[OperatingSystem]:
    return [group.type.os for group in cluster.with_role("slurm-controller")]
