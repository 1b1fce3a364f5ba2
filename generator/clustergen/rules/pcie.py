"""PCIe lanes of the processors, and boards of the chassis, against GPUs, adapters and drives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from clustergen.catalogue import hardware, systems
from clustergen.catalogue.processors import pcie_lanes
from clustergen.cluster.model import Cluster, NodeType, Port
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.manifest.hardware import NodeType as NodeTypeSection

_GPU_LANES, _DRIVE_LANES = 16, 4


def _base(cluster: Cluster, kind: NodeType) -> systems.System | None:
    """The catalogue's own row of the system."""
    is_own = kind.system in cluster.catalogue.own_systems
    return systems.system(kind.system) if kind.system and not is_own else None


def gpu_form_unfit(cluster: Cluster) -> Iterator[Finding]:
    """A board of SXM sockets takes neither cards nor modules of another generation, and a server with slots none."""
    for kind in cluster.node_types:
        base = _base(cluster, kind)
        row = hardware.gpus().get(base.gpu or "") if base else None
        gpus = kind.gpus
        if base is None or row is None or gpus is None or gpus.model.id in (row.id, *base.gpu_options):
            continue
        if gpus.model.form and row.form and gpus.model.form != row.form:
            fitting = ", ".join((row.id, *base.gpu_options))
            yield Finding(
                "gpu-form-unfit",
                ("node_types", kind.name, "gpus", "model"),
                f"{base.name} has {_seats(row.form)}, which the {gpus.model.nvml_name}, {_form(gpus.model.form)}, does"
                " not fit",
                f"write model: {fitting.partition(',')[0]}"
                + (f" (or {fitting})" if base.gpu_options else "")
                + ", or leave system out and state cpu and memory",
            )


def _form(form: str) -> str:
    return {"pcie": "a PCIe card", "superchip": "a superchip"}.get(form, f"an {form.upper()} module")


def _seats(form: str) -> str:
    if form == "pcie":
        return "slots for PCIe cards"
    return "superchips" if form == "superchip" else f"sockets for {form.upper()} modules"


def pcie_lanes_short(cluster: Cluster, section: Mapping[str, NodeTypeSection]) -> Iterator[Finding]:
    """Modules on a baseboard have switches of their own; so has a system of the catalogue that needs more by itself."""
    for kind in cluster.node_types:
        lanes = pcie_lanes(kind.cpu_model, kind.sockets) if kind.is_resolved else None
        on_board = kind.gpus is not None and kind.gpus.model.form != "pcie"
        base = _base(cluster, kind)
        if lanes is None or on_board or (base and _as_sold(base) > lanes):
            continue
        stated = section[kind.name].disks if kind.name in section else ()
        nvme = [disk for disk in stated if disk.device.startswith("nvme")]
        needs = {
            "GPUs": (kind.gpus.count if kind.gpus else 0) * _GPU_LANES,
            "network adapters": _adapter_lanes(kind.ports),
            "NVMe drives": len(nvme) * _DRIVE_LANES,
        }
        total = sum(needs.values())
        if total > lanes:
            path: ManifestPath = ("node_types", kind.name)
            parts = ", ".join(f"{what} {count}" for what, count in needs.items() if count)
            yield Finding(
                "pcie-lanes-short",
                path,
                f"'{kind.name}' needs {total} PCIe lanes ({parts}), but {kind.sockets} ×"
                f" {kind.cpu_model} have {lanes} (not confirmed)",
                "fit fewer devices; if PCIe switches share the lanes, GPUs and adapters do not reach their rates at a"
                " time: say so with a comment `# clustergen: ignore[pcie-lanes-short] REASON`",
                key=True,
            )


def _as_sold(base: systems.System) -> int:
    """Lanes that the catalogue's own row needs."""
    ports = [nic for nic in base.nics if nic.role != "bmc"]
    lanes = sum((row.pcie_lanes or 0) if (row := hardware.nics().get(nic.nic)) else 0 for nic in ports)
    return base.gpu_count * _GPU_LANES + lanes


def _adapter_lanes(ports: Iterable[Port]) -> int:
    """At least: ports at one address are one card; without addresses, as many share a card as its layouts allow."""
    cards: set[tuple[str, str]] = set()
    loose: Counter[tuple[str, int]] = Counter()
    for port in ports:
        if port.model and port.pci:
            cards.add((port.model, port.pci.rpartition(".")[0]))
        elif port.model:
            loose[port.model, int(port.max_gbit or 0)] += 1
    total = sum(_lanes(model) for model, _ in cards)
    for (model, gbit), count in loose.items():
        total += math.ceil(count / _ports_per_card(model, gbit)) * _lanes(model)
    return total


def _lanes(model: str) -> int:
    row = hardware.nic(model)
    return (row.pcie_lanes or 0) if row else 0


def _ports_per_card(model: str, gbit: int) -> int:
    row = hardware.nic(model)
    layouts = [tuple(map(int, layout.split("x"))) for layout in row.port_layouts] if row else []
    return max((count for count, rate in layouts if rate >= gbit), default=1)
