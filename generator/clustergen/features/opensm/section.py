"""The InfiniBand subnet manager, as written."""

from typing import Annotated, Literal

from clustergen.manifest.base import OptionName, Section, field, section, text

OpensmValue = Annotated[
    str,
    text(r"^[A-Za-z0-9_./:,()-]+( +[A-Za-z0-9_./:,()-]+)*$", "use letters, digits, blanks and _ . / : , ( ) -", 500),
]


class SubnetManager(Section):
    """The InfiniBand subnet manager, which assigns LIDs and routes."""

    where: Literal["switch", "node", "ufm"] = field(
        "switch",
        "switch: a managed switch runs it; node: opensm on the nodes with role subnet-manager; ufm: NVIDIA UFM.",
    )
    routing: Literal["minhop", "updn", "dnup", "ftree", "dor", "torus-2QoS", "nue", "dfsssp", "sssp", "lash"] | None = (
        field(None, "opensm routing engine; default ftree for a fat tree with spines, otherwise updn.")
    )
    pkey: Annotated[str, text(r"^0x[0-9a-fA-F]{4}$", 'write four hexadecimal digits: "0x8001"')] | None = field(
        None, "Partition key that jobs use."
    )


PLACES = {
    "networks.fabric.subnet_manager": (SubnetManager, section(SubnetManager, "InfiniBand subnet manager.")),
    "networks.fabric.opensm_options": (dict[OptionName, OpensmValue | int], field({}, "More keys of opensm.conf.")),
}
