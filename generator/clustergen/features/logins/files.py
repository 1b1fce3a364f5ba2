"""Who may log in to a compute node: users with a job there, whose sessions belong to it, and the administrators."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.ansible import Ssh
from clustergen.cluster.host import NodeLogins
from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.arguments import reloads
from clustergen.render.effects import after
from clustergen.render.file import Context, File
from clustergen.render.formats import CONF


def pam(cluster: Cluster, os: OperatingSystem) -> Context | None:
    return {"debian": os.fact("family") == "debian"} if cluster.of(NodeLogins).needs_job else None


def access(cluster: Cluster) -> Context | None:
    """Who applies the tree must not lock itself out; root comes in anyway."""
    logins, user = cluster.of(NodeLogins), cluster.of(Ssh).user
    if not logins.needs_job:
        return None
    return {"admin_group": logins.admin_group, "ansible_user": user if user != "root" else None}


@record
class Sshd:
    unit: str


def sshd(cluster: Cluster, os: OperatingSystem) -> Sshd | None:
    return Sshd(os.fact("ssh_unit")) if cluster.of(NodeLogins).needs_job else None


FILES: tuple[File, ...] = (
    File("compute_only/etc/pam.d/sshd", pam, after("slurmd.service"), per="os", format=CONF),
    File("compute_only/etc/security/access-slurm.conf", access),
    File(
        "compute_only/{os.ssh_conf_dir}/00-clustergen-slurm.conf",
        sshd,
        reloads,
        per="os",
        source="compute_only/etc/ssh/sshd_config.d/00-clustergen-slurm.conf",
    ),
)
