"""Training runs on the GPUs of a node type: days, GPU hours, price, and the bandwidth that they need of storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import get_args

from clustergen.catalogue.acceptance import shares
from clustergen.catalogue.facility import rack_system_of
from clustergen.catalogue.figures import figure
from clustergen.catalogue.training import gpu_precisions, precisions_of, tflops
from clustergen.cluster.facility import Facility, Training
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.nvlink import domain_nodes
from clustergen.cluster.slurm.job_site import visible
from clustergen.diagnostics.words import did_you_mean
from clustergen.features.facility.bill import Amount, bill, cost
from clustergen.features.facility.estimates import checkpoint_seconds
from clustergen.features.facility.section import Parallelism
from clustergen.features.facility.training import (
    Form,
    Machine,
    Model,
    Step,
    best,
    fitting,
    forms,
    memory,
    shape,
    smallest,
    usable,
)
from clustergen.records import record, replace
from clustergen.units import BitRate, ByteRate, Bytes

_LEAST_BATCH = 4_000_000  # tokens
_MOST_GPUS = 2**16
_DIVISION = ("parallelism", "tensor", "pipeline", "recompute")
"""Fields that choose a form."""


@record
class Rate:
    """Dense operations at one precision, in TFLOPS."""

    type: str
    precision: str
    gpu: float
    node: float
    cluster: float  # of all nodes of the type
    per_price: Amount | None  # of the cluster, for 1000 of the currency that all priced lines of the bill cost
    node_per_price: Amount | None  # of a node, for 1000 of the currency that the node costs


@record
class Problem:
    """A reason why a run cannot be estimated, or does not fit; `field` is the one to change."""

    code: str
    field: str
    message: str
    hint: str


@record
class Storage:
    """The bandwidth of a file system and the part that a run needs, in bytes/s."""

    name: str | None  # None: no file system states its bandwidth
    bandwidth: ByteRate | None
    for_checkpoints: float
    for_data: float | None  # None where the run does not fit

    @property
    def lacking(self) -> float:
        """The bandwidth that the greater of the two needs beyond that of the file system."""
        return max(0.0, max(self.for_checkpoints, self.for_data or 0) - (self.bandwidth.value if self.bandwidth else 0))


@record
class Run:
    """A training run on a number of GPUs. `step` is None where no form fits."""

    name: str
    type: str
    gpus: int
    nodes: int
    step: Step | None
    memory: tuple[tuple[str, float], ...]  # by name of the form, in bytes: the least of each
    usable: float  # bytes of a GPU that a model may use
    checkpoint: float  # bytes
    checkpoint_s: float | None
    checkpoint_share: float | None  # of the time
    days: float | None
    gpu_hours: float | None
    price: float | None
    currency: str | None
    tokens_s: float | None
    utilization: float | None  # operations of the model over the rate of the GPUs (MFU)
    network: float  # bytes/s of all fabric ports of a node, or of an NVLink domain of several; 0: not known
    storage: Storage


def rates(cluster: Cluster) -> tuple[Rate, ...]:
    """The rates of each node type with GPUs, by precision."""
    items = bill(cluster)
    total = cost(cluster).total if any(item.price is not None for item in items) else None
    of_node = {item.item: item for item in items if item.category == "system" and item.price is not None}
    rows = []
    for node_type in cluster.gpu_types:
        gpus = node_type.gpus
        nodes = sum(len(group.hosts) for group in cluster.of_type[node_type.name])
        for precision in precisions_of(gpus.model) if gpus else ():
            one = tflops(gpus.model, precision) if gpus else None
            if gpus and one:
                whole = one * gpus.count * nodes
                rack = rack_system_of(node_type.system) if node_type.system else None
                item = of_node.get(rack.id if rack else node_type.system or node_type.name)
                trays = rack.trays if rack else 1
                price = Amount(item.price or 0, item.price_high or 0).times(1 / trays) if item else None
                rows.append(
                    Rate(
                        type=node_type.name,
                        precision=precision,
                        gpu=one,
                        node=one * gpus.count,
                        cluster=whole,
                        per_price=_per_1000(whole, total),
                        node_per_price=_per_1000(one * gpus.count, price),
                    )
                )
    return tuple(rows)


def _per_1000(rate: float, price: Amount | None) -> Amount | None:
    """The rate that 1000 of the currency buy, at the highest and at the lowest price."""
    return Amount(rate / price.high * 1000, rate / price.low * 1000) if price and price.low else None


def node_type_of(cluster: Cluster, run: Training) -> NodeType | None:
    """The type that trains: the one of the run, or that with most GPUs."""
    types = [node_type for node_type in cluster.gpu_types if run.type in (None, node_type.name)]
    return max(types, key=lambda node_type: _gpus(cluster, node_type), default=None)


def _gpus(cluster: Cluster, node_type: NodeType) -> int:
    nodes = sum(len(group.hosts) for group in cluster.of_type[node_type.name])
    return nodes * (node_type.gpus.count if node_type.gpus else 0)


def problems(cluster: Cluster, run: Training) -> Iterator[Problem]:
    """Reasons why a run cannot be estimated, and sizes into whose memory no form fits."""
    node_type = node_type_of(cluster, run)
    if node_type is None or node_type.gpus is None:
        names = [each.name for each in cluster.gpu_types]
        yield Problem(
            "training-without-gpus",
            "type",
            f"no node type '{run.type}' has GPUs" if run.type else "no node type has GPUs, so nothing can train",
            (did_you_mean(run.type, names) or f"use one of {', '.join(names)}")
            if names and run.type
            else "add nodes of a type with GPUs",
        )
        return
    gpu = node_type.gpus.model
    offered = precisions_of(gpu)
    if offered and run.precision not in offered:
        nearest = "fp16" if run.precision == "bf16" else "bf16" if "bf16" in offered else "fp16"
        yield Problem(
            "training-precision",
            "precision",
            f"a GPU '{gpu.id}' has no {run.precision}; it has {', '.join(offered)}",
            f"write precision: {nearest}",
        )
        return
    if run.tflops is None and tflops(gpu, run.precision) is None:
        yield Problem(
            "training-rate-unknown",
            "tflops",
            f"the catalogue does not know the {run.precision} rate of a GPU '{gpu.id}'",
            "add tflops: the dense rate of its data sheet, in TFLOPS",
        )
        return
    for gpus in sizes(cluster, run, node_type):
        yield from _too_large(run, node_type, machine(cluster, run, node_type, gpus), model(run, gpus))


def _too_large(run: Training, node_type: NodeType, host: Machine, size: Model) -> Iterator[Problem]:
    allowed = _allowed(run)
    if any(True for _ in fitting(host, size, allowed)):
        return
    billions = f"{size.parameters / 1e9:g} billion parameters"
    gpu = node_type.gpus.model.id if node_type.gpus else ""
    limit = f"a model may use {gigabytes(usable(host))} of the {gpu}"
    stated = [name for name in _DIVISION if getattr(run, name) is not None]
    other = best(host, size) if stated else None
    if other is not None:
        least = min((memory(host, size, form) for form in filter(allowed, forms(host, size))), default=None)
        takes = f"take {gigabytes(least)} of each of {host.gpus} GPUs, and {limit}" if least else "cannot be divided so"
        way = f"write parallelism: {other.form.name}" if stated == ["parallelism"] else f"remove {' and '.join(stated)}"
        yield Problem(
            "training-too-large",
            stated[0],
            f"{billions} {takes}",
            f"{way}; {other.form} takes {gigabytes(other.memory)}",
        )
        return
    form, least = smallest(host, size)
    larger = fitting_size(run, host)
    yield Problem(
        "training-too-large",
        "gpus" if run.gpus else "parameters",
        f"{billions} take {gigabytes(least)} of each of {host.gpus} GPUs as {form}, and {limit}",
        f"write gpus: [{larger[0]}]; {larger[1].form} takes {gigabytes(larger[1].memory)}"
        if larger
        else "take GPUs with more memory, or shorter sequences",
    )


def _allowed(run: Training) -> Callable[[Form], bool]:
    """True for the forms that a run permits."""
    return lambda form: (
        run.parallelism in (None, form.name)
        and run.tensor in (None, form.tensor)
        and run.pipeline in (None, form.pipeline)
        and run.recompute in (None, form.recompute)
    )


def fitting_size(run: Training, host: Machine) -> tuple[int, Step] | None:
    """The least number of GPUs, doubled from that of the machine, on which a form fits."""
    gpus = host.gpus
    while gpus < _MOST_GPUS:
        gpus = max(gpus * 2, host.node_gpus)
        step = best(replace(host, gpus=gpus), model(run, gpus))
        if step is not None:
            return gpus, step
    return None


def sizes(cluster: Cluster, run: Training, node_type: NodeType) -> tuple[int, ...]:
    return run.gpus or (_gpus(cluster, node_type),)


def model(run: Training, gpus: int) -> Model:
    layers, hidden = shape(run.parameters)
    batch = run.batch or max(_LEAST_BATCH, gpus * run.sequence)
    return Model(
        parameters=run.parameters,
        layers=run.layers or layers,
        hidden=run.hidden or hidden,
        sequence=run.sequence,
        batch=batch,
        precision=run.precision,
    )


def machine(cluster: Cluster, run: Training, node_type: NodeType, gpus: int) -> Machine:
    """GPUs of a type as the estimate sees them; what joins them is 0 where it is not known."""
    fitted = node_type.gpus
    assert fitted is not None
    precision = gpu_precisions().get((fitted.model.sm, run.precision))
    flops = (run.tflops or tflops(fitted.model, run.precision) or 0) * 10**12
    nodes = domain_nodes(node_type)
    if fitted.nvlink != "none" and fitted.model.nvlink_gb_s:
        inner = fitted.model.nvlink_gb_s / 2 * 10**9
    else:
        way = shares().get(f"pcie-gen{fitted.model.pcie_gen}")
        inner = way.possible * 10**9 * figure("pcie_share") if way and way.possible else 0.0
    fabric = cluster.networks.fabric
    rate = fabric.rate_gbit if fabric else None
    speeds = [min(filter(None, (rate, port.max_gbit)), default=0) for port in node_type.fabric_ports()]
    return Machine(
        gpus=gpus,
        node_gpus=fitted.count,
        domain_gpus=fitted.count * nodes,
        memory=(fitted.model.memory_gb or 0) * 10**9,
        flops=flops,
        reached=run.reached or (precision.reached if precision else figure("reached")),
        inner=inner,
        outer=nodes * sum(speeds) / 8 * 10**9,
        latency=figure("latency_ring_net") / 10**6,
    )


def estimates(cluster: Cluster, name: str, run: Training) -> tuple[Run, ...]:
    """The run on each number of GPUs; none where a problem keeps it from being estimated."""
    if any(problem.code != "training-too-large" for problem in problems(cluster, run)):
        return ()
    node_type = node_type_of(cluster, run)
    assert node_type is not None
    return tuple(_estimate(cluster, name, run, node_type, gpus) for gpus in sizes(cluster, run, node_type))


def _estimate(cluster: Cluster, name: str, run: Training, node_type: NodeType, gpus: int) -> Run:
    host, size = machine(cluster, run, node_type, gpus), model(run, gpus)
    step = best(host, size, _allowed(run))
    nodes = -(-gpus // host.node_gpus)
    prices = cluster.of(Facility).prices
    least = [
        (word, min(memory(host, size, form) for form in forms(host, size) if form.name == word))
        for word in get_args(Parallelism)
        if any(form.name == word for form in forms(host, size))
    ]
    write, share = _checkpoint(cluster, run, node_type, size, nodes)
    days = hours = tokens_s = None
    if step is not None:
        tokens_s = size.batch / step.seconds
        days = run.token_count / tokens_s / 86400 / (1 - (share or 0)) / run.effective_time
        hours = days * 24 * gpus
    return Run(
        name=name,
        type=node_type.name,
        gpus=gpus,
        nodes=nodes,
        step=step,
        memory=tuple(least),
        usable=usable(host),
        checkpoint=size.checkpoint,
        checkpoint_s=write,
        checkpoint_share=share,
        days=days,
        gpu_hours=hours,
        price=hours * prices.gpu_hour if hours and prices and prices.gpu_hour else None,
        currency=prices.currency if prices else None,
        tokens_s=tokens_s,
        utilization=tokens_s * size.operations / gpus / host.flops if tokens_s else None,
        network=host.outer,
        storage=_storage(cluster, run, node_type, size, tokens_s),
    )


def _fastest(cluster: Cluster, node_type: NodeType) -> tuple[str, ByteRate] | None:
    """The file system with the highest bandwidth of those that nodes of the type may write."""
    groups = cluster.of_type[node_type.name]
    entries = {name: entry for group in groups for name, entry in visible(cluster, group).items()}
    rates_of = [(name, entry.bandwidth) for name, entry in entries.items() if not entry.read_only]
    return max(((name, rate) for name, rate in rates_of if rate), key=lambda pair: pair[1], default=None)


def _checkpoint(
    cluster: Cluster, run: Training, node_type: NodeType, size: Model, nodes: int
) -> tuple[float | None, float | None]:
    """Seconds of a checkpoint, and its share of the time: training waits for it."""
    place = _fastest(cluster, node_type)
    if place is None:
        return None, None
    network = cluster.networks.storage or cluster.networks.fabric
    rate = network.rate_gbit if network else None
    each = BitRate(rate * 10**9) if rate else None
    write = checkpoint_seconds(Bytes(int(size.checkpoint)), nodes, each, place[1])
    return write, write / (run.checkpoint_every_s + write)


def _storage(cluster: Cluster, run: Training, node_type: NodeType, size: Model, tokens_s: float | None) -> Storage:
    place = _fastest(cluster, node_type)
    window = run.checkpoint_every_s * figure("checkpoint_share")
    return Storage(
        name=place[0] if place else None,
        bandwidth=place[1] if place else None,
        for_checkpoints=size.checkpoint / window,
        for_data=tokens_s * figure("token_bytes") if tokens_s else None,
    )


def gigabytes(size: float) -> str:
    return f"{size / 10**9:,.0f} GB"
