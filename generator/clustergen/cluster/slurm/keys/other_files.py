"""cgroup.conf, which keeps a job inside its cores, memory and devices, and acct_gather.conf."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.row import Row


def cgroup(_: Cluster) -> Iterator[Row]:
    """The keys that every release takes; swap is constrained too, or a job would leave its memory limit that way."""
    yield Row("CgroupPlugin", "autodetect", "v2 on all current systems")
    yield Row("ConstrainCores", "yes")
    yield Row("ConstrainDevices", "yes", "a job can open only its allocated GPUs")
    yield Row("ConstrainRAMSpace", "yes", "a job that exceeds its memory is killed, not other jobs")
    yield Row("ConstrainSwapSpace", "yes", "a job cannot swap instead")


def acct_gather(cluster: Cluster) -> Iterator[Row]:
    """Only the BMC has to be told how often; the other sources of energy are read when a sample is due."""
    spec = cluster.of(Accounting)
    if spec.energy == "ipmi":
        yield Row("EnergyIPMIFrequency", max(spec.gather_frequency_s, 10), "seconds; a BMC is slow", always=True)
        corrected = "energy up to now instead of up to the last sample"
        yield Row("EnergyIPMICalcAdjustment", "yes", corrected, always=True)
