"""slurmdbd.conf, MariaDB's settings for it, and the surroundings of slurmdbd."""

from __future__ import annotations

from functools import partial

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.slurm.accounting import PASSWORD_FILE, UNKNOWN_MIB, Accounting, own_pool_mib, shared_pool_mib
from clustergen.render.effects import CREATE, Effect, restart
from clustergen.render.file import Context, File
from clustergen.render.formats import CONF, SLURM
from clustergen.render.slurm_files import DIRECTORIES, ROTATE, daemon_directories, drop_in, log_rotation, slurm_user
from clustergen.render.views.slurm.layout import sections

_LEAST_POOL_MIB = 128  # MariaDB's own default


def slurmdbd_conf(cluster: Cluster) -> Context:
    """`secret`: file with the line StoragePass=…, put on the node when the tree is applied; None without a password."""
    return {
        "secret": PASSWORD_FILE if cluster.of(Accounting).has_password else None,
        "sections": sections(cluster, "slurmdbd.conf"),
    }


def mariadb_conf(cluster: Cluster, os: OperatingSystem) -> Context | None:
    """The smallest pool that fits all database nodes of an operating system, as they have one file."""
    if not cluster.of(Accounting).database_is_local:
        return None
    groups = [group for group in cluster.with_role("slurm-accounting") if group.type.os == os]
    pool = min((_pool_mib(group) for group in groups), default=own_pool_mib(UNKNOWN_MIB))
    return {"buffer_pool_mib": pool, "log_file_mib": pool // 4}


def _pool_mib(group: NodeGroup) -> int:
    """Where jobs run, at most half of what they do not get: the other half is for the daemons and the system."""
    node_type = group.type
    if not node_type.is_resolved:
        return own_pool_mib(UNKNOWN_MIB)
    if not group.has("slurm-compute"):
        return own_pool_mib(node_type.memory_mib)
    pool = shared_pool_mib(node_type.memory_mib)
    return max(_LEAST_POOL_MIB, min(pool, node_type.reserved_mib // 2)) if node_type.reserved_mib else pool


def slurmdbd(cluster: Cluster, os: OperatingSystem) -> Context:
    return {
        "munge": cluster.slurm.auth == "munge",
        "database": os.fact("mariadb_unit") if cluster.of(Accounting).database_is_local else None,
    }


FILES: tuple[File, ...] = (
    File(
        "slurm_accounting/etc/slurm/slurmdbd.conf",
        slurmdbd_conf,
        Effect("restart-slurmdbd"),
        mode=0o600,
        owner=slurm_user,
        group=slurm_user,
        format=SLURM,
        area="slurm",
    ),
    File(
        "slurm_accounting/{os.mariadb_dropin_dir}/90-slurm.cnf",
        mariadb_conf,
        restart("mariadb.service"),
        per="os",
        format=CONF,
        source="slurm_accounting/etc/mysql/mariadb.conf.d/90-slurm.cnf",
    ),
    File(drop_in("slurm_accounting", "slurmdbd"), slurmdbd, Effect("restart-slurmdbd"), per="os"),
    File(
        "slurm_accounting/etc/tmpfiles.d/clustergen-slurmdbd.conf",
        partial(daemon_directories, "slurmdbd"),
        CREATE,
        source=DIRECTORIES,
    ),
    File("slurm_accounting/etc/logrotate.d/slurmdbd", partial(log_rotation, "slurmdbd"), source=ROTATE),
)
