"""Alerts on GPUs. They read DCGM's exporter, whose counters are made of what these expressions name.

Three things about its series decide how they are written. The label `hpc_job` comes and goes with jobs, and a GPU that
two jobs share is there twice: so rates are taken of recorded series without it. A field that a GPU lacks can read as a
huge number: so values have an upper bound. XID_ERRORS holds the last XID for ever: so XIDs are counted in a window.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.dcgm import IDLE_ALERT, JOB_INFO, Dcgm, dcgm_types, exports, job_form, maps_jobs
from clustergen.cluster.gpu_set import GpuSet
from clustergen.cluster.model import Cluster
from clustergen.features.dcgm import faults, heat, nvlink
from clustergen.features.dcgm.faults import XIDS
from clustergen.render.alerts import (
    BLANK_COUNT,
    BLANK_TIME,
    WHERE,
    Alert,
    Recording,
    Topic,
    for_types,
    one_of,
    unless_asleep,
    window,
)

_COUNTERS = {
    "gpu:ecc_dbe:max": ("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", BLANK_COUNT),
    "gpu:thermal_violation_ns:max": ("DCGM_FI_DEV_THERMAL_VIOLATION", BLANK_TIME),
    "gpu:power_violation_ns:max": ("DCGM_FI_DEV_POWER_VIOLATION", BLANK_TIME),
    "gpu:pcie_replay:max": ("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", BLANK_COUNT),
}
_IDLE_PERCENT = 5
_POWER_BRAKE = 128  # bit of the clock event mask; PromQL has no bitwise operators


def topic(cluster: Cluster) -> Topic | None:
    kinds = dcgm_types(cluster)
    if not kinds:
        return None
    recordings = [
        Recording(name, f"max without (hpc_job) ({field}) < {blank}") for name, (field, blank) in _COUNTERS.items()
    ]
    recordings += nvlink.recordings(cluster)
    if not exports(cluster, XIDS):
        value = "max without (hpc_job, err_code, err_msg) (DCGM_FI_DEV_XID_ERRORS)"
        recordings.append(Recording("gpu:xid:max", f"{value} < {BLANK_COUNT}"))
    return Topic(
        "gpu",
        "GPUs: presence, heat, errors, throttling, links.",
        tuple(recordings),
        (
            *_presence(cluster),
            *heat.alerts(cluster),
            *_errors(cluster),
            *faults.alerts(cluster),
            *_throttling(cluster),
            *_links(cluster),
            *nvlink.alerts(cluster),
            *_idle(cluster),
        ),
        look="On the node: `timeout 20 nvidia-smi` and `journalctl -k --grep 'NVRM|Xid'` show the state of its GPUs.",
        page="gpu",
        drains=True,
        works="all other GPUs and nodes, and jobs that do not use what the alert names",
        place=20,
    )


def _presence(cluster: Cluster) -> Iterator[Alert]:
    yield Alert(
        "GpuExporterDown", 'up{job="dcgm"} == 0' + unless_asleep(cluster), "5m", "critical",
        summary="No GPU metrics from {{ $labels.instance }}",
        meaning="Prometheus cannot read the DCGM exporter, so none of the other GPU alerts can fire for this node.",
        action="On the node: `systemctl status nvidia-dcgm nvidia-dcgm-exporter`. nvidia-smi hangs or fails when the"
        " driver does.",
        page="node",
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
            summary=f"{{{{ $labels.instance }}}} has {{{{ $value }}}} of {count} GPUs",
            meaning="The driver or DCGM lost a GPU. Jobs that need whole nodes fail here.",
            action="Drain the node, and compare `nvidia-smi -L` with `lspci -d 10de:`. A cold reset often"
            " brings the GPU back; when it is lost again, reseat or replace it.",
            labels=for_types(names),
        )  # fmt: skip


def _errors(cluster: Cluster) -> Iterator[Alert]:
    yield Alert(
        "GpuDoubleBitErrors", f"increase(gpu:ecc_dbe:max[{window(cluster, 10)}]) > 0", "0s", "critical",
        summary=f"{WHERE} had uncorrectable memory errors",
        meaning="Memory returned wrong data that ECC could not correct; the job that used it was killed.",
        action="Drain the node and reset the GPU (`nvidia-smi -r`). Run `dcgmi diag -r 3` before it goes back; replace"
        " it when errors return.",
    )  # fmt: skip
    yield Alert(
        "GpuRowRemapFailed",
        f"max without (hpc_job) (DCGM_FI_DEV_ROW_REMAP_FAILURE) > 0 < {BLANK_COUNT}",
        "0s", "critical",
        summary=f"{WHERE} ran out of spare memory rows",
        meaning="A memory row failed and could not be remapped.",
        action="Drain the node and have the GPU replaced: this is the vendor's criterion.",
    )  # fmt: skip
    yield Alert(
        "GpuRowRemapPending",
        f"max without (hpc_job) (DCGM_FI_DEV_ROW_REMAP_PENDING) > 0 < {BLANK_COUNT}",
        "5m", "warning",
        summary=f"{WHERE} waits for a reset to remap a memory row",
        meaning="A bad row was found; until the reset it stays in use.",
        action="Drain the node, and reset the GPU or reboot once its jobs are done.",
    )  # fmt: skip


def _throttling(cluster: Cluster) -> Iterator[Alert]:
    share = cluster.of(Dcgm).throttled
    percent = f"{share * 100:g}"
    minutes = window(cluster, 5)
    yield Alert(
        "GpuThermalThrottling", f"rate(gpu:thermal_violation_ns:max[{minutes}]) / 1e9 > {share:g}", "10m", "warning",
        summary=f"{WHERE} is throttled by heat",
        meaning=f"More than {percent} % of the time its clocks are reduced; it limits multi-node jobs.",
        action="Check fans, filters and the inlet temperature; compare with neighbouring nodes.",
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
            summary=f"{WHERE} is throttled by power although its draw is low",
            meaning=f"Throttling at the limit of {limit} W is normal under full load. Below four fifths of it, power"
            " does not reach the GPU.",
            action="Check the node's power supplies and cables (event log of its BMC), the rack's power cap and"
            " `nvidia-smi -q -d POWER`.",
            labels=for_types(names),
        )  # fmt: skip
    renamed = exports(cluster, "DCGM_FI_DEV_CLOCKS_EVENT_REASONS")
    reasons = "DCGM_FI_DEV_CLOCKS_EVENT_REASONS" if renamed else "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"
    yield Alert(
        "GpuPowerBrake",
        f"floor((max without (hpc_job) ({reasons}) < {BLANK_COUNT}) / {_POWER_BRAKE}) % 2 == 1",
        "1m", "critical",
        summary=f"{WHERE}: the node pulls its power brake",
        meaning="The mainboard throttles the GPU, usually because a power supply failed or is overloaded.",
        action="Look at the node's power supplies (sensors and event log of its BMC) and at the rack's feeds.",
    )  # fmt: skip


def _power_limit(gpus: GpuSet) -> int | None:
    """Watts at which a GPU of this node type is held."""
    return gpus.power_limit_w or gpus.model.power_default_w or gpus.model.tdp_w


def _links(cluster: Cluster) -> Iterator[Alert]:
    minutes = window(cluster, 5)
    yield Alert(
        "GpuPcieReplays", f"rate(gpu:pcie_replay:max[{minutes}]) > 0.1", "10m", "warning",
        summary=f"{WHERE} retransmits PCIe packets",
        meaning="Packets between CPU and GPU arrive damaged and are retransmitted.",
        action="Reseat the GPU, its riser and its cables; `journalctl -k --grep AER` names the device.",
    )  # fmt: skip


def _utilisation_by_job(cluster: Cluster) -> str:
    """Percent by GPU and job. The series of jobs is on the left, since jobs can share a GPU."""
    by = "max by (instance, node_type, gpu, hpc_job)"
    if job_form(cluster) == "label":
        return f'{by} (DCGM_FI_DEV_GPU_UTIL{{hpc_job!=""}})'
    return (
        f"{by} (\n  {JOB_INFO}\n  * on (instance, gpu) group_left ()"
        " max by (instance, gpu) (DCGM_FI_DEV_GPU_UTIL < 101)\n)"
    )


def _idle(cluster: Cluster) -> Iterator[Alert]:
    if not maps_jobs(cluster):
        return
    yield Alert(
        IDLE_ALERT,
        f"{_utilisation_by_job(cluster)} < {_IDLE_PERCENT}",
        "30m", "warning",
        summary=f"{WHERE} is idle in job {{{{ $labels.hpc_job }}}}",
        meaning=f"The job has had the GPU for half an hour and used less than {_IDLE_PERCENT} % of it at any time.",
        action="Ask the user: a job that waits for data or input, one that requests more GPUs than it uses, or one"
        " that hangs. The dashboard of the job shows which.",
        look="On a controller: `scontrol show job <hpc_job>` names its user, command and output file.",
        page="job?var-job={{ $labels.hpc_job }}",
    )  # fmt: skip
