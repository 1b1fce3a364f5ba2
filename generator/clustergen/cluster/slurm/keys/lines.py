"""Lines of several keys, by file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.keys.gres import gres_lines
from clustergen.cluster.slurm.keys.line import Line
from clustergen.cluster.slurm.keys.nodes import slurm_lines
from clustergen.cluster.slurm.keys.topology import topology_lines

LINES: Mapping[str, Callable[[Cluster], Iterable[Line]]] = {
    "slurm.conf": slurm_lines,
    "gres.conf": gres_lines,
    "topology.conf": topology_lines,
}
