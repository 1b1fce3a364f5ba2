"""Alerts on the coolant of loops: temperatures at inlet and outlet, and flow, by the limits of the manifest."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.facility import Facility, Loop, Sensor
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.render.alerts import Alert, Topic, one_of

_LOOK = "Compare the loop's other sensors, and the display or web page of its CDU: pumps, filters, valves, leaks."


def topic(cluster: Cluster, _: Monitoring) -> Topic | None:
    alerts = tuple(
        alert
        for name, loop in cluster.of(Facility).loops.items()
        for kind, sensor in loop.sensors.items()
        for alert in _alerts(name, loop, kind, sensor)
    )
    return (
        Topic(
            "cooling",
            "Coolant of loops.",
            (),
            alerts,
            look=_LOOK,
            page="power",
            works="all nodes, until their GPUs get too hot and slow down",
            place=115,
        )
        if alerts
        else None
    )


def series_of(loop: Loop, sensor: Sensor) -> str:
    """The sensor in °C or litres a minute: what the IPMI exporter reads counts for nodes in the loop's racks alone."""
    name, _, labels = sensor.series.partition("{")
    labels = labels.removesuffix("}")
    if name.startswith("ipmi_"):
        racks = f"rack{one_of(list(loop.racks))}"
        labels = f"{labels},{racks}" if labels else racks
    series = f"{name}{{{labels}}}" if labels else name
    return series if sensor.scale == 1 else f"({series} * {sensor.scale:g})"


def _alerts(name: str, loop: Loop, kind: str, sensor: Sensor) -> Iterator[Alert]:
    series, labels = series_of(loop, sensor), (("loop", name),)
    where = f"loop {name} ({{{{ $labels.instance }}}})"
    if kind == "inlet" and sensor.high is not None:
        yield Alert(
            "CoolantInletHot", f"{series} > {sensor.high:g}", "2m", "critical",
            summary=f"Coolant reaches the racks of {where} with {{{{ $value | printf \"%.1f\" }}}} °C",
            meaning=f"The limit is {sensor.high:g} °C. CDUs or chillers remove too little heat; GPUs slow down next.",
            action="Check chillers, the building's water and the CDUs' valves. If the temperature rises on, cap the"
            " power of GPUs (`nvidia-smi -pl WATTS`) or drain nodes of the loop.",
            labels=labels,
        )  # fmt: skip
    if kind == "inlet" and sensor.low is not None:
        yield Alert(
            "CoolantInletCold", f"{series} < {sensor.low:g}", "5m", "warning",
            summary=f"Coolant reaches the racks of {where} with {{{{ $value | printf \"%.1f\" }}}} °C only",
            meaning=f"The limit is {sensor.low:g} °C. Below the dew point of the room, water condenses on pipes and"
            " cold plates.",
            action="Raise the set point of the CDU above the dew point; check its mixing valve.",
            labels=labels,
        )  # fmt: skip
    if kind == "outlet" and sensor.high is not None:
        yield Alert(
            "CoolantOutletHot", f"{series} > {sensor.high:g}", "2m", "critical",
            summary=f"Coolant leaves the racks of {where} with {{{{ $value | printf \"%.1f\" }}}} °C",
            meaning=f"The limit is {sensor.high:g} °C. Too little coolant flows for the heat, or it arrives too hot.",
            action="Compare inlet and flow: with a normal inlet, look for a closed valve, a blocked filter or a failed"
            " pump.",
            labels=labels,
        )  # fmt: skip
    if kind == "flow" and sensor.low is not None:
        yield Alert(
            "CoolantFlowLow", f"{series} < {sensor.low:g}", "1m", "critical",
            summary=f"{{{{ $value | printf \"%.0f\" }}}} litres of coolant a minute in {where}",
            meaning=f"The limit is {sensor.low:g} L/min. Without flow, GPUs reach their limit within seconds to"
            " minutes.",
            action="Check pumps and their redundancy, filters, valves and the level of the coolant; look for a leak."
            " Drain the nodes of the loop if the flow does not return.",
            labels=labels,
        )  # fmt: skip
    yield Alert(
        "CoolantSensorSilent", f"absent({series})", "15m", "warning",
        summary=f"The {kind} sensor of loop {name} is not read",
        meaning="Prometheus has no value of it: the device does not answer, or the sensor has another name. Alerts on"
        " it cannot fire.",
        action=f"Look for the metric {sensor.series.partition('{')[0]} in Prometheus; then correct"
        f" facility.loops.{name}.sensors.{kind}.series.",
        labels=(*labels, ("sensor", kind)),
    )  # fmt: skip
