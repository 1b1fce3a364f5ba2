"""Alerts on the kernel's log, which a script of ours counts: Xids also without dcgm-exporter, links, other hardware."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue.gpu_health import Xid, generation, xids_of
from clustergen.cluster.model import Cluster, NodeType
from clustergen.cluster.monitoring import NodeExporter
from clustergen.features.kernel_log.needs import TEXTFILE
from clustergen.render.alerts import Alert, Severity, Topic, for_types, one_of, window

_RECENT = 900  # seconds; as long as an alert stays after one Xid


def topic(cluster: Cluster, _: NodeExporter) -> Topic:
    alerts = (*_xids(cluster), *_links(), *_errors(cluster))
    return Topic(
        "kernel",
        "Errors in the kernel's log.",
        (),
        alerts,
        look="On the node: `journalctl -k --since -1h`. The log collector has the same lines in kernel.log.",
        page="node",
        drains=True,
        works="the node, unless other alerts fire: the kernel reported an error and went on",
        place=70,
    )


def _xids(cluster: Cluster) -> Iterator[Alert]:
    severities: tuple[tuple[str, str, Severity, str], ...] = (
        ("KernelFatalXid", "drain", "critical", "Drain the node, and reset the GPU or reboot."),
        ("KernelXidToWatch", "watch", "warning", "Reset the GPU when it is next idle."),
    )
    for name, action, severity, advice in severities:
        alike: dict[tuple[Xid, ...], list[NodeType]] = {}
        for node_type in cluster.gpu_types:
            if node_type.gpus:
                alike.setdefault(xids_of(generation(node_type.gpus.model), action), []).append(node_type)
        for rows, kinds in alike.items():
            names = [node_type.name for node_type in kinds]
            numbers = "|".join(str(row.xid) for row in rows)
            matcher = f'{{node_type{one_of(names)},xid=~"{numbers}"}}'
            yield Alert(
                name,
                f"time() - clustergen_xid_last_timestamp_seconds{matcher} < {_RECENT}\n"
                'unless on (instance) up{job="dcgm"} == 1',
                "0s", severity,
                summary="Xid {{ $labels.xid }} on the GPU at {{ $labels.pci }} of {{ $labels.instance }}",
                meaning="The kernel logged an error of the GPU, and dcgm-exporter, whose alerts say more, does not run"
                " there. "
                + "; ".join(f"{row.xid}: {row.meaning}" for row in rows) + ".",
                action=f"{advice} The log of the node has the lines: `journalctl -k --grep '^NVRM: Xid'`.",
                labels=for_types(names),
            )  # fmt: skip


def _links() -> Iterator[Alert]:
    yield Alert(
        "LinkFlaps", "increase(clustergen_link_down_total[1h]) > 2", "0s", "warning",
        summary="{{ $labels.interface }} of {{ $labels.instance }} went down {{ $value | printf \"%.0f\" }} times in"
        " an hour",
        meaning="A cable, a transceiver or a switch port is failing; jobs on it hang or fail.",
        action="Compare the other end: the port's counters on the switch. Clean or replace the cable.",
    )  # fmt: skip
    yield Alert(
        "CableUnplugged", "increase(clustergen_cable_events_total[1h]) > 0", "0s", "warning",
        summary="The adapter at {{ $labels.pci }} of {{ $labels.instance }} reports a cable that was unplugged or"
        " fails",
        meaning="The kernel logged an event of cage {{ $labels.module }}.",
        action="Check that the cable is seated; `mlxlink -d {{ $labels.pci }} -m` of NVIDIA's MFT shows the state of"
        " its transceiver.",
    )  # fmt: skip


def _errors(cluster: Cluster) -> Iterator[Alert]:
    minutes = window(cluster, 15)
    yield Alert(
        "KernelErrors", f'increase(clustergen_kernel_errors_total{{kind!~"oom|hung_task"}}[{minutes}]) > 0',
        "0s", "warning",
        summary="The kernel of {{ $labels.instance }} logs errors of kind {{ $labels.kind }}",
        meaning="machine_check: processor or memory; pcie: a device or slot; io_error, file_system: a disk; lockup: a"
        " processor that did not respond.",
        action="Read `journalctl -k` on the node, or kernel.log on the log collector; drain the node if they continue.",
    )  # fmt: skip
    yield Alert(
        "KernelMetricsOld", f'time() - node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}} > 600', "0s", "warning",
        summary="Counters of the kernel's log of {{ $labels.instance }} are {{ $value | humanizeDuration }} old",
        meaning="The script that exports them fails; alerts on Xids and links cannot fire for this node.",
        action="On the node: `systemctl status clustergen-kernel-metrics.timer clustergen-kernel-metrics`.",
    )  # fmt: skip
