"""The figures by which designs are compared: what a cluster has, draws, carries and costs."""

from __future__ import annotations

from collections import Counter

from clustergen.cluster.facility import Facility
from clustergen.cluster.model import Cluster
from clustergen.facility.cabling import cables
from clustergen.facility.placement import switches_of
from clustergen.facility.power import room_load
from clustergen.features.facility.bill import Amount, bill, cost
from clustergen.features.facility.estimates import AllReduce, all_reduces, bisection
from clustergen.features.facility.runs import rates
from clustergen.records import record
from clustergen.units import BitRate, Bytes


@record
class Design:
    """One cluster in numbers. None: not known, or there is no such thing."""

    nodes: int
    gpus: int
    switches: int
    links: int
    cables: int  # fibres and assemblies to order, without spares
    transceivers: int
    without_cable: int  # links for which no cable was chosen
    racks: int
    watts: int
    without_power: tuple[str, ...]  # devices of whose power nothing, or only that of the GPUs, is known
    bisection: BitRate | None
    oversubscription: float | None
    fp16_tflops: float | None  # dense, of all GPUs whose rate is known
    all_reduce: AllReduce | None  # over all GPUs of the type that has most
    currency: str | None
    cost: Amount | None  # of all lines of the bill that have a price, with contingency and tax
    lines: int
    without_price: int

    @property
    def fp16_tflops_per_1000(self) -> Amount | None:
        """For 1000 of the currency, at the highest and at the lowest cost."""
        if not self.cost or not self.cost.low or not self.fp16_tflops:
            return None
        return Amount(self.fp16_tflops / self.cost.high * 1000, self.fp16_tflops / self.cost.low * 1000)

    @property
    def cost_per_gpu(self) -> Amount | None:
        return self.cost.times(1 / self.gpus) if self.cost is not None and self.gpus else None


def design(cluster: Cluster, all_reduce: Bytes) -> Design:
    """The figures of a cluster, with the time of an all-reduce of that size."""
    items = bill(cluster)
    count: Counter[str] = Counter()
    for item in items:
        count[item.category] += item.count
    load = room_load(cluster)
    half = bisection(cluster)
    prices = cluster.of(Facility).prices
    unpriced = sum(item.price is None for item in items)
    reduces = all_reduces(cluster, (all_reduce,))
    return Design(
        nodes=cluster.host_count,
        gpus=cluster.gpu_count,
        switches=sum(map(len, switches_of(cluster).values())),
        links=len(cables(cluster)),
        cables=count["fibre"] + count["cable"],
        transceivers=count["module"],
        without_cable=count["link"],
        racks=len(cluster.racks),
        watts=load.watts,
        without_power=(*load.without_power, *load.gpus_only),
        bisection=half.rate if half else None,
        oversubscription=half.ratio if half else None,
        fp16_tflops=sum(rate.cluster for rate in rates(cluster) if rate.precision == "fp16") or None,
        all_reduce=max(reduces, key=lambda one: one.gpus, default=None),
        currency=prices.currency if prices else None,
        cost=cost(cluster).total if unpriced < len(items) else None,
        lines=len(items),
        without_price=unpriced,
    )
