"""Smaller files of Slurm's: mpi.conf and acct_gather.conf."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.records import record
from clustergen.render.views.slurm.settings import Section, Setting, section, with_options


@record
class Sections:
    sections: tuple[Section, ...]


def mpi_conf(cluster: Cluster) -> Sections | None:
    """PMIx is well as it comes: the file is there where the manifest has keys for it."""
    options = cluster.slurm.mpi_options
    return Sections(with_options([], options, "slurm.mpi_options")) if options else None


def acct_gather_conf(cluster: Cluster) -> Sections | None:
    """Only the BMC has to be told how often; the other sources of energy are read when a sample is due."""
    spec = cluster.of(Accounting)
    options = cluster.slurm.acct_gather_options
    rows = [
        Setting("EnergyIPMIFrequency", max(spec.gather_frequency_s, 10), "seconds; a BMC is slow"),
        Setting("EnergyIPMICalcAdjustment", "yes", "energy up to now instead of up to the last sample"),
    ]
    made = (
        [section("Energy from the BMC", "acct_gather.conf", cluster.slurm.release, rows)]
        if spec.energy == "ipmi"
        else []
    )
    settings = with_options(made, options, "slurm.acct_gather_options")
    return Sections(settings) if settings else None
