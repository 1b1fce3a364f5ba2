"""Estimates of training runs as text, Markdown and JSON: a row for each figure, a column for each number of GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clustergen.catalogue.figures import figure
from clustergen.cli.facility_report import table
from clustergen.cluster.facility import Facility, Training
from clustergen.cluster.model import Cluster
from clustergen.diagnostics import printable
from clustergen.diagnostics.document import json_document
from clustergen.features.facility.readme_fabric import between, flops, seconds
from clustergen.features.facility.runs import Problem, Rate, Run, estimates, gigabytes, problems, rates

_UNKNOWN = "-"


def shown(cluster: Cluster, runs: Mapping[str, Training], form: str) -> tuple[str, bool]:
    """The report, and False where a run does not fit or cannot be estimated."""
    columns = [one for name, run in runs.items() for one in estimates(cluster, name, run)]
    issues = [(name, problem) for name, run in runs.items() for problem in problems(cluster, run)]
    rate_rows = rates(cluster)
    if form == "json":
        data = {
            "estimates": [_data(one) for one in columns],
            "problems": [_problem_data(name, problem) for name, problem in issues],
            "rates": [_rate_data(one) for one in rate_rows],
        }
        return json_document(data), not issues
    text = ""
    if columns:
        cells = [dict(_cells(one)) for one in columns]
        rows = [["", *(printable(one.name) for one in columns)]]
        labels = dict.fromkeys(label for column in cells for label in column)
        rows += [[label, *(column.get(label, "") for column in cells)] for label in labels]
        text += table([row for row in rows if any(row[1:])], form) + "\n"
    prices = cluster.of(Facility).prices
    text += table(_rates(rate_rows, prices.currency if prices else ""), form)
    for name, problem in issues:
        text += f"\n{printable(name)}.{problem.field}: {printable(problem.message)}\n  hint: {problem.hint}\n"
    return text, not issues


def _cells(one: Run) -> Iterator[tuple[str, str]]:
    """Name of a figure and its value with the unit."""
    step = one.step
    band = figure("band")
    yield "GPUs", f"{one.gpus:,} {one.type}"
    yield "nodes", f"{one.nodes:,}"
    yield "parallelism", str(step.form) if step else "does not fit"
    yield "memory of a GPU", f"{gigabytes(step.memory) if step else _UNKNOWN} of {gigabytes(one.usable)}"
    for name, least in one.memory:
        yield f"  {name}, at least", gigabytes(least)
    yield "days", f"{one.days:,.1f}" if one.days else _UNKNOWN
    yield "  range", f"{one.days * (1 - band):,.1f} to {one.days * (1 + band):,.1f}" if one.days else _UNKNOWN
    yield "GPU hours", f"{one.gpu_hours:,.0f}" if one.gpu_hours else _UNKNOWN
    yield "price", f"{one.price:,.0f} {one.currency}" if one.price else ""
    yield "tokens/s", f"{one.tokens_s:,.0f}" if one.tokens_s else _UNKNOWN
    yield "step", seconds(step.seconds) if step else _UNKNOWN
    yield "  tensor all-reduces", _share(step.tensor_s / step.seconds) if step else _UNKNOWN
    yield "  pipeline waits", _share(step.bubble_s / step.seconds) if step else _UNKNOWN
    yield "  exchange not hidden", _share(step.exposed_s / step.seconds) if step else _UNKNOWN
    yield "parallel efficiency", _share(step.efficiency) if step else _UNKNOWN
    yield "utilization (MFU)", _share(one.utilization) if one.utilization else _UNKNOWN
    network = _rate(one.network) if one.network else "not known, not counted"
    yield "network of a node", network if one.nodes > 1 else ""
    yield "checkpoint", gigabytes(one.checkpoint)
    yield "  time", seconds(one.checkpoint_s) if one.checkpoint_s else _UNKNOWN
    yield "  share of the time", _share(one.checkpoint_share) if one.checkpoint_share else _UNKNOWN
    need = one.storage
    yield "storage", need.name or _UNKNOWN
    yield "  bandwidth", _rate(need.bandwidth.value) if need.bandwidth else _UNKNOWN
    yield "  for checkpoints", _rate(need.for_checkpoints)
    yield "  for data", _rate(need.for_data) if need.for_data else _UNKNOWN
    yield "  enough", (f"no, {_rate(need.lacking)} lacking" if need.lacking else "yes") if need.bandwidth else _UNKNOWN


def _rate(value: float) -> str:
    return f"{value / 10**9:,.1f} GB/s" if value >= 10**9 else f"{value / 10**6:,.1f} MB/s"


def _share(part: float) -> str:
    return f"{part:.1%}"


def _rates(rows: Sequence[Rate], currency: str) -> list[list[str]]:
    head = ["dense rate", "precision", "GPU", "node", "all nodes"]
    per_node = any(one.node_per_price for one in rows)
    per_price = any(one.per_price for one in rows)
    head += [f"node for 1000 {currency}"] * per_node + [f"for 1000 {currency}"] * per_price
    body = []
    for one in rows:
        cells = [one.type, one.precision, *(flops(value) for value in (one.gpu, one.node, one.cluster))]
        amounts = [one.node_per_price] * per_node + [one.per_price] * per_price
        body.append([*cells, *(between(amount, flops) if amount else _UNKNOWN for amount in amounts)])
    return [head, *body]


def _data(one: Run) -> dict[str, Any]:
    step = one.step
    return {
        "run": one.name,
        "type": one.type,
        "gpus": one.gpus,
        "nodes": one.nodes,
        "fits": step is not None,
        "parallelism": step.form.name if step else None,
        "tensor": step.form.tensor if step else None,
        "pipeline": step.form.pipeline if step else None,
        "recompute": step.form.recompute if step else None,
        "memory_bytes": round(step.memory) if step else None,
        "memory_usable_bytes": round(one.usable),
        "memory_least_bytes": {name: round(least) for name, least in one.memory},
        "days": one.days,
        "gpu_hours": one.gpu_hours,
        "price": one.price,
        "currency": one.currency,
        "tokens_per_s": one.tokens_s,
        "step_s": step.seconds if step else None,
        "compute_s": step.compute_s if step else None,
        "tensor_s": step.tensor_s if step else None,
        "bubble_s": step.bubble_s if step else None,
        "exposed_s": step.exposed_s if step else None,
        "parallel_efficiency": step.efficiency if step else None,
        "utilization": one.utilization,
        "node_network_bytes_per_s": one.network or None,
        "checkpoint_bytes": round(one.checkpoint),
        "checkpoint_s": one.checkpoint_s,
        "checkpoint_share": one.checkpoint_share,
        "storage": one.storage.name,
        "storage_bytes_per_s": one.storage.bandwidth.value if one.storage.bandwidth else None,
        "checkpoints_need_bytes_per_s": one.storage.for_checkpoints,
        "data_needs_bytes_per_s": one.storage.for_data,
    }


def _problem_data(name: str, problem: Problem) -> dict[str, str]:
    return {
        "run": name,
        "code": problem.code,
        "field": problem.field,
        "message": problem.message,
        "hint": problem.hint,
    }


def _rate_data(one: Rate) -> dict[str, Any]:
    return {
        "type": one.type,
        "precision": one.precision,
        "gpu_tflops": one.gpu,
        "node_tflops": one.node,
        "cluster_tflops": one.cluster,
        "node_tflops_per_1000": one.node_per_price.low if one.node_per_price else None,
        "node_tflops_per_1000_high": one.node_per_price.high if one.node_per_price else None,
        "cluster_tflops_per_1000": one.per_price.low if one.per_price else None,
        "cluster_tflops_per_1000_high": one.per_price.high if one.per_price else None,
    }
