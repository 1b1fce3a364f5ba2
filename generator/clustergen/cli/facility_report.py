"""The figures of several designs as text, Markdown and JSON: a row for each figure, a column for each design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from clustergen.catalogue.facility import heat_btu_h
from clustergen.diagnostics import printable
from clustergen.diagnostics.document import json_document
from clustergen.features.facility.comparison import Design
from clustergen.features.facility.readme_fabric import between, bits, flops, seconds
from clustergen.units import Bytes

_UNKNOWN = "-"

Designs = Sequence[tuple[str, str, Design]]
"""Path, name of the cluster, and its figures."""


def shown(designs: Designs, size: Bytes, form: str) -> str:
    if form == "json":
        options = [{"manifest": path, "name": name, **_data(one)} for path, name, one in designs]
        return json_document({"all_reduce": str(size), "designs": options})
    names = [name for _, name, _ in designs]
    if len(set(names)) < len(names):
        names = [path for path, _, _ in designs]
    columns = [dict(_cells(one, size)) for _, _, one in designs]
    rows = [["", *map(printable, names)]]
    rows += [[label, *cells] for label in columns[0] if any(cells := [column[label] for column in columns])]
    return table(rows, form)


def table(rows: Sequence[Sequence[str]], form: str) -> str:
    """Rows as text or Markdown: the first is the heading, the first column has names and the others figures."""
    return _markdown(rows) if form == "markdown" else _text(rows)


def _text(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() + "\n" for row in rows)
    return "".join(lines)


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    from clustergen.render.formats import markdown_text

    head, *body = ["| " + " | ".join(map(markdown_text, row)) + " |\n" for row in rows]
    return head + "|---" + "|---:" * (len(rows[0]) - 1) + "|\n" + "".join(body)


def _cells(one: Design, size: Bytes) -> Iterator[tuple[str, str]]:
    """Name of a figure and its value with the unit. An empty one is not shown where no design has it."""
    least = "≥ " if one.without_power else ""
    yield "nodes", f"{one.nodes:,}"
    yield "GPUs", f"{one.gpus:,}"
    yield "switches", f"{one.switches:,}"
    yield "cables and fibres", f"{one.cables:,}"
    yield "transceivers", f"{one.transceivers:,}"
    yield "links without a cable", f"{one.without_cable:,}" if one.without_cable else ""
    yield "racks", f"{one.racks:,}"
    yield "power", f"{least}{one.watts / 1000:,.1f} kW"
    yield "power unknown", _devices(len(one.without_power)) if one.without_power else ""
    yield "heat", f"{least}{heat_btu_h(one.watts):,.0f} BTU/h"
    yield "bisection, one direction", bits(one.bisection) if one.bisection else _UNKNOWN
    yield "oversubscription", f"{one.oversubscription:.3g}:1" if one.oversubscription else _UNKNOWN
    yield "FP16 rate, dense", flops(one.fp16_tflops) if one.fp16_tflops else _UNKNOWN
    reduce = one.all_reduce
    yield f"all-reduce of {size}, at least", seconds(reduce.times[0].ring_s) if reduce else _UNKNOWN
    yield "all-reduce over", f"{reduce.gpus:,} GPUs, {reduce.bus.gb:g} GB/s" if reduce else _UNKNOWN
    for name, amount in (("cost", one.cost), ("cost per GPU", one.cost_per_gpu)):
        yield name, _UNKNOWN if amount is None else f"{between(amount, '{:,.0f}'.format)} {one.currency}"
    rate = one.fp16_tflops_per_1000
    yield "FP16 rate per 1000 of the cost", between(rate, flops) if rate else _UNKNOWN
    yield "without a price", f"{one.without_price} of {one.lines} lines" if one.without_price else ""


def _devices(count: int) -> str:
    return f"{count:,} {'device' if count == 1 else 'devices'}"


def _data(one: Design) -> dict[str, Any]:
    reduce, rate, per_gpu = one.all_reduce, one.fp16_tflops_per_1000, one.cost_per_gpu
    return {
        "nodes": one.nodes,
        "gpus": one.gpus,
        "switches": one.switches,
        "links": one.links,
        "cables": one.cables,
        "transceivers": one.transceivers,
        "links_without_cable": one.without_cable,
        "racks": one.racks,
        "power_w": one.watts,
        "devices_without_power": list(one.without_power),
        "heat_btu_h": round(heat_btu_h(one.watts)),
        "bisection_gbit_s": one.bisection.gbit if one.bisection else None,
        "oversubscription": one.oversubscription,
        "fp16_tflops": one.fp16_tflops,
        "fp16_tflops_per_1000": rate.low if rate else None,
        "fp16_tflops_per_1000_high": rate.high if rate else None,
        "all_reduce_s": reduce.times[0].ring_s if reduce else None,
        "all_reduce_gpus": reduce.gpus if reduce else None,
        "bus_gb_s": reduce.bus.gb if reduce else None,
        "currency": one.currency,
        "cost": one.cost.low if one.cost else None,
        "cost_high": one.cost.high if one.cost else None,
        "cost_per_gpu": per_gpu.low if per_gpu else None,
        "cost_per_gpu_high": per_gpu.high if per_gpu else None,
        "lines": one.lines,
        "lines_without_price": one.without_price,
    }
