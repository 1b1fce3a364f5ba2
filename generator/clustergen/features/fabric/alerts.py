"""Alerts on the fabric's ports, as the nodes' kernels count them."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.fabric import are_guessed
from clustergen.cluster.model import Cluster, Port
from clustergen.cluster.monitoring import NodeExporter
from clustergen.cluster.rails import has_ports
from clustergen.cluster.slurm.model import Slurm
from clustergen.render.alerts import DEVICE, Alert, Labels, Topic, for_types, one_of, window

_MANY = 2  # nodes of a leaf
_MOST = 0.8  # of its ports
_ACTIVE = 4  # of the InfiniBand port states; RoCE ports have the same


def topic(cluster: Cluster) -> Topic | None:
    fabric = cluster.networks.fabric
    if fabric is None or not cluster.has(NodeExporter):
        return None
    rate = fabric.rate_gbit
    rdma = fabric.type != "ethernet"
    alike: dict[tuple[tuple[str, ...], int | None], list[str]] = {}
    for node_type in cluster.node_types:
        ports = node_type.fabric_ports()
        if ports and not are_guessed(cluster, node_type):  # a wrong name would be an alert for each of its nodes
            names = tuple(port.device if rdma else port.interface or port.device for port in ports)
            alike.setdefault((names, _slowest(ports, rate)), []).append(node_type.name)
    alerts: list[Alert] = []
    for (names, expected), kinds in alike.items():
        types, devices = f"node_type{one_of(kinds)}", f"device{one_of(list(names))}"
        metric = "node_infiniband_state_id" if rdma else "node_network_up"
        labels = for_types(kinds)
        alerts += _ports(f"{{{types},{devices}}}", expected, labels, rdma=rdma)
        alerts.append(_missing(metric, types, devices, len(names), labels))
    if rdma and has_ports(cluster):
        alerts += _switches(cluster)
        alerts += _rdma_errors(cluster)
        alerts += _infiniband_errors(cluster) if fabric.type == "infiniband" else ()
    if not alerts:
        return None
    return Topic(
        "fabric",
        "Fabric ports: up, at full rate, without errors.",
        (),
        tuple(alerts),
        look="On the node: `rdma link`, `ibstat`, `journalctl -k --grep mlx5`. Compare them with the switch port.",
        page="fabric",
        drains=True,
        works="all other ports, and ssh; jobs that use this port hang, fail or slow down",
        place=50,
    )


def _slowest(ports: tuple[Port, ...], rate: int | None) -> int | None:
    """Gb/s that every port must reach: the network's rate, or what the slowest NIC can."""
    speeds = [speed for speed in (*(port.max_gbit for port in ports), rate) if speed]
    return int(min(speeds)) if speeds else None


def _missing(metric: str, types: str, devices: str, count: int, labels: Labels) -> Alert:
    return Alert(
        "FabricPortMissing",
        f"(\n"
        f"  count by (instance) ({metric}{{{types},{devices}}})\n"
        f'  or 0 * max by (instance) (up{{job="node",{types}}} == 1)\n'
        f") < {count}",
        "5m", "critical",
        summary=f"{{{{ $labels.instance }}}} shows {{{{ $value }}}} of {count} fabric ports",
        meaning="A NIC is no longer on the bus, or its driver did not load.",
        action="Drain the node; `lspci -d 15b3:` and `journalctl -k --grep mlx5` show what is left. A cold reset, then"
        " reseat the NIC.",
        labels=labels,
    )  # fmt: skip


def _down(expr: str, labels: Labels) -> Alert:
    return Alert(
        "FabricPortDown", expr, "3m", "critical",
        summary=f"{DEVICE} has no link",
        meaning="Multi-node jobs on this node hang or fail, or use fewer rails.",
        action="Drain the node. Check the cable and its switch port; swap the cable with a neighbour's to see which end"
        " follows it.",
        labels=labels,
    )  # fmt: skip


def _slow(expr: str, expected: int, labels: Labels) -> Alert:
    return Alert(
        "FabricPortSlow", expr, "5m", "warning",
        summary=f"{DEVICE} runs below {expected} Gb/s",
        meaning="The link trained at a lower speed or width; it limits every collective.",
        action="Reseat or replace the cable; `mlxlink -d {{ $labels.device }}` of NVIDIA's MFT shows both ends.",
        labels=labels,
    )  # fmt: skip


def _ports(which: str, expected: int | None, labels: Labels, *, rdma: bool) -> list[Alert]:
    down = f"node_infiniband_state_id{which} != {_ACTIVE}" if rdma else f"node_network_up{which} == 0"
    alerts = [_down(down, labels)]
    if expected:
        full = expected * 125_000_000 * 99 // 100  # bytes per second, with room for rounding
        rate = "node_infiniband_rate_bytes_per_second" if rdma else "node_network_speed_bytes"
        alerts.append(_slow(f"{rate}{which} < {full} > 0", expected, labels))
    return alerts


def _switches(cluster: Cluster) -> Iterator[Alert]:
    """Inhibitions for the same port of many nodes that is down. A leaf of rails is one switch for each device."""
    if not cluster.has(Slurm) or not cluster.slurm.leaves:
        return
    ports = 'node_infiniband_state_id{leaf!=""}'
    down = f"count by (leaf, device) ({ports} != {_ACTIVE})"
    yield Alert(
        "FabricSwitchDown",
        f"{down} >= {_MANY}\nand\n{down} / count by (leaf, device) ({ports}) > {_MOST}", "2m", "critical",
        summary="{{ $labels.device }} of {{ $value }} nodes of leaf {{ $labels.leaf }} has no link",
        meaning="The leaf switch of this port failed, lost power, or reboots. Alerts on single ports are inhibited"
        " meanwhile.",
        action="Log in to the switch by its management port; drain its nodes if it does not return.",
    )  # fmt: skip


def _rdma_errors(cluster: Cluster) -> list[Alert]:
    hour, minutes = window(cluster, 60), window(cluster, 10)
    return [
        Alert(
            "FabricPortFlaps", f"increase(node_infiniband_link_downed_total[{hour}]) > 2", "0s", "warning",
            summary=f"{DEVICE} lost its link {{{{ $value | printf \"%.0f\" }}}} times in an hour",
            meaning="The link goes down and comes back; every time, jobs stall or fail.",
            action="Clean or replace the cable or transceiver; `mlxlink -d {{ $labels.device }} -m` of NVIDIA's MFT"
            " shows its state.",
        ),
        Alert(
            "FabricPortErrors",
            f"increase(node_infiniband_port_errors_received_total[{minutes}]) > 10",
            "10m", "warning",
            summary=f"{DEVICE} receives damaged packets",
            meaning="This cable causes bit errors, and packets are retransmitted.",
            action="Clean or replace the cable; on InfiniBand, `ibqueryerrors` shows both ends, `perfquery LID PORT`"
            " one of them: PortRcvRemotePhysicalErrors alone means that an earlier link of the path (`ibtracert`) is"
            " bad.",
        ),
    ]  # fmt: skip


def _infiniband_errors(cluster: Cluster) -> Iterator[Alert]:
    hour, minutes = window(cluster, 60), window(cluster, 10)
    yield Alert(
        "FabricPortRecoveries", f"increase(node_infiniband_link_error_recovery_total[{hour}]) > 2", "0s", "warning",
        summary=f"{DEVICE} recovered its link {{{{ $value | printf \"%.0f\" }}}} times in an hour",
        meaning="The link retrains without going down; every time, traffic stalls for milliseconds.",
        action="Clean or replace the cable or transceiver; `mlxlink -d {{ $labels.device }} -c` of NVIDIA's MFT shows"
        " its bit error rates.",
    )  # fmt: skip
    yield Alert(
        "FabricPortSymbolErrors", f"increase(node_infiniband_symbol_error_total[{hour}]) > 10", "0s", "warning",
        summary=f"{DEVICE} had {{{{ $value | printf \"%.0f\" }}}} symbol errors in an hour",
        meaning="Error correction no longer repairs all errors of the cable; packet errors follow.",
        action="`mlxlink -d {{ $labels.device }} -c` of NVIDIA's MFT shows the bit error rates. Clean or replace the"
        " cable or transceiver.",
    )  # fmt: skip
    yield Alert(
        "FabricPortDiscards",
        f"increase(node_infiniband_port_discards_transmitted_total[{minutes}]) > 100", "10m", "warning",
        summary=f"{DEVICE} discards packets that it should transmit",
        meaning="Packets wait too long for credits, or their destination is unreachable: congestion, or a node that"
        " hangs.",
        action="`ibtracert LID LID` shows the path between two ports of the job, `perfquery LID PORT` the counters of"
        " each: `PortXmitWait` and `PortXmitDiscards` that grow lead to a slow receiver. `ibqueryerrors` has all"
        " ports.",
    )  # fmt: skip
