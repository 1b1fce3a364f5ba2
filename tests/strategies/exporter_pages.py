"""Pages of exporters that cannot run here: in the format of dcgm-exporter, slurmctld and the rest, with their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clustergen.catalogue.metrics import slurm_metrics

_GPUS = 2
_DCGM = (
    'gpu="{gpu}",UUID="GPU-6f2d{gpu}",pci_bus_id="00000000:1{gpu}:00.0",device="nvidia{gpu}",'
    'modelName="NVIDIA H100 80GB HBM3",Hostname="c1",DCGM_FI_DRIVER_VERSION="570.158.01",hpc_job="4{gpu}"'
)
_DCGM_VALUES = {"DCGM_FI_DEV_GPU_UTIL": 50, "DCGM_FI_DEV_GPU_TEMP": 61, "DCGM_FI_DEV_POWER_USAGE": 611.5}
_EXPORTER_METRICS = {
    "DCGM_EXP_XID_ERRORS_COUNT": ('err_code="0",err_msg="Unknown Error",window_size_in_ms="300000",xid="0"', 0),
    "DCGM_EXP_GPU_HEALTH_STATUS": ('health_watch="ALL",health_error_code="DCGM_FR_OK"', 0),
}


def dcgm(counters: str, *, label: bool) -> Iterator[str]:
    """dcgm-exporter's page for a list of counters; each GPU has a job, with `label` in the label of its samples."""
    always = _DCGM if label else _DCGM.rpartition(",")[0]
    for line in counters.splitlines():
        if not line or line.startswith("#"):
            continue
        name, kind, _ = line.split(",", 2)
        if (kind := kind.strip()) == "label":
            continue
        yield f"# TYPE {name} {kind}"
        labels, value = _EXPORTER_METRICS.get(name, ("", 0.5 if "_PROF_" in name else _DCGM_VALUES.get(name, 3)))
        for gpu in range(_GPUS):
            yield f"{name}{{{','.join(filter(None, (always.format(gpu=gpu), labels)))}}} {value}"


def slurm() -> Iterator[str]:
    """slurmctld's own pages, with the names that were read from 26.05.5."""
    yield from _of_slurm(slurm_metrics())


def _of_slurm(names: Iterable[str]) -> Iterator[str]:
    values = {"node": "c1", "partition": "batch", "username": "ada", "account": "research"}
    for name in names:
        labels = ",".join(f'{label}="{values[label]}"' for label in slurm_metrics()[name].labels)
        yield f"{name}{{{labels}}} 2"


def systemd() -> Iterator[str]:
    """The node exporter's series of units, for which it asks systemd by D-Bus; and what only a fabric of RoCE has."""
    for state in ("active", "failed"):
        yield f'node_systemd_unit_state{{name="slurmd.service",state="{state}",type="simple"}} {int(state == "active")}'


def textfiles() -> Iterator[str]:
    """The node exporter's series about its text files."""
    for name in ("slurm", "roce", "kernel", "logs", "logs_search", "disks"):
        yield f'node_textfile_mtime_seconds{{file="/var/lib/prometheus/node-exporter/{name}.prom"}} 1699999990'


def kernel() -> Iterator[str]:
    """The page of clustergen-kernel-metrics, as tests/features/kernel_log/test_kernel_metrics.py reads it from the script."""
    yield "# TYPE clustergen_xid_errors_total counter"
    yield 'clustergen_xid_errors_total{pci="0000:3b:00",xid="79"} 1'
    yield 'clustergen_xid_last_timestamp_seconds{pci="0000:3b:00",xid="79"} 1699999990'
    yield "clustergen_apply_time_seconds 1699999990"
    yield 'clustergen_certificate_expiry_timestamp_seconds{file="/etc/ssl/node.pem"} 1800000000'
    for name, labels in (
        ("link_down", 'interface="eth0"'),
        ("cable_events", 'pci="0000:3b:00.0",module="0"'),
        ("kernel_errors", 'kind="pcie"'),
    ):
        yield f"# TYPE clustergen_{name}_total counter\nclustergen_{name}_total{{{labels}}} 1"


def ipmi() -> Iterator[str]:
    """The page of the IPMI exporter for the BMC of simulated_bmc.py, as tests/features/blackbox/test_probes.py reads it."""
    values = (
        ("temperature", "celsius", "Inlet Temp", 23, 0),
        ("temperature", "celsius", "GPU7 Temp", 93, 2),
        ("temperature", "celsius", "Coolant Inlet", 47, 0),
        ("fan_speed", "rpm", "FAN1", 8400, 0),
        ("voltage", "volts", "12V", 12.1, 0),
        ("current", "amperes", "PS1 Current", 40, 0),
        ("power", "watts", "PS1 Input Power", 2600, 0),
    )
    states = (
        ("PS2 Status", "Power Supply", 2),
        ("PS Redundancy", "Power Unit", 2),
        ("Fan Redundancy", "Fan", 1),
        ("Intrusion", "Physical Security", 0),
    )
    for number, (name, unit, sensor, value, state_) in enumerate(values, 1):
        labels = f'id="{number}",name="{sensor}"'
        yield f"ipmi_{name}_{unit}{{{labels}}} {value}\nipmi_{name}_state{{{labels}}} {state_}"
    for number, (sensor, kind, state_) in enumerate(states, len(values) + 1):
        yield f'ipmi_sensor_state{{id="{number}",name="{sensor}",type="{kind}"}} {state_}'
    yield "ipmi_dcmi_power_consumption_watts 5210"
    for collector in ("bmc", "chassis", "dcmi", "ipmi", "sel"):
        yield f'ipmi_up{{collector="{collector}"}} 1'


def snmp() -> Iterator[str]:
    """Metrics of the SNMP exporter from the answers in tests/features/snmp/test_snmp.py."""
    for name, value in (("BatteryStatus", 2), ("EstimatedMinutesRemaining", 42), ("OutputSource", 3)):
        yield f"ups{name} {value}"
    yield 'upsOutputPower{upsOutputLineIndex="1"} 4200\nupsOutputPercentLoad{upsOutputLineIndex="1"} 61'
    yield 'rPDU2DeviceStatusPower{rPDU2DeviceStatusIndex="1"} 312'
    yield 'entPhySensorValue{entPhysicalIndex="12",instance="cdu-a"} 415'
    yield 'entPhySensorValue{entPhysicalIndex="13",instance="cdu-a"} 960'
    yield 'rPDU2PhaseStatusLoadState{rPDU2PhaseStatusIndex="1"} 2\nrPDU2PhaseStatusCurrent{rPDU2PhaseStatusIndex="1"} 87'


def logs() -> Iterator[str]:
    """The page of clustergen-log-retention, as tests/render/test_logs.py reads it from the script."""
    for name, value in (("bytes", 9e9), ("limit_bytes", 5e10), ("days", 30), ("hosts", 5)):
        yield f"clustergen_logs_{name} {value}"
    for name, value in (("up", 1), ("indexes", 30), ("refused_documents", 0), ("waiting_bytes", 0)):
        yield f"clustergen_logs_search_{name} {value}"
    yield "# TYPE clustergen_logs_today_bytes counter"  # it grows during a day
    yield 'clustergen_logs_today_bytes{host="c1"} 4096'


def usage() -> Iterator[str]:
    """The page of clustergen-usage-report, as tests/features/reports/test_usage_report.py reads it from the script."""
    for name in ("jobs", "gpu_hours", "cpu_hours", "failed_gpu_hours"):
        yield f'clustergen_usage_{name}{{account="vision",user="alice",period="month"}} 31'
    for state_ in ("allocated", "idle", "down"):
        yield f'clustergen_usage_state_hours{{resource="gres/gpu",state="{state_}",period="month"}} 200'
    yield "clustergen_usage_begin_timestamp_seconds 1696118400\nclustergen_usage_end_timestamp_seconds 1698796800"


def disks() -> Iterator[str]:
    """The page of clustergen-disk-metrics, as tests/features/disks/test_disk_metrics.py reads it from the script."""
    where = 'device="/dev/nvme0",type="nvme",model="SAMSUNG MZQL21T9HCJR-00A07",serial="S64GNE0R602233"'
    for name, value in (("healthy", 1), ("temperature_celsius", 34), ("wear_ratio", 0.02), ("spare_ratio", 1)):
        yield f"clustergen_disk_{name}{{{where}}} {value}"
    answers = where.partition(",model=")[0]
    yield f"# TYPE clustergen_disk_answers gauge\nclustergen_disk_answers{{{answers}}} 1"
    yield f"# TYPE clustergen_disk_errors_total counter\nclustergen_disk_errors_total{{{where}}} 0"


def probes(success: int) -> Iterator[str]:
    """Metrics of the blackbox exporter for a page."""
    yield f"probe_success {success}\nprobe_duration_seconds 0.1\nprobe_ssl_earliest_cert_expiry 1800000000"


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
    from clustergen.features.slurm_metrics.needs import SCRIPT_METRICS

    for line in _of_slurm(SCRIPT_METRICS):
        yield f"# TYPE {line.partition('{')[0]} gauge\n{line}"


def state() -> Iterator[str]:
    """Metrics that the same script writes for all releases."""
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
