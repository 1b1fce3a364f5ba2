"""Nodes as host lists, with their addresses and roles."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import AddressList, HostList, Name, Options, Section, SlurmName, field, section

Role = Literal[
    "slurm-controller",
    "slurm-accounting",
    "slurm-compute",
    "login",
    "monitoring",
    "nfs-server",
    "subnet-manager",
]


class Addresses(Section):
    """Addresses beside the management network's, in the order of the names."""

    bmc: AddressList | None = field(None, "Of the BMCs.")
    storage: AddressList | None = field(None, "In the storage network.")
    fabric: AddressList | tuple[AddressList, ...] | None = field(
        None, "In the fabric: IPoIB or RoCE; a list of address lists, one per rail, where each rail has its own."
    )


class Nodes(Section):
    """One node, or several alike."""

    name: HostList = field(..., "Host name; a host list for several alike: compute[01-08].")
    type: Name = field(..., "Node type; `service` needs no definition: a machine that runs no jobs.")
    address: AddressList | None = field(None, "Management addresses, as many as names: 10.0.0.[11-18].")
    addresses: Addresses = section(Addresses, "Addresses in the other networks.")
    roles: tuple[Role, ...] | None = field(
        None, "What they are for; default slurm-compute, unless the type is service."
    )
    features: tuple[SlurmName, ...] = field((), "More Slurm features.")
    weight: Annotated[int, Field(ge=1, le=4294967280)] | None = field(None, "Slurm weight; default the node type's.")
    state: Literal["UNKNOWN", "CLOUD", "FUTURE", "DRAIN", "DOWN"] = field("UNKNOWN", "Slurm state at first start.")
    in_no_partition: bool = field(False, "Says that it is meant: jobs cannot reach these nodes.")
    slurm_options: Options = field({}, "More keys of the NodeName line, as Port: 17001.")
