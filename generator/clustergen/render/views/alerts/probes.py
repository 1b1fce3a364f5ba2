"""Alerts on what the IPMI exporter reads from BMCs, and on probes of the blackbox exporter."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.render.views.alerts.model import Alert, Topic, unless_asleep

_SENSORS = "ipmi_sensor_state|ipmi_temperature_state|ipmi_fan_speed_state|ipmi_voltage_state|ipmi_power_state"


def topic(cluster: Cluster) -> Topic | None:
    monitoring = cluster.manifest.monitoring
    alerts = [*(_sensors() if monitoring.ipmi else ()), *(_probes(cluster) if monitoring.blackbox else ())]
    return Topic("probes", "Sensors of BMCs, and probes.", (), tuple(alerts)) if alerts else None


def _sensors() -> Iterator[Alert]:
    sensor = "{{ $labels.name }} of {{ $labels.instance }}"
    yield Alert(
        "BmcSensorCritical", f'{{__name__=~"{_SENSORS}"}} == 2', "2m", "critical",
        f"Sensor {sensor} is critical",
        "The BMC reports a power supply, fan, temperature or voltage beyond its critical limit.",
        "ipmi-sensors on the node, or the web page of the BMC, shows value and limits; drain the node.",
    )  # fmt: skip
    yield Alert(
        "BmcSensorWarning", f'{{__name__=~"{_SENSORS}"}} == 1', "10m", "warning",
        f"Sensor {sensor} is beyond its limit",
        "The BMC reports a value that is not critical yet; a failed power supply or fan of a redundant set is one.",
        "ipmi-sensors on the node shows value and limits.",
    )  # fmt: skip
    yield Alert(
        "BmcUnreadable", 'ipmi_up{collector="ipmi"} == 0', "15m", "warning",
        "The sensors of {{ $labels.instance }} cannot be read",
        "The node's interface to its BMC does not answer; alerts on its sensors cannot fire.",
        "Check that /dev/ipmi0 exists (modules ipmi_si and ipmi_devintf); reset the BMC: bmc-device --cold-reset.",
    )  # fmt: skip


def _probes(cluster: Cluster) -> Iterator[Alert]:
    yield Alert(
        "ProbeFailed", "probe_success == 0" + unless_asleep(cluster), "5m", "warning",
        "{{ $labels.job }} of {{ $labels.instance }} fails",
        "probe-ssh: sshd does not answer; probe-bmc: the BMC accepts no connection; probe-web: the page is not served.",
        "On the monitoring node: curl 'localhost:9115/probe?module=ssh&target=HOST:22&debug=true' shows each step.",
    )  # fmt: skip
    yield Alert(
        "CertificateExpires", "probe_ssl_earliest_cert_expiry - time() < 14 * 86400", "1h", "warning",
        "The certificate of {{ $labels.instance }} expires in {{ $value | humanizeDuration }}",
        "Browsers and programs refuse the page after that.",
        "Renew the certificate, and reload the server.",
    )  # fmt: skip
