"""Contributions of power saving to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import BmcAccount, Package, Secret, SlurmTopic, Variables
from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.row import Row
from clustergen.features.power_saving.resolved import (
    BMC_PASSWORD,
    PROGRAM,
    PowerSaving,
    protocol_of_bmcs,
    with_other_roles,
)

_REPAIR = ("DOWN", "DRAIN", "FAIL", "MAINTENANCE", "NOT_RESPONDING", "RESERVED")


def keys(cluster: Cluster) -> Iterator[Row]:
    if (saving := cluster.get(PowerSaving)) is None:
        return
    staying = [*filter(None, [saving.except_nodes]), *with_other_roles(cluster)]
    yield Row("SuspendProgram", f"{PROGRAM}-off")
    yield Row("ResumeProgram", f"{PROGRAM}-on")
    yield Row("ResumeFailProgram", f"{PROGRAM}-fail", "switches nodes off that are not up after ResumeTimeout")
    yield Row("SuspendTime", saving.suspend_time_s, "seconds a node is idle before it is switched off")
    yield Row("SuspendTimeout", saving.suspend_timeout_s, "seconds for shutting down")
    yield Row("SuspendRate", saving.suspend_per_minute, "nodes per minute")
    yield Row("ResumeRate", saving.resume_per_minute, "nodes per minute: limits the inrush current")
    yield Row("SuspendExcNodes", ",".join(staying), "stated, or with other roles")
    yield Row("SuspendExcParts", ",".join(saving.except_partitions))
    yield Row("SuspendExcStates", ",".join(_REPAIR), "somebody may be working on the node")


def topics(_: Cluster) -> Iterator[SlurmTopic]:
    yield SlurmTopic("slurm.conf", "Power saving", keys)


def accounts(saving: PowerSaving) -> Iterator[BmcAccount]:
    yield BmcAccount(saving.user, saving.check_certificates)


def variables(cluster: Cluster, saving: PowerSaving) -> Iterator[Variables]:
    """The program that the playbook clustergen.cluster.power calls in place of BMCs, or for nodes without one alone."""
    if command := saving.command:
        bmc_first = True if protocol_of_bmcs(cluster) else None
        yield Variables("Power", {"power_command": command, "power_bmc_first": bmc_first})


def packages(cluster: Cluster) -> Iterator[Package]:
    if protocol_of_bmcs(cluster) == "ipmi":
        yield Package("slurm_controller", "ipmitool")


def secrets(cluster: Cluster) -> Iterator[Secret]:
    if protocol_of_bmcs(cluster):
        yield Secret("bmc", BMC_PASSWORD, ("slurm_controller",), owner=cluster.slurm.user, mode="0400", origin="given")
