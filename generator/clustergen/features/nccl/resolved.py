"""NCCL as resolved: environment variables of all jobs."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.catalogue.versions import NcclVersion
from clustergen.cluster.model import Cluster
from clustergen.features.nccl import section as manifest
from clustergen.features.nccl.section import Override
from clustergen.manifest.networks import Fabric
from clustergen.records import record


@record
class Variable:
    """An environment variable."""

    value: str  # text of the variable
    reason: str = ""  # why a debugging variable is set; empty for others


@record
class Nccl:
    """Settings of NCCL."""

    version: NcclVersion  # the oldest that jobs use
    debug: str | None
    env: Mapping[str, Variable]
    writes_topology: bool  # a topology file is rendered
    gid_index: int | None


@record
class Sharp:
    """Reductions in the switches. Absent: NCCL does not use them."""


def resolve(section: manifest.Nccl, _: Cluster) -> Nccl:
    return Nccl(
        version=NcclVersion(section.version),
        debug=section.debug,
        env={
            name: Variable(str(value.value), value.reason) if isinstance(value, Override) else Variable(str(value))
            for name, value in section.env.items()
        },
        writes_topology=section.topology_file == "auto",
        gid_index=section.gid_index,
    )


def resolve_sharp(section: Fabric, _: Cluster) -> Sharp | None:
    return Sharp() if section.sharp else None


RECORDS = {Nccl: resolve, Sharp: resolve_sharp}
