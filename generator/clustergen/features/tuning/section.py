"""Tuning of a node type: settings of kernel and drivers. Nothing is set unless it is stated."""

from typing import Annotated, Literal

from pydantic import Field

from clustergen.manifest.base import Section, field, section, text

KernelOption = Annotated[
    str,
    text(
        r"^[A-Za-z_][A-Za-z0-9_.-]*(=[A-Za-z0-9_.,:@/+-]+)?$",
        "write one option of the kernel command line, as intel_idle.max_cstate=1",
        200,
    ),
]


class Tuning(Section):
    """Settings of kernel and drivers for the nodes of a type. What is not stated is left as the node has it."""

    governor: Literal["performance", "powersave", "schedutil", "ondemand"] | None = field(
        None, "Governor of the CPU frequency."
    )
    idle_latency: Annotated[int, Field(ge=0, le=10_000)] | None = field(
        None, "Maximum wake-up time of a CPU in µs; idle states that take longer are disabled."
    )
    transparent_hugepages: Literal["always", "madvise", "never"] | None = field(
        None, "Whether the kernel gives large pages unasked."
    )
    hugepages_1gib: Annotated[int, Field(ge=1, le=4096)] | None = field(
        None, "1 GiB huge pages that are reserved at boot."
    )
    iommu: Literal["pt"] | None = field(
        None, "pt: devices access memory without translation (iommu=pt, or iommu.passthrough=1 on aarch64)."
    )
    page_size: Literal["64k"] | None = field(
        None, "64k: the nodes boot a kernel with pages of 64 KiB, which only aarch64 has; installed with its headers."
    )
    kernel_options: tuple[KernelOption, ...] = field((), "More options of the kernel command line.")
    interrupts: Literal["local"] | None = field(
        None,
        "local: interrupts of fabric and storage ports are divided among the CPUs of their NUMA node, and irqbalance"
        " leaves them alone.",
    )
    rings: Literal["max"] | Annotated[int, Field(ge=64, le=65536)] | None = field(
        None, "Receive and transmit descriptors of Ethernet ports of fabric and storage."
    )
    channels: Annotated[int, Field(ge=1, le=1024)] | None = field(
        None, "Queue pairs of these Ethernet ports (ethtool -L combined)."
    )
    max_read_request: Literal[128, 256, 512, 1024, 2048, 4096] | None = field(
        None, "Bytes that an adapter of fabric or storage requests in one PCIe read."
    )
    relaxed_ordering: bool | None = field(None, "Whether these adapters may reorder PCIe writes.")


PLACES = {"node_types.*.tuning": (Tuning, section(Tuning, "Settings of kernel and drivers."))}
