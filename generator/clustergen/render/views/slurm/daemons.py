"""slurm.conf: who the daemons are, how they talk, how long they wait, and where they log."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.ground import Metrics, Timeouts
from clustergen.render.views.slurm.settings import Section, Setting, section, words

FILE = "slurm.conf"


_RETURN = (
    "a DOWN node returns when an administrator resumes it",
    "a node that is DOWN because it did not respond returns by itself, a drained one does not",
    "a DOWN node returns as soon as it registers",
)


def controllers(cluster: Cluster) -> Section:
    slurm = cluster.slurm
    standby = (
        "state of jobs and nodes, shared by both controllers"
        if len(cluster.slurm.controllers) > 1
        else "jobs and nodes"
    )
    returns = cluster.of(Timeouts).return_to_service
    rows = [Setting("ClusterName", slurm.cluster_name)]
    for index, host in enumerate(cluster.slurm.controllers):
        address = cluster.address.get(host)
        role = (
            ("primary" if index == 0 else "takes over after SlurmctldTimeout")
            if len(cluster.slurm.controllers) > 1
            else ""
        )
        rows.append(Setting("SlurmctldHost", f"{host}({address})" if address else host, role))
    rows += [
        Setting("SlurmctldPort", slurm.daemons["slurmctld"].port),
        Setting("SlurmdPort", slurm.daemons["slurmd"].port),
        Setting("SrunPortRange", slurm.srun_ports or ""),
        Setting("SlurmUser", slurm.user, "the default is root"),
        Setting("StateSaveLocation", slurm.state_location, standby),
        Setting("SlurmdSpoolDir", slurm.spool_directory),
        Setting("SlurmctldPidFile", slurm.daemons["slurmctld"].pid_file),
        Setting("SlurmdPidFile", slurm.daemons["slurmd"].pid_file),
        Setting("SlurmctldParameters", _controller_words(cluster), "limits the RPC rate of each user"),
        Setting("ReturnToService", returns, _RETURN[returns]),
    ]
    return section("Cluster and controllers", FILE, cluster.slurm.release, rows)


def _controller_words(cluster: Cluster) -> str:
    derived = [*["enable_configless"] * cluster.slurm.configless, *["rl_enable"] * (not cluster.slurm.bare)]
    return words("SlurmctldParameters", derived, cluster.slurm.release)


def _message_words(cluster: Cluster) -> str:
    ipv6 = any(":" in group.addresses[0] for group in cluster.groups if group.addresses)
    return words("CommunicationParameters", ["block_null_hash", *["EnableIPv6"] * ipv6], cluster.slurm.release)


def messages(cluster: Cluster) -> Section:
    timeouts, auth = cluster.of(Timeouts), cluster.slurm.auth
    rows = [
        Setting("AuthType", f"auth/{auth}"),
        Setting("CredType", f"cred/{auth}"),
        Setting("CommunicationParameters", _message_words(cluster), "rejects messages without a checksum"),
        Setting("MessageTimeout", timeouts.message_s),
        Setting("TreeWidth", timeouts.tree_width, "fan-out of messages among slurmds"),
        Setting("SlurmctldTimeout", timeouts.slurmctld_s),
        Setting(
            "SlurmdTimeout",
            timeouts.slurmd_s,
            "seconds without a response until a node is DOWN and its jobs are lost",
        ),
        Setting(
            "UnkillableStepTimeout",
            timeouts.unkillable_step_s,
            "a node with a process that cannot be killed drains after this time",
        ),
        Setting("RebootProgram", timeouts.reboot_program),
        Setting("ResumeTimeout", timeouts.resume_s, "maximum time of a reboot; after that the node is DOWN"),
    ]
    return section("Authentication, messages and timeouts", FILE, cluster.slurm.release, rows)


def logging(cluster: Cluster) -> Section:
    slurmctld, slurmd = cluster.slurm.daemons["slurmctld"], cluster.slurm.daemons["slurmd"]
    rows = [
        Setting("SlurmctldLogFile", slurmctld.log_file),
        Setting("SlurmctldDebug", slurmctld.log_level),
        Setting("SlurmdLogFile", slurmd.log_file),
        Setting("SlurmdDebug", slurmd.log_level),
        Setting("MetricsType", "metrics/openmetrics", f"for Prometheus, on port {cluster.of(Metrics).port}")
        if cluster.has(Metrics)
        else None,
    ]
    return section("Logs and metrics", FILE, cluster.slurm.release, rows)
