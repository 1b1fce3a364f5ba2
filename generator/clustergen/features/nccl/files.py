"""Files of NCCL."""

from __future__ import annotations

from clustergen.features.nccl.settings import nccl_conf
from clustergen.features.nccl.topology import topology
from clustergen.render.file import File
from clustergen.render.formats import CONF

FILES: tuple[File, ...] = (
    File("gpu_node/etc/nccl.conf", nccl_conf, per="type", format=CONF),
    File("gpu_node/etc/nccl-topo.xml", topology, per="type"),
)
