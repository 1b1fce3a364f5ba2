"""Whose packages the nodes get, and what that build of Slurm can do."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.versions import SlurmRelease
from clustergen.cluster.model import Cluster


def from_distribution(cluster: Cluster, os: OperatingSystem) -> bool:
    """True if nodes with that system take Slurm from their distribution, and not from SchedMD's own packaging."""
    build = cluster.slurm.build
    if build == "auto":
        return SlurmRelease(os.fact("slurm")) == cluster.slurm.release
    return build == "distribution"


def offers(cluster: Cluster, os: OperatingSystem, feature: str) -> bool:
    """True if the build has a feature of the systems' table (`slurm_pmix`); SchedMD's packaging has them all."""
    return not from_distribution(cluster, os) or os.fact(feature) != "no"


def has_sackd(cluster: Cluster, os: OperatingSystem) -> bool:
    """True if a login node can fetch its configuration from slurmctld."""
    if from_distribution(cluster, os):
        return os.yes("slurm_sackd")
    return cluster.slurm.release.has("sackd")
