"""Alerts on NVLinks, by GPU generation: each reports its errors in other counters, and leaves those of the others out.

A link corrects errors by itself. Alerts watch how fast counters grow, so that one corrected error is none, and a
counter that starts anew with the driver neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import NvlinkCounter, nvlink_counters
from clustergen.cluster.dcgm import NVLINK_BIT_ERRORS, dcgm_types, exports, reports
from clustergen.cluster.model import Cluster
from clustergen.cluster.nvlink import domain_nodes
from clustergen.render.alerts import BLANK_COUNT, WHERE, Alert, Recording, window

_BER_EXPONENT = 12  # worse than 1e-12 is DCGM's own limit from 4.6 on
_NO_BER = 15 * 256 + 255  # mantissa and exponent where no rate was measured
_NODES_OF_DOMAIN = 3  # two that fail at a time may be chance
_NO_ERROR = 256  # below it the mantissa is 0


def _reported(cluster: Cluster, field: str) -> bool:
    return exports(cluster, field) and any(reports(kind, field) for kind in dcgm_types(cluster).values())


def _counters(cluster: Cluster) -> tuple[NvlinkCounter, ...]:
    return tuple(row for row in nvlink_counters() if _reported(cluster, row.field))


def recordings(cluster: Cluster) -> Iterator[Recording]:
    for row in _counters(cluster):
        yield Recording(f"gpu:nvlink_{row.name}:max", f"max without (hpc_job) ({row.field}) < {BLANK_COUNT}")


def alerts(cluster: Cluster) -> Iterator[Alert]:
    terms: dict[str, list[str]] = {}
    for row in _counters(cluster):
        # increase() extrapolates to the edges of the window: half an event more than `above` is one more.
        limit = f"{row.above + 0.5:g}" if row.above < 10 else str(row.above)
        term = f"increase(gpu:nvlink_{row.name}:max[{window(cluster, row.window_min)}]) > {limit}"
        terms.setdefault(row.alert, []).append(term)
    for name, severity, wait, summary, meaning, runbook in (
        (
            "GpuNvlinkErrors", "warning", "10m",
            f"{WHERE} retransmits or loses NVLink packets",
            "A link has repeated errors, which cost bandwidth.",
            "`nvidia-smi nvlink -e` shows the link. Clean or reseat bridges; run `dcgmi diag -r 3` when the node is"
            " idle.",
        ),
        (
            "GpuNvlinkRecovery", "warning", "0s",
            f"{WHERE} retrains an NVLink repeatedly",
            "A link went down and came back more than once within a day; jobs saw a stall each time.",
            "`nvidia-smi nvlink -e` shows the link. Reset the GPUs when the node is free; when it is the same link"
            " again,"
            " have the GPU or board replaced.",
        ),
        (
            "GpuNvlinkLost", "critical", "0s",
            f"{WHERE} lost an NVLink",
            "A link could not recover and is down. Jobs that use it fail.",
            "Drain the node and reset its GPUs; if the link fails again, have the GPU, board or tray replaced.",
        ),
    ):  # fmt: skip
        if name in terms:
            expr = "\nor ".join(terms[name])
            yield Alert(name, expr, wait, severity, summary=summary, meaning=meaning, action=runbook)  # type: ignore[arg-type]
    yield from _domains(
        cluster, [term for name in ("GpuNvlinkLost", "GpuNvlinkErrors") for term in terms.get(name, ())]
    )
    if _reported(cluster, NVLINK_BIT_ERRORS):
        rate = f"(max without (hpc_job) ({NVLINK_BIT_ERRORS}) >= {_NO_ERROR} < {_NO_BER})"
        yield Alert(
            "GpuNvlinkBitErrors", f"{rate} % 256 < {_BER_EXPONENT}", "15m", "warning",
            summary=f"{WHERE}: NVLink bit errors at 1e-{{{{ $value }}}} after correction",
            meaning="Errors remain after error correction, so that packets are retransmitted continuously.",
            action="`nvidia-smi nvlink -s` shows the link. Reset the GPUs when the node is free; reseat the tray or its"
            " cables.",
        )  # fmt: skip


def _domains(cluster: Cluster, faults: list[str]) -> Iterator[Alert]:
    """Several nodes whose links fail together have a switch tray or a cartridge in common, not a bad GPU each."""
    if faults and any(domain_nodes(kind) > 1 for kind in dcgm_types(cluster).values()):
        nodes = "count by (nvlink_domain, instance) (\n  " + "\n  or ".join(faults) + "\n)"
        yield Alert(
            "NvlinkDomainErrors",
            f'count by (nvlink_domain) (\n{nodes}\n) >= {_NODES_OF_DOMAIN}',
            "5m", "critical",
            summary="{{ $value }} nodes of NVLink domain {{ $labels.nvlink_domain }} have errors on their links",
            meaning="The nodes share NVLink switch trays and cable cartridges. A fault there costs bandwidth or ends"
            " jobs on all nodes of the domain, while the GPUs themselves are sound.",
            action="Drain the nodes of the domain. On a switch tray, `nv show interface` and the log of the NVLink"
            " subnet manager name the ports; reseat or replace the tray that most of them have in common.",
            look="On the nodes: `nvidia-smi nvlink -e` shows whether the same links have errors on each.",
        )  # fmt: skip
