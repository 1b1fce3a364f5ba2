"""slurm.conf: who the daemons are, how they talk, how long they wait, and where they log."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.ground import Metrics, Timeouts
from clustergen.cluster.slurm.keys.row import Row, words

_RETURN = (
    "a DOWN node returns when an administrator resumes it",
    "a node that is DOWN because it did not respond returns by itself, a drained or rebooted one does not",
    "a DOWN node returns as soon as it registers",
)


def controllers(cluster: Cluster) -> Iterator[Row]:
    slurm, returns = cluster.slurm, cluster.of(Timeouts).return_to_service
    slurmctld, slurmd = slurm.daemons["slurmctld"], slurm.daemons["slurmd"]
    has_backup = len(slurm.controllers) > 1
    yield Row("ClusterName", slurm.cluster_name, always=True)
    for index, host in enumerate(slurm.controllers):
        address = cluster.address.get(host)
        role = "takes over after SlurmctldTimeout" if index else "primary" if has_backup else ""
        yield Row("SlurmctldHost", f"{host}({address})" if address else host, role, always=True)
    yield Row("SlurmctldPort", slurmctld.port)
    yield Row("SlurmdPort", slurmd.port)
    yield Row("SlurmUser", slurm.user, "the default is root", always=True)
    content = "state of jobs and nodes, shared by both controllers" if has_backup else "jobs and nodes"
    yield Row("StateSaveLocation", slurm.state_location, content)
    yield Row("SlurmctldPidFile", slurmctld.pid_file)
    yield Row("SlurmdPidFile", slurmd.pid_file)
    # A cloud's node that failed may be started anew once it was switched off.
    anew = any(group.state == "CLOUD" for group in cluster.compute)
    parameters = [*["enable_configless"] * slurm.configless, *["rl_enable"] * (not slurm.bare)]
    parameters += ["idle_on_node_suspend"] * anew
    limits = "limits the RPC rate of each user"
    yield Row("SlurmctldParameters", words("SlurmctldParameters", parameters, slurm.release), limits)
    yield Row("ReturnToService", returns, _RETURN[returns])


def messages(cluster: Cluster) -> Iterator[Row]:
    timeouts, auth = cluster.of(Timeouts), cluster.slurm.auth
    yield Row("AuthType", f"auth/{auth}")
    yield Row("CredType", f"cred/{auth}")
    ipv6 = any(":" in group.addresses[0] for group in cluster.groups if group.addresses)
    parameters = words("CommunicationParameters", ["block_null_hash", *["EnableIPv6"] * ipv6], cluster.slurm.release)
    yield Row("CommunicationParameters", parameters, "rejects messages without a checksum")
    yield Row("MessageTimeout", timeouts.message_s)
    yield Row("TreeWidth", timeouts.tree_width, "fan-out of messages among slurmds")
    drains = "a node with a process that cannot be killed drains after this time"
    yield Row("UnkillableStepTimeout", timeouts.unkillable_step_s, drains)


def logging(cluster: Cluster) -> Iterator[Row]:
    slurmctld, slurmd = cluster.slurm.daemons["slurmctld"], cluster.slurm.daemons["slurmd"]
    yield Row("SlurmctldLogFile", slurmctld.log_file)
    yield Row("SlurmctldDebug", slurmctld.log_level)
    yield Row("SlurmdLogFile", slurmd.log_file)
    yield Row("SlurmdDebug", slurmd.log_level)
    if cluster.has(Metrics):
        yield Row("MetricsType", "metrics/openmetrics", f"for Prometheus, on port {cluster.of(Metrics).port}")
