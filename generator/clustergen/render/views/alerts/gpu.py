"""Alerts on GPUs. They read DCGM's exporter, whose counters are made of what these expressions name.

Three things about its series decide how they are written. The label `hpc_job` comes and goes with jobs, and a GPU that
two jobs share is there twice: so rates are taken of recorded series without it. A field that a GPU lacks can read as a
huge number: so values have an upper bound. XID_ERRORS holds the last XID for ever: so XIDs are counted in a window.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.dcgm import dcgm_fields, xids
from clustergen.catalogue.versions import DcgmVersion
from clustergen.cluster.model import Cluster, GpuSet
from clustergen.render.views.alerts.model import (
    Alert,
    Recording,
    Severity,
    Topic,
    dcgm_types,
    for_types,
    one_of,
    window,
)

BLANK_COUNT = "1e14"  # DCGM's blank values of 32-bit and floating-point fields start above
BLANK_TIME = "9e18"  # and that of 64-bit fields here
_COUNTERS = {
    "gpu:ecc_dbe:max": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", BLANK_COUNT),
    "gpu:thermal_violation_ns:max": ("DCGM_FI_DEV_THERMAL_VIOLATION", BLANK_TIME),
    "gpu:power_violation_ns:max": ("DCGM_FI_DEV_POWER_VIOLATION", BLANK_TIME),
    "gpu:pcie_replay:max": ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", BLANK_COUNT),
}
_NVLINK = {
    "gpu:nvlink_recovery:max": ("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", BLANK_COUNT),
    "gpu:nvlink_replay:max": ("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", BLANK_COUNT),
    "gpu:nvlink_crc_flit:max": ("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", BLANK_COUNT),
    "gpu:nvlink_crc_data:max": ("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", BLANK_COUNT),
}
_POWER_BRAKE = 128  # bit of the clock event mask; PromQL has no bitwise operators
_XIDS = "DCGM_EXP_XID_ERRORS_COUNT"
_WHERE = "GPU {{ $labels.gpu }} of {{ $labels.instance }}"


def topic(cluster: Cluster) -> Topic | None:
    kinds = dcgm_types(cluster)
    if not kinds:
        return None
    counters = dict(_COUNTERS)
    if _nvlink(cluster):
        counters |= _NVLINK
    recordings = [
        Recording(name, f"max without (hpc_job) ({field}) < {blank}") for name, (field, blank) in counters.items()
    ]
    if not _exports(cluster, _XIDS):
        value = "max without (hpc_job, err_code, err_msg) (DCGM_FI_DEV_XID_ERRORS)"
        recordings.append(Recording("gpu:xid:max", f"{value} < {BLANK_COUNT}"))
    return Topic(
        "gpu",
        "GPUs: presence, heat, errors, throttling, links.",
        tuple(recordings),
        (*_presence(cluster), *_heat(cluster), *_errors(cluster), *_throttling(cluster), *_links(cluster)),
    )


def _exports(cluster: Cluster, field: str) -> bool:
    return dcgm_fields()[field].known_in(DcgmVersion(cluster.manifest.monitoring.dcgm.version))


def _nvlink(cluster: Cluster) -> list[str]:
    return [kind.name for kind in dcgm_types(cluster).values() if kind.gpus and kind.gpus.nvlink != "none"]


def _presence(cluster: Cluster) -> Iterator[Alert]:
    yield Alert(
        "GpuExporterDown", 'up{job="dcgm"} == 0', "5m", "critical",
        "No GPU metrics from {{ $labels.instance }}",
        "Prometheus cannot read the DCGM exporter, so none of the other GPU alerts can fire for this node.",
        "On the node: systemctl status nvidia-dcgm nvidia-dcgm-exporter; then nvidia-smi, which hangs or fails"
        " when the driver does.",
    )  # fmt: skip
    by_count: dict[int, list[str]] = {}
    for kind in dcgm_types(cluster).values():
        if kind.gpus:
            by_count.setdefault(kind.gpus.count, []).append(kind.name)
    for count, names in by_count.items():
        which = f'{{job="dcgm",node_type{one_of(names)}}}'
        yield Alert(
            "GpuMissing",
            f"(\n"
            f"  count by (instance) (count by (instance, gpu) (DCGM_FI_DEV_GPU_TEMP{which}))\n"
            f"  or 0 * max by (instance) (up{which} == 1)\n"
            f") < {count}",
            "5m", "critical",
            f"{{{{ $labels.instance }}}} has {{{{ $value }}}} of {count} GPUs",
            "The driver or DCGM lost a GPU. Jobs that need whole nodes fail here.",
            "Drain the node, look for Xid lines in dmesg and compare nvidia-smi -L with lspci. A cold reset often"
            " brings the GPU back; when it is lost again, reseat or replace it.",
            for_types(names),
        )  # fmt: skip


def _heat(cluster: Cluster) -> Iterator[Alert]:
    limits = cluster.manifest.monitoring.thresholds
    temperature = 'max without (hpc_job) (DCGM_FI_DEV_GPU_TEMP{job="dcgm"})'
    yield Alert(
        "GpuHot", f"{temperature} > {limits.gpu_hot} < 200", "5m", "warning",
        f"{_WHERE} is at {{{{ $value }}}} C",
        "The GPU nears the temperature at which it slows down.",
        "Look at its neighbours: one hot GPU is a heat sink or fan, a hot node is air flow, a hot rack is the room.",
    )  # fmt: skip
    yield Alert(
        "GpuVeryHot", f"{temperature} > {limits.gpu_very_hot} < 200", "1m", "critical",
        f"{_WHERE} is at {{{{ $value }}}} C",
        "The GPU slows down now, and shuts itself off when it gets hotter.",
        "Drain the node and check fans, filters and the room's cooling before it goes back.",
    )  # fmt: skip


def _errors(cluster: Cluster) -> Iterator[Alert]:
    yield Alert(
        "GpuDoubleBitErrors", f"increase(gpu:ecc_dbe:max[{window(cluster, 10)}]) > 0", "0s", "critical",
        f"{_WHERE} had uncorrectable memory errors",
        "Memory returned wrong data that ECC could not repair; the job that used it was ended.",
        "Drain the node and reset the GPU (nvidia-smi -r). Run dcgmi diag -r 3 before it goes back; replace it"
        " when errors return.",
    )  # fmt: skip
    yield Alert(
        "GpuRowRemapFailed",
        f"max without (hpc_job) (DCGM_FI_DEV_ROW_REMAP_FAILURE) > 0 < {BLANK_COUNT}",
        "0s", "critical",
        f"{_WHERE} ran out of spare memory rows",
        "A row of memory went bad and could not be remapped.",
        "Drain the node and have the GPU replaced: this is the vendor's criterion.",
    )  # fmt: skip
    yield Alert(
        "GpuRowRemapPending",
        f"max without (hpc_job) (DCGM_FI_DEV_ROW_REMAP_PENDING) > 0 < {BLANK_COUNT}",
        "5m", "warning",
        f"{_WHERE} waits for a reset to remap a memory row",
        "A bad row was found; until the reset it stays in use.",
        "Drain the node, and reset the GPU or reboot once its jobs are done.",
    )  # fmt: skip
    yield _xid(
        cluster, "GpuFatalXid", "drain", "critical",
        "The driver reported an error after which the GPU is not to be trusted.",
        "Drain the node, reset or reboot it and run dcgmi diag -r 3 before it goes back.",
    )  # fmt: skip
    yield _xid(
        cluster, "GpuXidToWatch", "watch", "warning",
        "The driver contained a memory error or remapped a row. The GPU works on.",
        "Reset the GPU when it is next idle. Watch it: a second time within days is a reason to replace it.",
    )  # fmt: skip
    if _exports(cluster, "DCGM_EXP_GPU_HEALTH_STATUS"):
        yield Alert(
            "GpuHealthFailed",
            f"max without (hpc_job) (DCGM_EXP_GPU_HEALTH_STATUS) >= 20 < {BLANK_COUNT}",
            "1m", "critical",
            f"{_WHERE}: DCGM's health watch {{{{ $labels.health_watch }}}} failed",
            "DCGM found a fault: {{ $labels.health_error_code }}.",
            "On the node: dcgmi health -g 0 -c says what it saw. Drain the node and run dcgmi diag -r 3.",
        )  # fmt: skip


def _xid(cluster: Cluster, name: str, action: str, severity: Severity, meaning: str, runbook: str) -> Alert:
    wanted = [xid for xid in xids().values() if xid.action == action]
    if _exports(cluster, _XIDS):
        seen = "|".join(str(xid.xid) for xid in wanted)
        expr = f'max without (hpc_job, window_size_in_ms) ({_XIDS}{{xid=~"{seen}"}}) > 0'
        number = "{{ $labels.xid }}"
    else:
        seen = " or ".join(f"gpu:xid:max == {xid.xid}" for xid in wanted)
        expr = f"({seen})\nand changes(gpu:xid:max[{window(cluster, 10)}]) > 0"
        number = "{{ $value }}"
    meanings = "; ".join(f"{xid.xid}: {xid.meaning}" for xid in wanted)
    return Alert(name, expr, "0s", severity, f"Xid {number} on {_WHERE}", f"{meaning} {meanings}.", runbook)


def _throttling(cluster: Cluster) -> Iterator[Alert]:
    share = cluster.manifest.monitoring.thresholds.throttled
    percent = f"{share * 100:g}"
    minutes = window(cluster, 5)
    yield Alert(
        "GpuThermalThrottling", f"rate(gpu:thermal_violation_ns:max[{minutes}]) / 1e9 > {share:g}", "10m", "warning",
        f"{_WHERE} is slowed down by heat",
        f"More than {percent} % of the time its clocks are held down; a job of many nodes runs at this GPU's pace.",
        "Check fans, filters and the temperature of the air that goes in; compare with its neighbours.",
    )  # fmt: skip
    by_limit: dict[int, list[str]] = {}
    for kind in dcgm_types(cluster).values():
        if kind.gpus and (limit := _power_limit(kind.gpus)):
            by_limit.setdefault(limit, []).append(kind.name)
    for limit, names in by_limit.items():
        which = f"{{node_type{one_of(names)}}}"
        yield Alert(
            "GpuPowerThrottling",
            f"rate(gpu:power_violation_ns:max{which}[{minutes}]) / 1e9 > {share:g}\n"
            f"and on (instance, gpu)\n"
            f"max by (instance, gpu) (DCGM_FI_DEV_POWER_USAGE{which}) < {limit * 8 // 10}",
            "10m", "warning",
            f"{_WHERE} is held back by power although it draws little",
            f"Throttling at the limit of {limit} W is normal under full load. Below four fifths of it, power does"
            " not reach the GPU.",
            "Check the node's power supplies and cables (ipmitool sel list), the rack's power cap and nvidia-smi"
            " -q -d POWER.",
            for_types(names),
        )  # fmt: skip
    renamed = _exports(cluster, "DCGM_FI_DEV_CLOCKS_EVENT_REASONS")
    reasons = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS" if renamed else "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"
    yield Alert(
        "GpuPowerBrake",
        f"floor((max without (hpc_job) ({reasons}) < {BLANK_COUNT}) / {_POWER_BRAKE}) % 2 == 1",
        "1m", "critical",
        f"{_WHERE}: the node pulls its power brake",
        "The mainboard tells the GPU to slow down, most often since a power supply is lost or overloaded.",
        "Look at the node's power supplies (ipmitool sdr type 'Power Supply') and at the rack's feeds.",
    )  # fmt: skip


def _power_limit(gpus: GpuSet) -> int | None:
    """Watts at which a GPU of this node type is held."""
    return gpus.power_limit_w or gpus.model.power_default_w or gpus.model.tdp_w


def _links(cluster: Cluster) -> Iterator[Alert]:
    minutes = window(cluster, 5)
    yield Alert(
        "GpuPcieReplays", f"rate(gpu:pcie_replay:max[{minutes}]) > 0.1", "10m", "warning",
        f"{_WHERE} repeats PCIe transfers",
        "Packets between CPU and GPU arrive damaged and are sent again.",
        "Reseat the GPU, its riser and its cables; look for AER lines in dmesg.",
    )  # fmt: skip
    if not _nvlink(cluster):
        return
    yield Alert(
        "GpuNvlinkRecovery", f"increase(gpu:nvlink_recovery:max[{window(cluster, 10)}]) > 0", "5m", "warning",
        f"{_WHERE} had to retrain an NVLink",
        "A link went down and came back; jobs saw a stall, or Xid 74.",
        "nvidia-smi nvlink -e shows the link. Drain and reset the node; when it is the same link again, have the"
        " GPU or board replaced.",
    )  # fmt: skip
    yield Alert(
        "GpuNvlinkErrors",
        "\nor ".join(f"rate(gpu:nvlink_{kind}:max[{minutes}]) > 1" for kind in ("replay", "crc_flit", "crc_data")),
        "10m", "warning",
        f"{_WHERE} repeats NVLink transfers",
        "The link corrects errors all the time, which costs bandwidth.",
        "nvidia-smi nvlink -e shows the link. Clean or reseat bridges; run dcgmi diag -r 3 when the node is idle.",
    )  # fmt: skip
