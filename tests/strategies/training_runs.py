"""Published training runs beside their estimates, as the table of docs/facility.md."""

from __future__ import annotations

import re
from pathlib import Path

from clustergen.catalogue.figures import figure
from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.tables import row_reader
from clustergen.catalogue.training import gpu_precisions, tflops
from clustergen.features.facility.training import Form, Machine, Model, step
from clustergen.records import record

_FILE = Path(__file__).parents[1] / "fixtures" / "training_runs.tsv"
_PLACE = re.compile(r"(<!-- training runs -->\n).*?(<!-- end -->)", re.DOTALL)


@record
class PublishedRun:
    """A training run whose time was published. Zero: not stated."""

    run: str
    parameters: float
    layers: int
    hidden: int
    sequence: int
    batch: float
    """Tokens of a step."""
    tokens: float
    precision: str
    gpu: str
    """Id in `hardware.gpus()`."""
    gpus: int
    node_gpus: int
    node_gbit: int
    """Fabric ports of a node together, in Gb/s."""
    tensor: int
    pipeline: int
    recompute: int
    days: float


def published_runs() -> list[PublishedRun]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return list(map(row_reader(_FILE.name, header, PublishedRun), rows))


def machine_of(run: PublishedRun) -> Machine:
    gpu = gpus()[run.gpu]
    assert gpu.memory_gb is not None
    return Machine(
        gpus=run.gpus,
        node_gpus=run.node_gpus,
        domain_gpus=run.node_gpus,
        memory=gpu.memory_gb * 1e9,
        flops=(tflops(gpu, run.precision) or 0) * 1e12,
        reached=gpu_precisions()[gpu.sm, run.precision].reached,
        inner=gpu.nvlink_gb_s / 2 * 1e9,
        outer=run.node_gbit / 8 * 1e9,
        latency=figure("latency_ring_net") / 1e6,
    )


def model_of(run: PublishedRun) -> Model:
    return Model(run.parameters, run.layers, run.hidden, run.sequence, run.batch, run.precision)


def form_of(run: PublishedRun) -> Form:
    """The division as published."""
    name = "pipeline" if run.pipeline else "sharded"
    return Form(name, run.tensor or 1, run.pipeline or 1, bool(run.recompute))


def days_of(run: PublishedRun) -> float:
    """The estimate."""
    seconds = step(machine_of(run), model_of(run), form_of(run)).seconds
    return run.tokens / run.batch * seconds / 86400 / figure("effective_time")


def runs_filled(text: str) -> str:
    """A page's text with the table as the catalogue and the formulas have it today."""
    return _PLACE.sub(lambda match: f"{match[1]}\n{_table()}\n{match[2]}", text)


def _table() -> str:
    lines = [
        "| run | GPUs | tokens | division | days | estimate | days / estimate |",
        "|---|---|---|---|---:|---:|---:|",
    ]
    for run in published_runs():
        days = days_of(run)
        cells = (
            run.run,
            f"{run.gpus:,} {run.gpu}",
            f"{run.tokens / 1e9:,.0f} billion",
            str(form_of(run)),
            f"{run.days:.1f}",
            f"{days:.1f}",
            f"{run.days / days:.2f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
