"""Alerts on what the driver and DCGM report as faults: XID errors, recovery actions, health incidents.

Each is made of the catalogue's rows for the generation of the GPUs: an XID that a generation does not have, and an
incident that means nothing on a system, raise no alert. Node types with the same rows share one alert.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.gpu_health import Incident, Xid, dcgm_incidents, xids_of
from clustergen.cluster.dcgm import by_generation, dcgm_types, exports
from clustergen.cluster.model import Cluster, NodeType
from clustergen.render.alerts import BLANK_COUNT, WHERE, Alert, Severity, for_types, one_of, window

XIDS = "DCGM_EXP_XID_ERRORS_COUNT"
_HEALTH = "DCGM_EXP_GPU_HEALTH_STATUS"
_RECOVERY = "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION"
_TO_REPAIR = (1, 2, 4, 6, 7)  # reset, reboot, drain and reset, bus reset, reboot of the system
_TO_WATCH = (3, 5)  # drain of peer-to-peer traffic, recovery of the IMEX domain


def alerts(cluster: Cluster) -> Iterator[Alert]:
    yield from _xids(cluster)
    if exports(cluster, _RECOVERY):
        yield from _recovery()
    if exports(cluster, _HEALTH):
        yield from _incidents(cluster)


def _xids(cluster: Cluster) -> Iterator[Alert]:
    for name, action, severity, meaning, runbook in (
        (
            "GpuFatalXid", "drain", "critical",
            "The driver reported an error after which the GPU cannot be trusted.",
            "Drain the node. Reboot it, or `systemctl stop nvidia-dcgm-exporter nvidia-dcgm`, `nvidia-smi -r` and start"
            " both again; run `dcgmi diag -r 3` before the node returns to service.",
        ),
        (
            "GpuXidToWatch", "watch", "warning",
            "The driver reported an error that leaves the GPU usable. From R565 on, Xid 154 in the kernel log has the"
            " recovery action that the driver recommends.",
            "Reset the GPU when it is next idle. A second one within days is a reason to replace it.",
        ),
    ):  # fmt: skip
        alike: dict[tuple[Xid, ...], list[NodeType]] = {}
        for where, kinds in by_generation(cluster).items():
            alike.setdefault(xids_of(where, action), []).extend(kinds)
        for rows, kinds in alike.items():
            yield _xid(cluster, name, rows, kinds, severity, meaning, runbook)  # type: ignore[arg-type]


def _xid(
    cluster: Cluster, name: str, rows: tuple[Xid, ...], kinds: list[NodeType], severity: Severity, *texts: str
) -> Alert:
    names = [kind.name for kind in kinds]
    types = f"node_type{one_of(names)}"
    if exports(cluster, XIDS):
        numbers = "|".join(str(row.xid) for row in rows)
        expr = f'max without (hpc_job, window_size_in_ms) ({XIDS}{{{types},xid=~"{numbers}"}}) > 0'
        number = "{{ $labels.xid }}"
    else:
        last = " or ".join(f"gpu:xid:max{{{types}}} == {row.xid}" for row in rows)
        expr = f"({last})\nand changes(gpu:xid:max[{window(cluster, 10)}]) > 0"
        number = "{{ $value }}"
    meaning, runbook = texts
    meanings = "; ".join(f"{row.xid}: {row.meaning}" for row in rows)
    return Alert(
        name,
        expr,
        "0s",
        severity,
        summary=f"Xid {number} on {WHERE}",
        meaning=f"{meaning} {meanings}.",
        action=runbook,
        labels=for_types(names),
    )


def _recovery() -> Iterator[Alert]:
    value = f"max without (hpc_job) ({_RECOVERY})"
    yield Alert(
        "GpuRecoveryRequired",
        " or ".join(f"{value} == {action}" for action in _TO_REPAIR),
        "1m", "critical",
        summary=f"{WHERE} requires recovery action {{{{ $value }}}}",
        meaning="The driver recommends a reset or a reboot. 1: reset the GPU; 2: reboot the node; 4: drain, then reset;"
        " 6: reset the bus; 7: reboot the system.",
        action="Drain the node, stop nvidia-dcgm and carry out the action. It returns to 0 when the GPU has recovered.",
    )  # fmt: skip
    yield Alert(
        "GpuRecoveryAdvised",
        " or ".join(f"{value} == {action}" for action in _TO_WATCH),
        "5m", "warning",
        summary=f"{WHERE} has recovery action {{{{ $value }}}}",
        meaning="The driver recommends to stop traffic between GPUs (3) or to recover the IMEX domain (5).",
        action="Look for the Xid in the kernel log; jobs of several GPUs may fail until this is done.",
    )  # fmt: skip


def _incidents(cluster: Cluster) -> Iterator[Alert]:
    alike: dict[tuple[bool, ...], list[NodeType]] = {}
    for kind in dcgm_types(cluster).values():
        if kind.gpus:
            alike.setdefault(tuple(kind.gpus.concerned_by(row) for row in dcgm_incidents()), []).append(kind)
    for relevant, kinds in alike.items():
        rows = [row for row, applies in zip(dcgm_incidents(), relevant, strict=True) if applies]
        names = [kind.name for kind in kinds]
        types = f"node_type{one_of(names)}"
        for name, severity, wait, meaning, runbook in (
            (
                "GpuHealthFailed", "critical", "5m",
                "DCGM reports a fault that makes the GPU unfit for jobs: {{ $labels.health_error_code }}.",
                "On the node, `dcgmi health -g 0 -c` shows the message. Drain the node and run `dcgmi diag -r 3`.",
            ),
            (
                "GpuHealthWarning", "warning", "15m",
                "DCGM reports {{ $labels.health_error_code }}. Jobs can continue.",
                "On the node, `dcgmi health -g 0 -c` shows the message; plan what it recommends.",
            ),
        ):  # fmt: skip
            expr = _selected(rows, severity, types)
            summary = f"{WHERE}: DCGM health watch {{{{ $labels.health_watch }}}}"
            yield Alert(
                name,
                expr,
                wait,
                severity,  # type: ignore[arg-type]
                summary=summary,
                meaning=meaning,
                action=runbook,
                labels=for_types(names),
            )


def _selected(rows: list[Incident], severity: str, types: str) -> str:
    """The series of incidents with this severity, a term by watch."""
    watches: dict[str, list[str]] = {}
    for row in rows:
        codes = watches.setdefault(row.watch, [])
        if row.alert == severity and row.code not in codes:
            codes.append(row.code)
    return "\nor ".join(
        f'max without (hpc_job) ({_HEALTH}{{{types},health_watch="{watch}",health_error_code{one_of(codes)}}})'
        f" >= 10 < {BLANK_COUNT}"
        for watch, codes in watches.items()
        if codes
    )
