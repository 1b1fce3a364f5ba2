"""The job environment: NCCL's, UCX's and Open MPI's settings on the node, and the way of NCCL's into containers."""

from __future__ import annotations

from clustergen.cluster.features.gpu import DirectPci
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.slurm.jobs import Pyxis
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, run
from clustergen.render.file import File
from clustergen.render.formats import CONF
from clustergen.render.views.fixed import Fixed
from clustergen.render.views.nccl.mpi import mpi, ucx
from clustergen.render.views.nccl.settings import nccl_conf
from clustergen.render.views.nccl.topology import TOPOLOGY, topology


@record
class Mounts:
    """Files of the node that a container is to see at the same place."""

    files: tuple[str, ...]


def enroot_mounts(cluster: Cluster, node_type: NodeType) -> Mounts | None:
    """A container has its own /etc, so the settings are mounted into it."""
    if not cluster.has(Pyxis):
        return None
    files = ["/etc/nccl.conf"] if nccl_conf(cluster, node_type) else []
    files += [TOPOLOGY] if topology(cluster, node_type) else []
    return Mounts(tuple(files)) if files else None


def acs_off(cluster: Cluster) -> Fixed | None:
    return Fixed() if cluster.has(DirectPci) else None


FILES: tuple[File, ...] = (
    File("gpu_node/etc/nccl.conf", nccl_conf, per="type", format=CONF),
    File("gpu_node/etc/nccl-topo.xml", topology, per="type"),
    File("gpu_node/etc/enroot/mounts.d/50-clustergen.fstab", enroot_mounts, per="type"),
    File("slurm_compute/etc/ucx/ucx.conf", ucx, per="type"),
    File(
        "slurm_compute/{os.openmpi_params}", mpi, per="os", source="slurm_compute/etc/openmpi/openmpi-mca-params.conf"
    ),
    File(
        "gpu_node/usr/local/sbin/clustergen-acs-off",
        acs_off,
        run("clustergen-acs-off.service"),
        mode=0o755,
        program="gpu/clustergen-acs-off.sh",
    ),
    File("gpu_node/etc/systemd/system/clustergen-acs-off.service", acs_off, DAEMON_RELOAD),
)
