"""Alerts on RoCE: packets lost or out of sequence, pauses, congestion. They read what a script of ours exports."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.rails import has_ports
from clustergen.features.roce.needs import TEXTFILE, is_exported
from clustergen.render.alerts import DEVICE, Alert, Topic, window


def topic(cluster: Cluster) -> Topic | None:
    return Topic("fabric", "", (), tuple(_alerts(cluster))) if is_exported(cluster) and has_ports(cluster) else None


def _alerts(cluster: Cluster) -> Iterator[Alert]:
    minutes = window(cluster, 10)
    yield Alert(
        "RocePacketsOutOfSequence",
        f"increase(clustergen_roce_out_of_sequence_packets_total[{minutes}]) > 100\n"
        f"or increase(clustergen_roce_packet_sequence_errors_total[{minutes}]) > 100",
        "10m", "warning",
        summary=f"{DEVICE} has {{{{ $value | printf \"%.0f\" }}}} RDMA packets out of sequence in ten minutes",
        meaning="The fabric loses packets although it should be lossless; RDMA retransmits whole messages, and"
        " collectives slow down or hang.",
        action="Compare clustergen_roce_discards_total and the drop counters of its switch port. PFC must be on for"
        " the same priority on every hop: `mlnx_qos -i INTERFACE` shows a 1 below it and below no other; where lldpad"
        " runs, `lldptool -t -n -i INTERFACE -V PFC` shows what the switch announces. clustergen-roce-qos sets the"
        " node.",
    )  # fmt: skip
    yield Alert(
        "RoceAckTimeouts", f"increase(clustergen_roce_ack_timeouts_total[{minutes}]) > 10", "10m", "warning",
        summary=f"{DEVICE} misses acknowledgements",
        meaning="Packets or their acknowledgements are lost; after NCCL_IB_RETRY_CNT of them in a row, a job fails.",
        action="Look for a port that is down or flaps on the path, and for the node that does not answer.",
    )  # fmt: skip
    for direction, meaning, action in (
        (
            "received",
            "The switch holds this port back: traffic beyond it is congested, and the pause spreads to other ports.",
            "Look for the receiver that the traffic goes to, and for alerts on pauses that a node sends.",
        ),
        (
            "sent",
            "The node is a slow receiver: it pauses the switch and thereby other nodes.",
            "Check the PCIe width and speed of the NIC (`lspci -vv -d 15b3:`), ACS, IOMMU and the host's memory;"
            " drain the node"
            " when it lasts.",
        ),
    ):
        share = (
            f'sum without (priority) (rate(clustergen_roce_pause_seconds_total{{direction="{direction}"}}[{minutes}]))'
        )
        yield Alert(
            f"RocePauses{direction.title()}", f"{share} > 0.1", "10m", "warning",
            summary=f"{DEVICE}: {{{{ $value | humanizePercentage }}}} of the time in pauses {direction}",
            meaning=meaning, action=action,
        )  # fmt: skip
    yield Alert(
        "RoceCongested",
        f"rate(clustergen_roce_cnp_handled_total[{minutes}]) > 1000", "30m", "warning",
        summary=f"{DEVICE} handles {{{{ $value | printf \"%.0f\" }}}} congestion notifications a second",
        meaning="Switches mark its packets continuously, so that its NIC sends more slowly. A burst is how congestion"
        " control works; half an hour of it is an overloaded path.",
        action="Look at the load of the uplinks and at the placement of jobs; compare the ECN thresholds of the"
        " switches.",
    )  # fmt: skip
    yield Alert(
        "RoceMetricsOld",
        f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 600', "0s", "warning",
        summary="RoCE counters of {{ $labels.instance }} are {{ $value | humanizeDuration }} old",
        meaning="The script that exports them fails; the other alerts on RoCE cannot fire for this node.",
        action="On the node: `systemctl status clustergen-roce-metrics.timer clustergen-roce-metrics`.",
    )  # fmt: skip
