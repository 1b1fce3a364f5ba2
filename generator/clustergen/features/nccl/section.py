"""NCCL, as written."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import EnvName, OptionValue, Phrase, Section, field, section, text


class Override(Section):
    """A setting that the vendor does not recommend, with the reason to use it."""

    value: OptionValue = field(..., "Value.")
    reason: Phrase = field(..., "Reason; printed above the setting.")


class Nccl(Section):
    """NCCL's defaults for all jobs (/etc/nccl.conf, and the task prolog for containers)."""

    version: Annotated[
        str, text(r"^2\.[0-9]{1,2}(\.[0-9]+)?$", 'write major and minor release: "2.27" or "2.27.5"')
    ] = field("2.27", "Oldest NCCL that jobs use; clustergen checks names and values against it.")
    debug: Literal["WARN", "INFO", "VERSION"] | None = field(None, "NCCL_DEBUG; default: NCCL's own.")
    env: dict[EnvName, OptionValue | Override] = field(
        {}, "More NCCL variables; a debugging variable requires {value, reason}."
    )
    topology_file: Literal["auto", "off"] = field(
        "off", "auto: render a topology XML where PCI addresses and NUMA nodes are known, as for virtual machines."
    )
    gid_index: Annotated[int, Field(ge=0, le=255)] | None = field(
        None, "NCCL_IB_GID_INDEX: for RoCE with NCCL before 2.21, as show_gids prints it."
    )


PLACES = {
    "nccl": (Nccl, section(Nccl, "NCCL.")),
    "networks.fabric.sharp": (
        bool,
        field(False, "Use in-network reductions (SHARP), which must be licensed and running."),
    ),
}
