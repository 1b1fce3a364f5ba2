"""Rack PDUs: their models and outlets, and the voltage of these against that of the power supplies."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.facility import Pdu, pdus
from clustergen.cluster.model import Circuit, Cluster
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.facility.outlets import outlet_volts, rack_outlets, supplies
from clustergen.facility.placement import devices
from clustergen.hostlist import compress


def pdu_models(cluster: Cluster) -> Iterator[Finding]:
    for entry, rack in {rack.entry: rack for rack in cluster.racks}.items():
        for index, circuit in enumerate(rack.circuits):
            path: ManifestPath = ("racks", entry, "circuits", index, "pdu")
            if circuit.pdu is None:
                continue
            model = pdus().get(circuit.pdu)
            if model is None:
                message = f"PDU model '{circuit.pdu}' is not in the catalogue"
                guess = did_you_mean(circuit.pdu, pdus()) or f"use {one_of(pdus())}"
                yield Finding("rack-pdu", path, message, f"{guess}, or state outlets without a model")
            elif not _fits(model, circuit):
                yield Finding(
                    "rack-pdu",
                    path,
                    f"{model.model} is made for {_feed(model)}, but the feed has {_feed(circuit)}",
                    "state the PDU's own rating, or remove pdu and state its outlets",
                )


def _fits(model: Pdu, circuit: Circuit) -> bool:
    return (model.volts, model.phases) == (circuit.volts, circuit.phases) and model.amps >= circuit.amps


def _feed(one: Pdu | Circuit) -> str:
    return f"{one.volts} V, {one.amps} A, {'three phases' if one.phases == 3 else 'one phase'}"


def outlets(cluster: Cluster) -> Iterator[Finding]:
    """Of the racks of one entry, the first one with too few outlets."""
    reported: set[str] = set()
    for rack in cluster.racks:
        short = next(
            (one for one in rack_outlets(cluster, rack) if one.available is not None and one.used > one.available), None
        )
        if short is not None and rack.entry not in reported:
            reported.add(rack.entry)
            where = f"side {short.side} of rack '{rack.name}'" if short.side else f"rack '{rack.name}'"
            yield Finding(
                "rack-pdu",
                ("racks", rack.entry, "circuits"),
                f"{where} needs {short.used} {short.type} outlets, but its PDUs have {short.available}",
                "add a feed, use PDUs with more outlets, or spread the nodes over more racks",
                key=True,
            )


def supply_voltage(cluster: Cluster) -> Iterator[Finding]:
    reported: set[tuple[str, int]] = set()
    of_rack = _voltages(cluster)
    for rack in cluster.racks:
        limits = of_rack.get(rack.name, {})
        for index, circuit in enumerate(rack.circuits):
            volts = outlet_volts(circuit)
            outside = [name for name, (low, high) in limits.items() if not low <= round(volts) <= high]
            if outside and (rack.entry, index) not in reported:
                reported.add((rack.entry, index))
                low, high = limits[outside[0]]
                formula = "" if circuit.phases == 1 or volts == circuit.volts else f" ({circuit.volts} V / √3)"
                yield Finding(
                    "supply-voltage",
                    ("racks", rack.entry, "circuits", index, "volts"),
                    f"the outlets have {volts:.0f} V{formula}, but the power supplies of {compress(outside)} need {low}"
                    f" to {high} V",
                    "use a feed of 208 to 240 V with one phase, or of 380 to 415 V with three",
                )


def _voltages(cluster: Cluster) -> dict[str, dict[str, tuple[int, int]]]:
    """Rack → device → input voltage of its supplies, where that is known."""
    placed = devices(cluster)
    of_rack: dict[str, dict[str, tuple[int, int]]] = {}
    for name, one in supplies(cluster).items():
        if one.volts and (rack := placed[name].rack):
            of_rack.setdefault(rack, {})[name] = one.volts
    return of_rack
