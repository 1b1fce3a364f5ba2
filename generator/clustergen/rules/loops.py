"""Loops of coolant: their racks, capacity, flow and sensors; the cooling air of rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from clustergen.catalogue.facility import cdus
from clustergen.cluster.contributions import Exported
from clustergen.cluster.facility import Facility, Sensor
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Monitoring
from clustergen.cluster.power import kilowatts
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.diagnostics.words import counted
from clustergen.facility.cooling import LoopLoad, Units, cooled_racks, loop_loads, row_air, unit_flow
from clustergen.facility.power import RackLoad, rack_loads
from clustergen.hostlist import compress

_LOOKS_AROUND = re.compile(r"\(\?(<?[=!]|>|\(|P=)")
"""Forms of Python's regular expressions that RE2, which Prometheus uses, lacks."""


def loop_racks(cluster: Cluster) -> Iterator[Finding]:
    """Racks that are not defined, and those in two loops."""
    names = {rack.name for rack in cluster.racks}
    owner: dict[str, str] = {}
    for name, loop in cluster.of(Facility).loops.items():
        path: ManifestPath = ("facility", "loops", name, "racks")
        for rack in loop.racks:
            if rack not in names:
                hint = f"write {compress(sorted(names))}" if names else "define it under racks"
                yield Finding("rack-unknown", path, f"rack '{rack}' is not defined", hint)
                break
        twice = [rack for rack in loop.racks if rack in owner]
        if twice:
            yield Finding(
                "rack-in-two-loops",
                path,
                f"{compress(twice)} {'is' if len(twice) == 1 else 'are'} in loop '{owner[twice[0]]}' as well",
                "state share once, for all heat that leaves the nodes by liquid, and list each rack in one loop",
            )
        owner.update(dict.fromkeys(loop.racks, name))


def cdu_unknown(cluster: Cluster) -> Iterator[Finding]:
    for name, loop in cluster.of(Facility).loops.items():
        model = loop.cdus.model
        if model is not None and model not in cdus():
            yield Finding(
                "cdu-unknown",
                ("facility", "loops", name, "cdus", "model"),
                f"CDU model '{model}' is not in the catalogue",
                did_you_mean(model, cdus()) or f"use {one_of(cdus())}, or state capacity without a model",
            )


def loop_capacity(cluster: Cluster) -> Iterator[Finding]:
    for one in loop_loads(cluster):
        path: ManifestPath = ("facility", "loops", one.name)
        if not one.liquid_w:
            yield Finding(
                "loop-without-heat",
                path,
                f"loop '{one.name}' has no heat to remove: no system in its racks is known to give heat to liquid",
                "state share, as share: 70%, or remove the loop",
                key=True,
            )
            continue
        kinds: list[tuple[str, str, Units]] = [("cdus", "CDU", one.cdus)]
        kinds += [("chillers", "chiller", one.chillers)] if one.chillers else []
        for key, word, units in kinds:
            yield from _of_units(one, (*path, key), word, units)
        yield from _pumps(one, (*path, "cdus"))


def _of_units(one: LoopLoad, path: ManifestPath, word: str, units: Units) -> Iterator[Finding]:
    plant = units.plant
    if plant.capacity_w is None:
        if plant.model is not None:
            return  # it is not in the catalogue
        yield Finding(
            "loop-without-capacity",
            path,
            f"the racks of loop '{one.name}' give up to {kilowatts(one.liquid_w)} to liquid, and no capacity of a"
            f" {word} is stated",
            f"add {path[-1]}: {{capacity: {_rounded(one.liquid_w)}, spare: {plant.spare}}}",
            key=True,
        )
    elif plant.count is not None and units.needed is not None and (units.working or 0) < units.needed:
        failed = f" while {plant.spare} may fail" if plant.spare else ""
        more = ""
        flow = unit_flow(plant)
        if one.flow_l_per_minute is not None and flow:
            more = f" at {one.flow_l_per_minute:,.0f} L/min"
        yield Finding(
            "loop-too-small",
            (*path, "count"),
            f"loop '{one.name}' removes up to {kilowatts(one.liquid_w)}{more}, for which it needs"
            f" {counted(units.needed, word)} of {kilowatts(plant.capacity_w)}"
            f"{f' and {flow:,.0f} L/min' if more else ''}{failed}, but has {plant.count}",
            f"write count: {units.needed + plant.spare}, or move racks to another loop",
        )


def _pumps(one: LoopLoad, path: ManifestPath) -> Iterator[Finding]:
    plant = one.cdus.plant
    if plant.pumps is not None and plant.pumps <= plant.spare_pumps:
        yield Finding(
            "loop-pumps",
            (*path, "pumps"),
            f"no pump of a CDU is left: it has {plant.pumps}, and {plant.spare_pumps} may fail",
            f"write pumps: {plant.spare_pumps + 1}, or spare_pumps: {plant.pumps - 1}",
        )
    elif plant.pump_flow_l_per_minute is not None and plant.pumps is None:
        yield Finding(
            "loop-pumps",
            (*path, "pump_flow"),
            "pump_flow has no effect: the number of pumps is not stated",
            "add pumps: 2",
        )
    elif unit_flow(plant) and one.flow_l_per_minute is None:
        yield Finding(
            "loop-pumps",
            (*path, "pump_flow"),
            f"the flow that loop '{one.name}' needs is not known, so its pumps are not checked",
            "add rise: 10, the temperature difference of the loop in K",
        )


def _rounded(watts: float) -> str:
    """The next 10 kW."""
    return f"{-(-int(watts) // 10_000) * 10}kW"


def rack_without_loop(cluster: Cluster) -> Iterator[Finding]:
    """Racks that give heat to liquid and are in no loop, where the manifest has loops."""
    loops = cluster.of(Facility).loops
    if not loops:
        return
    outside: dict[str, list[RackLoad]] = {}
    for one in rack_loads(cluster):
        if one.load.liquid_w and one.rack.name not in cooled_racks(cluster):
            outside.setdefault(one.rack.entry, []).append(one)
    for entry, several in outside.items():
        watts = sum(one.load.liquid_w for one in several)
        yield Finding(
            "rack-without-loop",
            ("racks", entry),
            f"{compress([one.rack.name for one in several])} {'gives' if len(several) == 1 else 'give'}"
            f" {kilowatts(watts)} to liquid, and no loop has {'it' if len(several) == 1 else 'them'}",
            f"add {'it' if len(several) == 1 else 'them'} to facility.loops.{next(iter(loops))}.racks",
            key=True,
        )


def row_airflow(cluster: Cluster) -> Iterator[Finding]:
    rows = {one.row: one for one in row_air(cluster)}
    for row, cfm in cluster.of(Facility).airflow_cfm.items():
        path: ManifestPath = ("facility", "airflow", row)
        if row not in rows:
            yield Finding(
                "row-unknown",
                path,
                f"no rack is in row '{row}'",
                did_you_mean(row, rows) or f"set row: {row} of its racks",
            )
        elif rows[row].needed_cfm > cfm:
            yield Finding(
                "rack-airflow",
                path,
                f"the devices of row '{row}' need {rows[row].needed_cfm:,.0f} CFM of air, but it gets {cfm:,.0f} CFM",
                f"write {row}: {math.ceil(rows[row].needed_cfm)} once the room supplies it, or use another row",
            )


def coolant_limits(cluster: Cluster) -> Iterator[Finding]:
    """Limits in the wrong order, and patterns that Prometheus does not take."""
    for name, loop in cluster.of(Facility).loops.items():
        for kind, sensor in loop.sensors.items():
            path: ManifestPath = ("facility", "loops", name, "sensors", kind)
            if sensor.high is not None and sensor.low is not None and sensor.low >= sensor.high:
                yield Finding(
                    "coolant-limits",
                    (*path, "low"),
                    f"the lower limit {sensor.low:g} is not below the upper limit {sensor.high:g}",
                    "exchange them, or leave one out",
                )
            if (wrong := _wrong_pattern(sensor)) is not None:
                yield Finding(
                    "coolant-limits",
                    (*path, "series"),
                    f"Prometheus does not take the pattern {wrong}",
                    'write a regular expression, as name=~"Coolant.*"',
                )


def coolant_unread(cluster: Cluster) -> Iterator[Finding]:
    """Sensors that nothing reads: their alerts could only say that they are silent."""
    loops = cluster.of(Facility).loops
    if not any(loop.sensors for loop in loops.values()):
        return  # what is exported depends on all alerts
    exported = {metric for one in cluster.needs(Exported) for metric in one.metrics}
    for name, loop in loops.items():
        for kind, sensor in loop.sensors.items():
            metric = sensor.series.partition("{")[0]
            path: ManifestPath = ("facility", "loops", name, "sensors", kind)
            if not cluster.has(Monitoring):
                yield Finding(
                    "coolant-unread",
                    path,
                    "the sensor has no effect: the cluster has no monitoring",
                    "give a node the role monitoring, or remove the sensor",
                    key=True,
                )
            elif metric.startswith("ipmi_") and metric not in exported:
                yield Finding(
                    "coolant-unread",
                    (*path, "series"),
                    f"nothing exports '{metric}'",
                    did_you_mean(metric, exported) or "add monitoring: {ipmi: {}} and BMC addresses of the nodes",
                )


def _wrong_pattern(sensor: Sensor) -> str | None:
    for pattern in re.findall(r'[=!]~"([^"]*)"', sensor.series):
        try:
            re.compile(pattern)
        except re.error:
            return f"{pattern!r}"
        if _LOOKS_AROUND.search(pattern):
            return f"{pattern!r}: it cannot look ahead or behind"
    return None
