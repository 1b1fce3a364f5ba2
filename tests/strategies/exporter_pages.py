"""What exporters print that cannot run here: in the format of dcgm-exporter, slurmctld and the rest, with their labels."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.metrics import slurm_metrics

_GPUS = 2
_DCGM = (
    'gpu="{gpu}",UUID="GPU-6f2d{gpu}",pci_bus_id="00000000:1{gpu}:00.0",device="nvidia{gpu}",'
    'modelName="NVIDIA H100 80GB HBM3",Hostname="c1",DCGM_FI_DRIVER_VERSION="570.158.01",hpc_job="4{gpu}"'
)
_DCGM_VALUES = {"DCGM_FI_DEV_GPU_UTIL": 50, "DCGM_FI_DEV_GPU_TEMP": 61, "DCGM_FI_DEV_POWER_USAGE": 611.5}
_OWN = {
    "DCGM_EXP_XID_ERRORS_COUNT": ('err_code="0",err_msg="Unknown Error",window_size_in_ms="300000",xid="0"', 0),
    "DCGM_EXP_GPU_HEALTH_STATUS": ('health_watch="ALL",health_error_code="DCGM_FR_OK"', 0),
}


def dcgm(counters: str) -> Iterator[str]:
    """dcgm-exporter's page for a list of counters; each GPU has a job."""
    for line in counters.splitlines():
        if not line or line.startswith("#"):
            continue
        name, kind, _ = line.split(",", 2)
        if (kind := kind.strip()) == "label":
            continue
        yield f"# TYPE {name} {kind}"
        labels, value = _OWN.get(name, ("", 0.5 if "_PROF_" in name else _DCGM_VALUES.get(name, 3)))
        for gpu in range(_GPUS):
            yield f"{name}{{{','.join(filter(None, (_DCGM.format(gpu=gpu), labels)))}}} {value}"


def slurm() -> Iterator[str]:
    """slurmctld's own pages, with the names that were read from 26.05.5."""
    values = {"node": "c1", "partition": "batch", "username": "ada", "account": "research"}
    for name, metric in slurm_metrics().items():
        labels = ",".join(f'{label}="{values[label]}"' for label in metric.labels)
        yield f"{name}{{{labels}}} 2"


def systemd() -> Iterator[str]:
    """The node exporter's series of units, for which it asks systemd by D-Bus; and what only a fabric of RoCE has."""
    for state in ("active", "failed"):
        yield f'node_systemd_unit_state{{name="slurmd.service",state="{state}",type="simple"}} {int(state == "active")}'


def textfiles() -> Iterator[str]:
    """The node exporter's series about its text files."""
    for name in ("slurm", "roce", "kernel"):
        yield f'node_textfile_mtime_seconds{{file="/var/lib/prometheus/node-exporter/{name}.prom"}} 1699999990'


def kernel() -> Iterator[str]:
    """The page of clustergen-kernel-metrics, as tests/render/test_kernel_metrics.py reads it from the script."""
    yield "# TYPE clustergen_xid_errors_total counter"
    for name in ("errors_total", "last_timestamp_seconds"):
        yield f'clustergen_xid_{name}{{pci="0000:3b:00",xid="79"}} 1'
    for name, labels in (
        ("link_down", 'interface="eth0"'),
        ("cable_events", 'pci="0000:3b:00.0",module="0"'),
        ("kernel_errors", 'kind="pcie"'),
    ):
        yield f"# TYPE clustergen_{name}_total counter\nclustergen_{name}_total{{{labels}}} 1"


def ipmi() -> Iterator[str]:
    """What the IPMI exporter reads from a BMC by DCMI."""
    yield "# TYPE ipmi_dcmi_power_consumption_watts gauge\nipmi_dcmi_power_consumption_watts 5210"


def roce() -> Iterator[str]:
    """The page of clustergen-roce-metrics, as tests/render/test_monitoring.py reads it from the script."""
    for name in (
        "out_of_sequence_packets", "packet_sequence_errors", "ack_timeouts", "out_of_buffer_drops",
        "ecn_marked_packets", "cnp_sent", "cnp_handled",
    ):  # fmt: skip
        yield f'# TYPE clustergen_roce_{name}_total counter\nclustergen_roce_{name}_total{{device="mlx5_0"}} 5'
    where = 'device="mlx5_0",interface="p0"'
    for name in ("pause_seconds", "pause_frames"):
        yield f"# TYPE clustergen_roce_{name}_total counter"
        for direction in ("received", "sent"):
            yield f'clustergen_roce_{name}_total{{{where},direction="{direction}",priority="3"}} 1'
    yield f'# TYPE clustergen_roce_discards_total counter\nclustergen_roce_discards_total{{{where},priority="3"}} 1'


def script() -> Iterator[str]:
    """The page of clustergen-slurm-metrics, as tests/render/test_monitoring.py reads it from the script."""
    from clustergen.render.views.alerts.slurm import SCRIPT_METRICS

    for name in SCRIPT_METRICS:
        yield f"# TYPE {name} gauge\n{name} 2"


def state() -> Iterator[str]:
    """What the same script writes for all releases."""
    yield 'clustergen_slurm_node_drained{node="c1",state="drained",user="root",reason="Prolog error"} 1'
    yield "clustergen_slurm_completing_seconds 40"


ALERTS = "\n".join(
    f'ALERTS{{alertname="{name}",alertstate="firing",severity="{severity}",topic="{topic}",instance="c1",gpu="0"}} 1'
    for name, severity, topic in (
        ("GpuHot", "warning", "gpu"),
        ("NodeDown", "critical", "node"),
        ("GpuAllocatedIdle", "warning", "gpu"),
    )
)
