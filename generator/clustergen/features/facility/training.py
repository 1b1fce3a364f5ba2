"""The time of a step of training a dense transformer, and the memory of a GPU, by form of parallelism.

Compute: (6 N + 12 L h s) operations for each token, of which one GPU reaches a share of its rate; a third more where
activations are computed twice. To this come the all-reduces of tensor parallelism, the part of the exchange of
gradients and weights that computing does not hide, and the time in which stages of a pipeline wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from clustergen.catalogue.figures import figure
from clustergen.records import record

MICRO_BATCHES = (1, 2, 4, 8, 16)  # sequences
WIDE = ("fp32", "tf32")


@record
class Machine:
    """GPUs of one kind and what joins them; rates in bytes/s, 0 where nothing joins them."""

    gpus: int
    node_gpus: int
    domain_gpus: int  # joined by NVLink or, without it, by PCIe of one node
    memory: float  # of a GPU, in bytes
    flops: float  # dense operations/s of a GPU at the precision
    reached: float  # share of them on one GPU
    inner: float  # bus bandwidth inside a domain
    outer: float  # of all fabric ports of a domain
    latency: float = 0.0  # of a step between nodes, in seconds


@record
class Model:
    """A dense transformer and its data."""

    parameters: float
    layers: int
    hidden: int
    sequence: int
    batch: float  # tokens of a step
    precision: str

    @property
    def operations(self) -> float:
        """For each token, forward and backward: 6 N, and attention over the sequence."""
        return 6 * self.parameters + 12 * self.layers * self.hidden * self.sequence

    @property
    def weight_bytes(self) -> float:
        return figure("weight_bytes_32" if self.precision in WIDE else "weight_bytes")

    @property
    def optimizer_bytes(self) -> float:
        return figure("optimizer_bytes_32" if self.precision in WIDE else "optimizer_bytes")

    @property
    def checkpoint(self) -> float:
        """Bytes of weights and the optimizer's state."""
        return self.parameters * (self.weight_bytes + self.optimizer_bytes)


def shape(parameters: float) -> tuple[int, int]:
    """Layers and hidden size of a model that states neither: N = 12 L h², and h is a multiple of L."""
    width = figure("width")
    layers = max(1, round((parameters / 12 / width**2) ** (1 / 3)))
    return layers, max(1, round(math.sqrt(parameters / 12 / layers)))


@record
class Form:
    """A way to divide a model: `data`, `sharded`, `tensor`, `pipeline`."""

    name: str
    tensor: int = 1
    pipeline: int = 1
    recompute: bool = False
    micro: int = 1  # sequences that a GPU computes at a time

    def __str__(self) -> str:
        parts = {"data": "data parallel", "sharded": "sharded (FSDP, ZeRO-3)"}
        text = parts.get(self.name, f"tensor {self.tensor}")
        if self.name == "pipeline":
            text = (f"tensor {self.tensor} × " if self.tensor > 1 else "") + f"pipeline {self.pipeline}"
        return text + (", recomputed" if self.recompute else "")


@record
class Step:
    """A step of one form, in seconds, and the memory that it takes."""

    form: Form
    memory: float  # of a GPU, in bytes
    ideal_s: float  # of one GPU's share, if nothing were exchanged or computed twice
    compute_s: float
    tensor_s: float
    bubble_s: float
    exposed_s: float  # exchange of gradients and weights that computing does not hide

    @property
    def seconds(self) -> float:
        return self.compute_s + self.tensor_s + self.bubble_s + self.exposed_s

    @property
    def efficiency(self) -> float:
        """Time on one GPU, if it had the memory, over time × GPUs."""
        return self.ideal_s / self.seconds


def forms(machine: Machine, model: Model) -> Iterator[Form]:
    """All ways of dividing that the machine permits, without micro batches above one sequence."""
    for recompute in (False, True):
        yield Form("data", recompute=recompute)
        if machine.gpus > 1:
            yield Form("sharded", recompute=recompute)
        for tensor in _divisors(min(machine.domain_gpus, machine.gpus), machine.gpus):
            if tensor > 1:
                yield Form("tensor", tensor, recompute=recompute)
            for pipeline in _divisors(model.layers, machine.gpus // tensor, powers=False):
                if pipeline > 1:
                    yield Form("pipeline", tensor, pipeline, recompute)


def _divisors(most: int, total: int, *, powers: bool = True) -> Iterator[int]:
    """Numbers up to `most` that divide `total`: powers of two, or all."""
    for number in range(1, min(most, total) + 1):
        if total % number == 0 and (not powers or number & (number - 1) == 0):
            yield number


def memory(machine: Machine, model: Model, form: Form) -> float:
    """Bytes on each GPU: weights, gradients, the optimizer's state and activations."""
    replicas = machine.gpus // (form.tensor * form.pipeline)
    part = model.parameters / (form.tensor * form.pipeline)
    states = 2 * model.weight_bytes + model.optimizer_bytes
    tokens = form.micro * model.sequence * model.hidden
    layer = figure("activation_bytes") * tokens / form.tensor
    kept = figure("recomputed_bytes") * tokens / form.tensor * model.layers + layer
    activations = kept if form.recompute else layer * model.layers
    if form.name == "data":
        return part * states + activations
    if form.name == "sharded":
        return part * states / replicas + 2 * 2 * model.weight_bytes * model.parameters / model.layers + activations
    return part * (2 * model.weight_bytes + model.optimizer_bytes / replicas) + activations


def fits(machine: Machine, model: Model, form: Form) -> bool:
    return memory(machine, model, form) <= usable(machine)


def usable(machine: Machine) -> float:
    """Bytes of a GPU that a model may use."""
    return machine.memory * figure("memory_share")


def step(machine: Machine, model: Model, form: Form) -> Step:
    """The parts of a step."""
    replicas = machine.gpus // (form.tensor * form.pipeline)
    rounds = max(1.0, model.batch / (form.micro * model.sequence * replicas))  # micro batches, one after the other
    computed = rounds * form.micro * model.sequence * replicas  # more than the batch where it is too small for all GPUs
    ideal = model.batch * model.operations / (machine.gpus * machine.flops * machine.reached)
    compute = ideal * computed / model.batch * (figure("recompute") if form.recompute else 1)
    share = figure("bus_share")
    reduced = 2 * form.micro * model.sequence * model.hidden  # bytes of activations in 16 bits
    tensor = 0.0
    if form.tensor > 1:
        each = _reduce_s(reduced, form.tensor, machine.inner * share, 0)
        tensor = rounds * (6 if form.recompute else 4) * model.layers / form.pipeline * each
    chunks = max(1.0, model.layers / form.pipeline / figure("chunk_layers"))
    bubble = (form.pipeline - 1) / rounds / chunks * (compute + tensor)
    backward = compute * 2 / 3
    weights = model.weight_bytes * model.parameters / (form.tensor * form.pipeline)
    bus = _bus(machine, form) * share
    exposed = 0.0
    if replicas > 1 and bus:
        whole = _reduce_s(weights, replicas, bus, machine.latency)
        # Sharded: weights are gathered forward and backward and gradients scattered, each half an all-reduce, for each
        # micro batch. Otherwise gradients are exchanged once, beside the backward pass of the last micro batch.
        exposed = max(0.0, rounds * 1.5 * whole - compute if form.name == "sharded" else whole - backward / rounds)
    return Step(
        form=form,
        memory=memory(machine, model, form),
        ideal_s=ideal,
        compute_s=compute,
        tensor_s=tensor,
        bubble_s=bubble,
        exposed_s=exposed,
    )


def _reduce_s(size: float, ranks: int, bus: float, latency: float) -> float:
    """An all-reduce by a ring."""
    return 2 * (ranks - 1) / ranks * size / bus + 2 * (ranks - 1) * latency if bus else 0.0


def _bus(machine: Machine, form: Form) -> float:
    """The bandwidth of one of the groups that exchange gradients: groups of a node share its ports."""
    if machine.gpus <= machine.domain_gpus:
        return machine.inner
    ports = machine.outer / min(form.tensor, machine.domain_gpus)
    return min(machine.inner, ports) if machine.inner else ports


def fitting(machine: Machine, model: Model, allowed: Callable[[Form], bool] = bool) -> Iterator[Form]:
    """The forms that fit, of those that are allowed."""
    for form in filter(allowed, forms(machine, model)):
        for micro in MICRO_BATCHES:
            if micro == 1 or model.batch >= micro * model.sequence * machine.gpus / (form.tensor * form.pipeline):
                sized = Form(form.name, form.tensor, form.pipeline, form.recompute, micro)
                if fits(machine, model, sized):
                    yield sized


def best(machine: Machine, model: Model, allowed: Callable[[Form], bool] = bool) -> Step | None:
    """The fastest form that fits, of those that are allowed."""
    steps = (step(machine, model, form) for form in fitting(machine, model, allowed))
    return min(steps, key=lambda one: one.seconds, default=None)


def smallest(machine: Machine, model: Model) -> tuple[Form, float]:
    """The form that takes the least memory, and what it takes."""
    return min(((form, memory(machine, model, form)) for form in forms(machine, model)), key=lambda pair: pair[1])
