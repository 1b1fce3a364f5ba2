"""Tables of facility/README.md: switches and their ports, modules and cables, bandwidth, times and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clustergen.cluster.facility import Facility
from clustergen.cluster.management_ports import management_ports
from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import NETWORKS
from clustergen.cluster.slurm.job_site import visible
from clustergen.facility.cabling import cables
from clustergen.facility.placement import switches_of
from clustergen.features.facility.bill import Amount, Item, bill, cost
from clustergen.features.facility.estimates import all_reduces, bisection, checkpoint_seconds
from clustergen.features.facility.runs import estimates, gigabytes, rates
from clustergen.features.facility.tables import sums
from clustergen.hostlist import compress
from clustergen.render.views.tables import Table, table_of
from clustergen.units import BitRate

_REDUCE = (
    "Lower bounds: the time of the wire and the latency of the steps, in one node and over all nodes of the type. Ring:"
    " 2 (n - 1) / n × size / bus bandwidth. Tree: 2 × size / bus bandwidth."
)

_NETWORK = frozenset({"adapter", "switch", "module", "fibre", "cable", "link"})
_RUNS = "Days of the whole run; published runs took up to 30 % more or less. Checkpoints: their share of the time."


_OTHERS = (
    "The network of the BMCs has a port for each of these. They follow the ports of the nodes and are not in"
    " cables.csv; coolant distribution units, and the switches of this network itself, are not counted."
)


def fabric_tables(cluster: Cluster) -> tuple[Table, ...]:
    return (
        table_of("Materials", "Lengths and prices are in bom.csv.", _materials(cluster)),
        table_of("Leaf ports", "", _ports(cluster)),
        table_of("Management ports of other devices", _OTHERS, _others(cluster)),
        table_of("Fabric bandwidth", "", _bandwidth(cluster)),
        table_of("All-reduce", _REDUCE, _reduce(cluster)),
        table_of("Checkpoint", "All clients write at once; latency and metadata not included.", _checkpoint(cluster)),
        table_of("Dense rates", "Operations of matrix products, without sparsity.", _rates(cluster)),
        table_of("Training runs", _RUNS, _runs(cluster)),
        table_of("Cost", "", _cost(cluster)),
    )


def _materials(cluster: Cluster) -> Iterator[dict[str, str]]:
    counts: dict[tuple[str, str, str, str], list[float]] = {}
    for item in bill(cluster):
        key = (item.category, item.item, item.description, item.part)
        sums = counts.setdefault(key, [0, 0, 0.0])
        sums[0] += item.count
        sums[1] += item.spares
        sums[2] += (item.length_m or 0) * item.count
    for (category, name, words, part), (count, spares, metres) in counts.items():
        yield {
            "Category": category,
            "Item": name,
            "Description": words,
            "Part": part,
            "Count": f"{count:,}",
            "Spares": f"{spares:,}" if spares else "",
            "Length in all": f"{metres:,.0f} m" if metres else "",
        }


def _ports(cluster: Cluster) -> Iterator[dict[str, str]]:
    """Leaves with the same use as one row. Uplink ports beside the node ports of a switch are not counted."""
    lower: dict[str, set[int]] = {}
    upper: dict[str, set[int]] = {}
    for cable in cables(cluster):
        lower.setdefault(cable.b.device, set()).add(cable.b.number)
        upper.setdefault(cable.a.device, set()).add(cable.a.number)
    for network, switches in switches_of(cluster).items():
        alike: dict[tuple[str, int, int, int, int], list[str]] = {}
        for switch in switches:
            if switch.is_leaf and switch.ports:
                up = sum(number <= switch.ports for number in upper.get(switch.name, ()))
                key = (switch.model or "", switch.ports, len(lower.get(switch.name, ())), switch.free_ports, up)
                alike.setdefault(key, []).append(switch.name)
        for (model, ports, used, others, up), names in alike.items():
            yield {
                "Network": network,
                "Leaves": compress(names),
                "Model": model,
                "Ports": str(ports),
                "To nodes": str(used),
                "For other devices": str(others) if others else "",
                "Uplinks": str(up),
                "Left on each": str(max(0, ports - used - others - up)),
                "Leaf ports left": str(len(names) * max(0, ports - used - others - up)),
            }


def _others(cluster: Cluster) -> Iterator[dict[str, str]]:
    """Kinds of devices for which the plan of the BMCs' network has ports."""
    if not cluster.other_switches.get("bmc"):
        return
    switches = [switch for name, several in switches_of(cluster).items() if name != "bmc" for switch in several]
    plans = [network.plan for name in NETWORKS if (network := cluster.networks.get(name)) and network.plan]
    guests = [guest for plan in plans for guest in plan.reserved_for]
    for kind, count in management_ports(cluster.catalogue, cluster.groups, cluster.racks, switches, guests).items():
        yield {"Devices": kind, "Ports": f"{count:,}"}


def _bandwidth(cluster: Cluster) -> Iterator[dict[str, str]]:
    half = bisection(cluster)
    if half is not None:
        ratio = f"{half.ratio:.2f}".rstrip("0").rstrip(".")
        yield {
            "Bisection, one direction": f"{bits(half.rate)}, {half.rate.to_bytes().gb:,.0f} GB/s",
            "Oversubscription": "1:1, non-blocking" if half.ratio == 1 else f"{ratio}:1",
        }


def _reduce(cluster: Cluster) -> Iterator[dict[str, str]]:
    for one in all_reduces(cluster):
        for time in one.times:
            yield {
                "Type": one.type,
                "GPUs": f"{one.gpus:,}",
                "Nodes": str(one.nodes),
                "Ports": f"{one.rails} x {one.bus.gb / one.rails:g} GB/s" if one.limit == "fabric" else "",
                "Bus bandwidth": f"{one.bus.gb:g} GB/s",
                "Limited by": one.limit,
                "Size": str(time.size),
                "Ring": seconds(time.ring_s),
                "Its latency": seconds(one.ring_latency_s),
                "Tree": seconds(time.tree_s) if time.tree_s is not None else "",
                "Latency of the tree": seconds(one.tree_latency_s) if one.tree_latency_s is not None else "",
            }


def _checkpoint(cluster: Cluster) -> Iterator[dict[str, str]]:
    size = cluster.of(Facility).checkpoint
    for name, entry in cluster.storage.items():
        if size is not None and entry.bandwidth is not None and not entry.read_only:
            network = cluster.networks.storage or cluster.networks.fabric
            rate = network.rate_gbit if network else None
            each = BitRate(rate * 10**9) if rate else None
            nodes = sum(len(group.hosts) for group in cluster.compute if name in visible(cluster, group))
            if not nodes:
                continue
            yield {
                "File system": name,
                "Bandwidth": str(entry.bandwidth),
                "Size": str(size),
                "Time": seconds(checkpoint_seconds(size, nodes, each, entry.bandwidth)),
            }


def _rates(cluster: Cluster) -> Iterator[dict[str, str]]:
    prices = cluster.of(Facility).prices
    for one in rates(cluster):
        row = {
            "Type": one.type,
            "Precision": one.precision,
            "GPU": flops(one.gpu),
            "Node": flops(one.node),
            "All nodes": flops(one.cluster),
        }
        if prices and one.node_per_price:
            row[f"Node for 1000 {prices.currency}"] = between(one.node_per_price, flops)
        if prices and one.per_price:
            row[f"For 1000 {prices.currency}"] = between(one.per_price, flops)
        yield row


def _runs(cluster: Cluster) -> Iterator[dict[str, str]]:
    for name, run in cluster.of(Facility).training.items():
        for one in estimates(cluster, name, run):
            step = one.step
            yield {
                "Run": name,
                "GPUs": f"{one.gpus:,} {one.type}",
                "Parallelism": str(step.form) if step else "does not fit",
                "Memory of a GPU": f"{gigabytes(step.memory)} of {gigabytes(one.usable)}" if step else "",
                "Days": f"{one.days:,.1f}" if one.days else "",
                "GPU hours": f"{one.gpu_hours:,.0f}" if one.gpu_hours else "",
                "Price": f"{one.price:,.0f} {one.currency}" if one.price else "",
                "Efficiency": f"{step.efficiency:.0%}" if step else "",
                "Checkpoints": f"{one.checkpoint_share:.1%}" if one.checkpoint_share else "",
            }


def _cost(cluster: Cluster) -> Iterator[dict[str, str]]:
    prices = cluster.of(Facility).prices
    if prices is None:
        return
    items = bill(cluster)
    for category in dict.fromkeys(item.category for item in items):
        yield _sum(category, [item for item in items if item.category == category], prices.currency)
    network = [item for item in items if item.category in _NETWORK]
    if any(item.category == "adapter" for item in network):
        yield _sum("network: adapters, switches, cables", network, prices.currency)
    money = cost(cluster)
    missing = sum(item.cost is None for item in items)
    words = f"{missing} of {len(items)} lines" if missing else ""
    for name, percent, amount in sums(money, prices):
        yield _money(f"{name}, {percent:g} %" if percent else name, amount, prices.currency, "" if percent else words)
    if cluster.gpu_count:
        yield _money("for each GPU", money.total.times(1 / cluster.gpu_count), prices.currency, words)
    if prices.budget is not None:
        yield _money("budget", Amount(prices.budget, prices.budget), prices.currency, "")


def _sum(what: str, items: Sequence[Item], currency: str) -> dict[str, str]:
    priced = [item for item in items if item.cost is not None]
    amount = Amount(sum(item.cost or 0 for item in priced), sum(item.cost_high or 0 for item in priced))
    count = len(items) - len(priced)
    words = f"{count} {'line' if count == 1 else 'lines'}" if count else ""
    return _money(what, amount if priced else None, currency, words)


def _money(what: str, amount: Amount | None, currency: str, missing: str) -> dict[str, str]:
    text = "" if amount is None else between(amount, "{:,.2f}".format)
    return {"What": what, f"Cost ({currency})": text, "Without a price": missing}


def between(amount: Amount, form: Callable[[float], str]) -> str:
    """One figure, or both bounds where they differ as they are written."""
    low, high = form(amount.low), form(amount.high)
    return low if low == high else f"{low} to {high}"


def bits(rate: BitRate) -> str:
    return f"{rate.gbit / 1000:,.1f} Tb/s" if rate.gbit >= 1000 else f"{rate.gbit:g} Gb/s"


def seconds(value: float) -> str:
    """In the unit that leaves one to three digits before the point."""
    if value < 1e-3:
        return f"{value * 1e6:.1f} µs"
    if value < 1:
        return f"{value * 1e3:.1f} ms"
    return f"{value:.1f} s" if value < 120 else f"{value / 60:.1f} min"


def flops(tera: float) -> str:
    """TFLOPS in the unit that leaves one to three digits before the point."""
    if tera >= 10**6:
        return f"{tera / 10**6:,.2f} EFLOPS"
    return f"{tera / 1000:,.2f} PFLOPS" if tera >= 1000 else f"{tera:,.3g} TFLOPS"
