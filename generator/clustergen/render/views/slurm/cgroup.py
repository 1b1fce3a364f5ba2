"""cgroup.conf: what keeps a job inside its cores, memory and devices."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.views.slurm.settings import Section, Setting, section, with_options

FILE = "cgroup.conf"


@record
class CgroupConf:
    sections: tuple[Section, ...]


def cgroup_conf(cluster: Cluster) -> CgroupConf | None:
    """The keys that every release takes; swap is constrained too, or a job would leave its memory limit that way."""
    rows = [
        Setting("CgroupPlugin", "autodetect", "v2 on all current systems"),
        Setting("ConstrainCores", "yes"),
        Setting("ConstrainDevices", "yes", "a job can open only its allocated GPUs"),
        Setting("ConstrainRAMSpace", "yes", "a job that exceeds its memory is killed, not other jobs"),
        Setting("ConstrainSwapSpace", "yes", "a job cannot swap instead"),
    ]
    made = section("Limits of jobs", FILE, cluster.slurm.release, rows)
    ours = [] if cluster.slurm.bare else [made]
    settings = with_options(ours, cluster.slurm.cgroup_options, "slurm.cgroup_options")
    return CgroupConf(settings) if settings else None
