"""Tuning of a node type: what a oneshot unit sets at every boot."""

from __future__ import annotations

from clustergen.cluster.model import Cluster, NodeType
from clustergen.features.tuning.resolved import Tunings
from clustergen.records import record
from clustergen.render.effects import DAEMON_RELOAD, restart, run
from clustergen.render.file import Context, File, sbin

UNIT = "clustergen-tuning.service"
IRQBALANCE = "irqbalance.service"


@record
class Script:
    """The settings of the script; None or empty: left unchanged."""

    governor: str | None
    idle_latency_us: int | None
    transparent_hugepages: str | None
    ports: tuple[str, ...]  # RDMA devices, or interfaces of ports without one
    interrupts: bool
    rings: int | str | None
    channels: int | None
    read_request: int | None  # bits 14 to 12 of the device control register: 128 bytes to the power of it
    relaxed_ordering: int | None  # 1 or 0: bit 4 of that register

    @property
    def uses_ethtool(self) -> bool:
        return bool(self.rings or self.channels)

    @property
    def uses_setpci(self) -> bool:
        return self.read_request is not None or self.relaxed_ordering is not None


def script(cluster: Cluster, node_type: NodeType) -> Script | None:
    tuning = cluster.of(Tunings).of(node_type)
    of_ports = (tuning.interrupts, tuning.rings, tuning.channels, tuning.max_read_request, tuning.relaxed_ordering)
    ports = node_type.data_ports() if any(value is not None for value in of_ports) else ()
    of_cpus = (tuning.governor, tuning.idle_latency_us, tuning.transparent_hugepages)
    if not ports and all(value is None for value in of_cpus):
        return None
    return Script(
        governor=tuning.governor,
        idle_latency_us=tuning.idle_latency_us,
        transparent_hugepages=tuning.transparent_hugepages,
        ports=tuple(port.device for port in ports),
        interrupts=bool(ports) and tuning.interrupts is not None,
        rings=tuning.rings if ports else None,
        channels=tuning.channels if ports else None,
        read_request=(tuning.max_read_request // 128).bit_length() - 1 if ports and tuning.max_read_request else None,
        relaxed_ordering=int(tuning.relaxed_ordering) if ports and tuning.relaxed_ordering is not None else None,
    )


def irqbalance(cluster: Cluster, node_type: NodeType) -> Context | None:
    """Drop-in of irqbalance.service."""
    settings = script(cluster, node_type)
    drivers = sorted({port.driver for port in node_type.data_ports() if port.driver})
    if settings is None or not settings.interrupts or not drivers:
        return None
    return {"arguments": " ".join(f"--banmod={driver}" for driver in drivers)}


FILES: tuple[File, ...] = (
    File("all/etc/clustergen/tuning.sh", script, run(UNIT), values=True, per="type"),
    sbin("all", "tuning/clustergen-tuning.sh", script, run(UNIT), per="type"),
    File(f"all/etc/systemd/system/{UNIT}", script, DAEMON_RELOAD, per="type"),
    File(f"all/etc/systemd/system/{IRQBALANCE}.d/50-clustergen.conf", irqbalance, restart(IRQBALANCE), per="type"),
)
