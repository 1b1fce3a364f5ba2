"""Topology of Slurm."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import HostList, Options, Section, SlurmName, Word, field, section


class Topology(Section):
    """Slurm's view of the fabric; derived from networks.fabric.switches unless set."""

    plugin: Literal["auto", "flat", "tree", "block"] = field(
        "auto",
        "auto: block where NVLink domains span nodes and the release has it, tree if switches are defined, otherwise"
        " flat.",
    )
    block_sizes: tuple[Annotated[int, Field(ge=1)], ...] = field(
        (), "topology/block: base block size and its multiples by powers of two."
    )
    blocks: dict[SlurmName, HostList] = field(
        {}, "topology/block: nodes of each block; default: one block per leaf switch."
    )
    format: Literal["auto", "conf", "yaml"] = field(
        "auto", "Topology file; topology.yaml requires 25.05, auto keeps topology.conf."
    )
    parameters: tuple[Word, ...] = field((), "TopologyParam.")
    lines: tuple[Options, ...] = field(
        (), "Lines of topology.conf that replace the rendered ones: {SwitchName: s1, Nodes: n[1-4]}."
    )


PLACES = {"slurm.topology": (Topology, section(Topology, "Topology."))}
