"""Power of nodes, and the nodes that racks name."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.power import draw_w, kilowatts
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean, one_of
from clustergen.hostlist import compress, span_of
from clustergen.manifest.networks import Fabric


def _redundancy(supplies: int, supply_w: int | None, draw: int | None) -> str:
    rest = supplies - -(-draw // supply_w) if supply_w and draw else 0
    if rest > 0:
        return f"write redundant: {rest} or less: with more failures the rest do not carry the node at full load"
    return "set redundant to the number of supplies that may fail while the node runs at full load"


def psu_too_small(cluster: Cluster) -> Iterator[Finding]:
    for node_type in cluster.node_types:
        path: ManifestPath = ("node_types", node_type.name, "power")
        spare, draw = node_type.psus_redundant or 0, draw_w(node_type)
        if node_type.psus and spare >= node_type.psus:
            yield Finding(
                "psu-redundancy",
                (*path, "redundant"),
                f"redundant is {spare} of {node_type.psus} power supplies, which leaves none to feed the node",
                _redundancy(node_type.psus, node_type.psu_w, draw),
            )
        elif (
            node_type.psus
            and node_type.psu_w
            and draw
            and draw > (supply := (node_type.psus - spare) * node_type.psu_w)
        ):
            if node_type.power_max_w is None:
                needs = f"the GPUs alone may draw {kilowatts(draw)}"
            else:
                needs = f"a node may draw {kilowatts(draw)}"
            lost = f" with {spare} of them failed" if spare else ""
            yield Finding(
                "psu-too-small",
                path,
                f"{needs}, but {node_type.psus} power supplies of {node_type.psu_w} W provide {kilowatts(supply)}{lost}"
                if node_type.psus > 1
                else f"{needs}, but its power supply provides {kilowatts(supply)}",
                "fit more or larger supplies, or set gpus.power_limit"
                if node_type.gpus
                else "fit more or larger supplies",
                key=True,
            )


def gpu_power_limit(cluster: Cluster) -> Iterator[Finding]:
    for node_type in cluster.node_types:
        gpus = node_type.gpus
        if not gpus or gpus.power_limit_w is None:
            continue
        model, path = gpus.model, ("node_types", node_type.name, "gpus", "power_limit")
        low, high, limit = model.power_min_w, model.tdp_w, gpus.power_limit_w
        is_low = bool(low) and limit < (low or 0)
        if is_low and "power_min_w" in model.unverified:
            yield Finding(
                "gpu-power-limit-doubtful",
                path,
                f"power limit {limit} W may be too low for the {model.nvml_name}: {low} W is the lowest that is known,"
                " which no source confirms",
                f"write power_limit: {low}W, or compare with `nvidia-smi -q -d POWER` on a node",
            )
        elif is_low or (high and limit > high):
            span = f"between {low} and {high} W" if low else f"up to {high} W"
            yield Finding(
                "gpu-power-limit",
                path,
                f"power limit {limit} W is out of range for the {model.nvml_name} ({span})",
                f"write power_limit: {low if is_low else high}W",
            )


def gpu_clock(cluster: Cluster) -> Iterator[Finding]:
    for node_type in cluster.node_types:
        clock, gpu = (node_type.gpus.graphics_clock_mhz, node_type.gpus.model) if node_type.gpus else (None, None)
        if clock and gpu and gpu.max_sm_mhz and clock > gpu.max_sm_mhz:
            yield Finding(
                "gpu-clock",
                ("node_types", node_type.name, "gpus", "graphics_clock"),
                f"{clock} MHz exceeds the maximum clock of the {gpu.nvml_name}, {gpu.max_sm_mhz} MHz",
                "write graphics_clock: max for the maximum",
            )


def rack_nodes(cluster: Cluster) -> Iterator[Finding]:
    hosts = dict.fromkeys(cluster.hosts())
    seen: dict[str, str] = {}
    for rack in cluster.racks:
        name, text = rack.name, rack.entry_nodes
        path: ManifestPath = ("racks", rack.entry, "nodes")
        for host in rack.hosts:
            if host not in hosts:
                yield Finding(
                    "rack-node-unknown",
                    path,
                    f"'{host}' is not a node of this cluster",
                    did_you_mean(host, hosts) or f"use nodes of {compress(hosts)}",
                    at=span_of(text, host),
                )
                break
            if host in seen:
                where = "in this rack" if seen[host] == name else f"in rack '{seen[host]}'"
                hint = "list each node in one rack, once"
                yield Finding("rack-node-twice", path, f"'{host}' is already {where}", hint, at=span_of(text, host))
                break
            seen[host] = name


def rack_unknown(cluster: Cluster, section: Fabric) -> Iterator[Finding]:
    racks = {rack.name: rack for rack in cluster.racks}
    for index, switch in enumerate(section.switches):
        if switch.rack is not None and switch.rack not in racks:
            yield Finding(
                "rack-unknown",
                ("networks", "fabric", "switches", index, "rack"),
                f"rack '{switch.rack}' is not defined",
                did_you_mean(switch.rack, racks) or (f"use {one_of(racks)}" if racks else "define it under racks"),
            )
