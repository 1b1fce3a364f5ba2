"""Limits of racks, their feeds, and the cooling and the UPS of the room."""

from __future__ import annotations

import math
from collections.abc import Iterator

from clustergen.catalogue.figures import figure
from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster, Rack
from clustergen.cluster.power import kilowatts
from clustergen.diagnostics import Finding, ManifestPath
from clustergen.diagnostics.words import counted
from clustergen.facility.cooling import air_w, loop_loads
from clustergen.facility.power import (
    Load,
    RackLoad,
    capacity_w,
    continuous_w,
    feeds,
    fit_of,
    rack_loads,
    room_load,
    run_time_minutes,
    whole_rack,
)
from clustergen.hostlist import compress

_SPREAD = "spread the nodes over more racks, or set a power limit on their GPUs"


def _doubt(load: Load) -> tuple[str, str]:
    """For a sum with power that no source confirms: what the message adds, and how the hint begins."""
    doubtful = {device.type: device for device in load.devices if device.type and "power" in device.unconfirmed}
    if not doubtful:
        return "", ""
    kind, device = max(doubtful.items(), key=lambda item: item[1].power_w or 0)
    message = f"; no source confirms the {kilowatts(device.power_w or 0)} of {device.model}"
    return message, f"measure it and state power: {{max: …}} of node type {kind}, or "


def rack_checks(cluster: Cluster) -> Iterator[Finding]:
    """Of the racks of one entry, the first one that does not hold is reported for each limit."""
    power_factor = cluster.of(Facility).power_factor
    reported: set[tuple[str, str]] = set()
    for one in rack_loads(cluster):
        for finding in _of_rack(one, power_factor, air_w(cluster, one)):
            if (finding.code, one.rack.entry) not in reported:
                reported.add((finding.code, one.rack.entry))
                yield finding


def rack_empty(cluster: Cluster) -> Iterator[Finding]:
    """An entry of several racks gives each the same number of nodes, rounded up, so that the last may get none."""
    of_entry: dict[str, list[Rack]] = {}
    with_devices = {one.rack.name for one in rack_loads(cluster) if one.load.units}  # switches, too
    for rack in cluster.racks:
        of_entry.setdefault(rack.entry, []).append(rack)
    for name, racks in of_entry.items():
        empty = [rack.name for rack in racks if not rack.hosts and rack.name not in with_devices]
        count = sum(len(rack.hosts) for rack in racks)
        if count and empty:
            each = len(racks[0].hosts)
            yield Finding(
                "rack-empty",
                ("racks", name, "nodes"),
                f"{counted(count, 'node')} in {len(racks)} racks {'is' if count == 1 else 'are'} {each} in each,"
                f" so {compress(empty)} {'is' if len(empty) == 1 else 'are'} empty",
                f"write an entry for each rack with its nodes, or name {counted(len(racks) - len(empty), 'rack')}",
            )


def _of_rack(one: RackLoad, power_factor: float, heat_w: float) -> Iterator[Finding]:
    rack, load = one.rack, one.load
    path: ManifestPath = ("racks", rack.entry)
    draw = f"rack '{rack.name}' may draw {kilowatts(load.watts)}"
    doubt = _doubt(load)
    if load.units > rack.units:
        yield Finding(
            "rack-too-low",
            (*path, "nodes"),
            f"rack '{rack.name}' needs {load.units} units, but has {rack.units}",
            f"{_fitting_height(load, rack.units)}spread the nodes over more racks, or set units to the rack's height",
        )
    if rack.power and load.watts > rack.power.value:
        yield Finding(
            "rack-power",
            (*path, "power"),
            f"{draw}, but its limit is {kilowatts(rack.power.value)}{doubt[0]}",
            doubt[1] + _fitting(load, rack.power.value) + _SPREAD,
        )
    if rack.cooling and heat_w > rack.cooling.value:
        by_loop = heat_w < load.watts
        heat = f"of which {kilowatts(heat_w)} do not leave by its loop" if by_loop else "all of which becomes heat"
        yield Finding(
            "rack-cooling",
            (*path, "cooling"),
            f"{draw}, {heat}, but its cooling removes {kilowatts(rack.cooling.value)}{doubt[0]}",
            doubt[1] + ("" if by_loop else _fitting(load, rack.cooling.value)) + _SPREAD,
        )
    if rack.airflow_cfm and load.air_cfm > rack.airflow_cfm:
        yield Finding(
            "rack-airflow",
            (*path, "airflow"),
            f"the devices in rack '{rack.name}' need {load.air_cfm:,.0f} CFM of air, but it gets"
            f" {rack.airflow_cfm:,.0f} CFM",
            f"write airflow: {math.ceil(load.air_cfm)} once the room supplies it, or {_SPREAD.partition(',')[0]}",
        )
    if rack.weight_kg and load.weight_kg > rack.weight_kg:
        yield Finding(
            "rack-weight",
            (*path, "weight"),
            f"the devices in rack '{rack.name}' weigh {load.weight_kg:.0f} kg, but it carries {rack.weight_kg:g} kg",
            "spread the nodes over more racks, or set weight to what rack and floor carry",
        )
    yield from _of_depth(one)
    yield from _of_feeds(one, power_factor)


def _of_depth(one: RackLoad) -> Iterator[Finding]:
    """The deepest device, and the room behind it; trays of racks that are sold whole come in their cabinet."""
    rack = one.rack
    alone = [device for device in one.load.devices if device.depth_mm and whole_rack(device) is None]
    deepest = max(alone, key=lambda device: device.depth_mm or 0, default=None)
    if deepest is None or not deepest.depth_mm or not rack.depth_mm:
        return
    spare = int(figure("rack_depth_spare"))
    path: ManifestPath = ("racks", rack.entry, "depth")
    doubt = ", which no source confirms" if "depth" in deepest.unconfirmed else ""
    device = f"{deepest.name} ({deepest.title}) is {deepest.depth_mm} mm deep{doubt}"
    if deepest.depth_mm > rack.depth_mm:
        yield Finding(
            "rack-too-shallow",
            path,
            f"{device}, and rack '{rack.name}' {rack.depth_mm} mm",
            f"use a rack of {deepest.depth_mm + spare} mm or more, or another system",
        )
    elif deepest.depth_mm + spare > rack.depth_mm:
        yield Finding(
            "rack-depth-tight",
            path,
            f"{device}, so {rack.depth_mm - deepest.depth_mm} mm of rack '{rack.name}' are left for cables and PDUs",
            f"plan about {spare} mm behind a device: use a rack of {deepest.depth_mm + spare} mm or more",
        )


def _of_feeds(one: RackLoad, power_factor: float) -> Iterator[Finding]:
    rack, load = one.rack, one.load
    path: ManifestPath = ("racks", rack.entry, "circuits")
    all_feeds = feeds(rack)
    redundant = rack.redundant_feeds
    carried = capacity_w(rack, power_factor)
    if redundant and len(all_feeds) == 1:
        yield Finding(
            "rack-circuits",
            path,
            f"rack '{rack.name}' has redundant feeds, but only one feed",
            "add a feed of side B, or remove redundant_feeds",
        )
    elif all_feeds and load.watts > carried:
        each = continuous_w(all_feeds[0].circuit, power_factor)
        count = math.ceil(load.watts / each) * (2 if redundant else 1)
        circuit, doubt = all_feeds[0].circuit, _doubt(load)
        yield Finding(
            "rack-circuits",
            path,
            f"rack '{rack.name}' may draw {kilowatts(load.watts)}, but its feeds carry {kilowatts(carried)}"
            f" continuously{' when one side fails' if redundant else ''}{doubt[0]}",
            f"{doubt[1]}use {count} feeds of {circuit.volts} V and {circuit.amps} A, "
            f"{_fitting(load, carried)}{_SPREAD}",
        )


def _fitting(load: Load, limit_w: float) -> str:
    """How many of the largest devices fit."""
    count = fit_of(load, limit_w)
    most = max((device.power_w or 0 for device in load.devices), default=0)
    return f"keep at most {counted(count, 'device')} of {kilowatts(most)}, " if count else ""


def _fitting_height(load: Load, units: int) -> str:
    if whole := next((rack for device in load.devices if (rack := whole_rack(device))), None):
        return (
            f"a {whole.name} has {whole.trays} trays, {whole.switch_trays} switch trays and {whole.shelves} power"
            " shelves: "
        )
    highest = max((device.height for device in load.devices), default=0)
    count = sum(device.height == highest for device in load.devices)
    fits = (units - (load.units - count * highest)) // highest if highest else 0
    return f"keep at most {counted(fits, 'device')} of {highest} units, " if fits > 0 else ""


def room_cooling(cluster: Cluster) -> Iterator[Finding]:
    cooling_w, watts = cluster.of(Facility).cooling_w, room_load(cluster).watts
    heat_w = watts - sum(loop.liquid_w for loop in loop_loads(cluster))
    if cooling_w and heat_w > cooling_w:
        doubt = _doubt(room_load(cluster))
        by_loop = f"of which {kilowatts(heat_w)} do not leave by a loop"
        yield Finding(
            "room-cooling",
            ("facility", "cooling"),
            f"all devices may draw {kilowatts(watts)}, {by_loop if heat_w < watts else 'all of which becomes heat'},"
            f" but the room removes {kilowatts(cooling_w)}{doubt[0]}",
            f"{doubt[1]}plan cooling for {kilowatts(heat_w)}, or set a power limit on the GPUs",
        )


def ups_too_small(cluster: Cluster) -> Iterator[Finding]:
    spec = cluster.of(Facility).ups
    if spec is None:
        return
    watts, doubt = room_load(cluster).watts, _doubt(room_load(cluster))
    apparent = watts / cluster.of(Facility).power_factor
    path: ManifestPath = ("facility", "ups")
    if spec.apparent_va and spec.power_w > spec.apparent_va:
        yield Finding(
            "value-out-of-range",
            (*path, "power"),
            f"a UPS of {spec.apparent_va / 1000:g} kVA supplies at most {spec.apparent_va / 1000:g} kW, not"
            f" {kilowatts(spec.power_w)}",
            f"write power: {spec.apparent_va}W or less, or its rating in VA as apparent: {spec.power_w}",
        )
    elif watts > spec.power_w:
        yield Finding(
            "ups-too-small",
            (*path, "power"),
            f"all devices may draw {kilowatts(watts)}, but the UPS supplies {kilowatts(spec.power_w)}{doubt[0]}",
            f"{doubt[1]}use a UPS of {kilowatts(watts)} and {apparent / 1000:.1f} kVA",
        )
    elif spec.apparent_va and apparent > spec.apparent_va:
        yield Finding(
            "ups-too-small",
            (*path, "apparent"),
            f"all devices may take {apparent / 1000:.1f} kVA ({kilowatts(watts)}), but the UPS supplies"
            f" {spec.apparent_va / 1000:.1f} kVA{doubt[0]}",
            f"{doubt[1]}use a UPS of {apparent / 1000:.1f} kVA, or set facility.power_factor to that of the load",
        )
    elif spec.required_minutes and (minutes := run_time_minutes(spec, watts)) and minutes < spec.required_minutes:
        energy = watts * spec.required_minutes / 60
        yield Finding(
            "ups-too-small",
            (*path, "required_minutes"),
            f"the UPS carries {kilowatts(watts)} for {minutes:.1f} minutes, but {spec.required_minutes:g} are required",
            f"add batteries for {energy / 1000:.1f} kWh, or require fewer minutes",
        )
