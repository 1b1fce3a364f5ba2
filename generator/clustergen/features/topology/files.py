"""topology.conf or topology.yaml: the switches, so that jobs are placed on neighbouring nodes."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.topology import Block, TreeSwitch, block_sizes, blocks, topology_lines, tree
from clustergen.cluster.slurm.scheduling import Topology
from clustergen.records import record
from clustergen.render.effects import RECONFIGURE
from clustergen.render.file import Context, File
from clustergen.render.formats import SLURM, YAML
from clustergen.render.slurm_files import configuration
from clustergen.render.views.slurm.layout import lines_of


@record
class TopologyYaml:
    tree: tuple[TreeSwitch, ...]
    blocks: tuple[Block, ...]
    block_sizes: tuple[int, ...]


def topology_conf(cluster: Cluster) -> Context | None:
    lines = lines_of(topology_lines(cluster))
    return {"lines": lines} if lines else None


def topology_yaml(cluster: Cluster) -> TopologyYaml | None:
    if cluster.of(Topology).format != "yaml" or not cluster.slurm.release.has("topology-yaml"):
        return None
    if cluster.slurm.topology == "block":
        return TopologyYaml((), tuple(blocks(cluster)), block_sizes(cluster))
    return TopologyYaml(tuple(tree(cluster)) if cluster.slurm.topology == "tree" else (), (), ())


FILES: tuple[File, ...] = (
    *configuration("topology.conf", topology_conf, RECONFIGURE, SLURM),
    *configuration("topology.yaml", topology_yaml, RECONFIGURE, YAML),
)
