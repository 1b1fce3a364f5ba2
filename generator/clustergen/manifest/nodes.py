"""Nodes as host lists, with their addresses and roles."""

from typing import ClassVar, Literal

from clustergen.catalogue.roles import Role
from clustergen.manifest.base import AddressList, HostList, Mac, Name, Options, Section, SlurmName, field, section
from clustergen.manifest.hardware import NodeType, NodeWeight


class Addresses(Section):
    """Addresses in networks other than the management network, in the order of the names."""

    bmc: AddressList | None = field(None, "BMC addresses.")
    storage: AddressList | None = field(None, "Storage network addresses.")
    fabric: AddressList | tuple[AddressList, ...] | None = field(
        None,
        "Fabric addresses (IPoIB or RoCE); a list of address lists, one per rail, if each rail has a separate network.",
    )


class Nodes(Section):
    """One node, or several identical ones, with fields of their node type that differ."""

    OVERRIDES: ClassVar[tuple[str, ...]] = ()
    """Fields of the node type that an entry may have, which `layers` moves to a node type of their own."""
    name: HostList = field(..., "Host name, or a host list for identical nodes: compute[01-08].", sample='"gpu[1-4]"')
    type: Name = field(
        ...,
        "Node type; `service` is a machine that runs no jobs and needs no definition. Fields of a node type that are"
        " written here, as gpus: {mig: slices}, hold for these nodes instead of those of the type.",
        sample="service",
        names_of="node_types",
    )
    address: AddressList | None = field(None, "Management addresses, one per name: 10.0.0.[11-18].")
    addresses: Addresses = section(Addresses, "Addresses in the other networks.")
    macs: tuple[Mac, ...] = field(
        (), "MAC addresses of the port that boots over the network, one per name; for provisioning and cloud-init."
    )
    roles: tuple[Role, ...] | None = field(
        None,
        "Roles of the nodes; default slurm-compute, unless the type is service. Nodes with GPUs have it besides others,"
        " unless in_no_partition is true.",
    )
    features: tuple[SlurmName, ...] = field((), "More Slurm features.")
    weight: NodeWeight | None = field(None, "Slurm weight; default: that of the node type.")
    state: Literal["UNKNOWN", "CLOUD", "FUTURE", "DRAIN", "DOWN"] = field("UNKNOWN", "Slurm state at first start.")
    in_no_partition: bool = field(False, "Confirms that no partition contains these nodes, so no job runs on them.")
    slurm_options: Options = field({}, "More keys of the NodeName line, as Port: 17001.")


Nodes.OVERRIDES = tuple(
    name for name in NodeType.model_fields if name not in Nodes.model_fields and name not in ("like", "system")
)
