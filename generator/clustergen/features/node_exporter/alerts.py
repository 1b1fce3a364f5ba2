"""Alerts on machines of any kind. They read the node exporter."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, Thresholds
from clustergen.render.alerts import Alert, Topic, unless_asleep, window

LOCAL_FILE_SYSTEMS = "ext4|xfs|btrfs|zfs|vfat"
_MANY = 2  # nodes of a rack
_MOST = 0.8  # of its nodes
_SKEW = 30  # seconds
_WHERE = "{{ $labels.instance }}"


def topic(cluster: Cluster) -> Topic | None:
    if not cluster.has(NodeExporter):
        return None
    least, silent_s = cluster.of(Thresholds).disk_free_percent, cluster.of(NodeExporter).node_down_s
    local = f'{{fstype=~"{LOCAL_FILE_SYSTEMS}"}}'
    hour = window(cluster, 60)
    alerts = (
        *_racks(cluster),
        Alert(
            "NodeDown", 'up{job="node"} == 0' + unless_asleep(cluster), f"{silent_s}s", "critical",
            f"{_WHERE} does not respond",
            "The node is off, disconnected, or overloaded. Its other alerts are inhibited meanwhile.",
            "Try ssh, then the BMC: power state, event log, console. Slurm sets the node DOWN by itself.",
        ),
        Alert(
            "NodeFilesystemFull",
            f"100 * node_filesystem_avail_bytes{local} / node_filesystem_size_bytes{local} < {least}",
            "10m", "warning",
            f"{{{{ $labels.mountpoint }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % free",
            "A full system disk stops slurmd's spool, logs and prolog, and jobs fail in ways that look like"
            " something else.",
            "`du -xh --max-depth=2 {{ $labels.mountpoint }} | sort -h | tail`: old logs, core dumps and container"
            " images are the usual finds.",
            look="On the node: `df -h <mountpoint>`.",
        ),
        Alert(
            "NodeInodesUsedUp",
            f"100 * node_filesystem_files_free{local} / node_filesystem_files{local} < {least}",
            "10m", "warning",
            f"{{{{ $labels.mountpoint }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % of its inodes free",
            "No new files can be created although there is space.",
            "Look for directories with very many small files; conda environments and pip caches are the usual ones.",
            look="On the node: `du --inodes -x --max-depth=2 <mountpoint> | sort -n | tail`.",
        ),
        Alert(
            "NodeFilesystemReadOnly",
            'node_filesystem_readonly{fstype=~"ext4|xfs|btrfs|zfs",mountpoint!~"/(boot|snap)(/.*)?"} == 1',
            "5m", "critical",
            f"{{{{ $labels.mountpoint }}}} of {_WHERE} is now read-only",
            "The kernel found damage or lost the disk.",
            "Drain the node. `journalctl -k` names the device; check it with smartctl or nvme smart-log before any"
            " repair.",
        ),
        Alert(
            "NodeMemoryUncorrectable", f"increase(node_edac_uncorrectable_errors_total[{hour}]) > 0", "0s", "critical",
            f"{_WHERE} had uncorrectable memory errors",
            "A memory module returned wrong data.",
            "Drain the node. `grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_{label,ue_count}` and the BMC's"
            " event log name the module to replace.",
        ),
        Alert(
            "NodeMemoryCorrectable", f"increase(node_edac_correctable_errors_total[{hour}]) > 100", "0s", "warning",
            f"{_WHERE} corrected {{{{ $value | printf \"%.0f\" }}}} memory errors in an hour",
            "A memory module is wearing out; such errors often come before uncorrectable ones.",
            "Plan its replacement. `grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_{label,ce_count}` names the"
            " module.",
        ),
        Alert(
            "NodeClockUnsynchronised", "node_timex_sync_status == 0", "15m", "warning",
            f"The clock of {_WHERE} is not synchronised",
            "munge refuses messages that seem more than five minutes old, and logs of a job do not line up.",
            "`chronyc sources` and `chronyc tracking` show why; a firewall on port 123/udp is a common cause.",
        ),
        Alert(
            "NodeClockWrong", "abs(node_timex_offset_seconds) > 0.5", "5m", "warning",
            f"The clock of {_WHERE} is off by {{{{ $value | printf \"%.1f\" }}}} s",
            "It differs too much from its time source.",
            "`chronyc makestep` sets it at once; find out why it drifted.",
        ),
        Alert(
            "NodeClockSkew", f"abs(timestamp(node_time_seconds) - node_time_seconds) > {_SKEW}", "5m", "critical",
            f"The clock of {_WHERE} differs by {{{{ $value | printf \"%.0f\" }}}} s from the monitoring node's",
            "munge refuses messages that seem more than five minutes old: jobs on the node fail.",
            "`chronyc tracking` on both nodes shows which clock is wrong; `chronyc makestep` sets it at once.",
        ),
        Alert(
            "NodeUnitFailed", 'node_systemd_unit_state{state="failed"} == 1', "5m", "warning",
            f"{{{{ $labels.name }}}} failed on {_WHERE}",
            "A service that this cluster relies on has stopped.",
            "`systemctl status {{ $labels.name }}` and `journalctl -u {{ $labels.name }}` say why.",
            look="On the node: `systemctl --failed`.",
        ),
        Alert(
            "NodeRaidDegraded",
            'max without (state) (node_md_disks{state="failed"}) > 0\n'
            "or\n"
            'node_md_disks_required - ignoring (state) node_md_disks{state="active"} > 0',
            "1m", "warning",
            f"{{{{ $labels.device }}}} of {_WHERE} lost a disk",
            "A disk of a software RAID failed or is missing. Until it is replaced and rebuilt, another failure can lose"
            " data.",
            "`mdadm --detail /dev/{{ $labels.device }}` names the disk; replace it and add the new one.",
            look="On the node: `cat /proc/mdstat`.",
        ),
    )  # fmt: skip
    return Topic(
        "node",
        "Machines: reachable, disks, memory, clocks, services.",
        (),
        alerts,
        look="`ssh NODE`, or open the console of its BMC. `journalctl -p warning --since -1h` shows what happened.",
        page="node",
        drains=True,
        place=30,
    )


def _racks(cluster: Cluster) -> Iterator[Alert]:
    """Inhibitions for the nodes of a rack that is down: one page instead of one for each."""
    if not cluster.racks:
        return
    nodes = 'up{job="node",rack!=""}'
    silent = f"({nodes} == 0{unless_asleep(cluster)})"
    yield Alert(
        "RackDown",
        f"count by (rack) {silent} >= {_MANY}\n"
        f"and\n"
        f"count by (rack) {silent} / count by (rack) ({nodes}) > {_MOST}",
        f"{cluster.of(NodeExporter).node_down_s}s", "critical",
        "{{ $value }} nodes of rack {{ $labels.rack }} do not respond",
        "They share power, a switch or cooling. Alerts on single nodes of the rack are inhibited meanwhile.",
        "Check the feeds of the rack and its management switch first; the BMCs show whether the nodes have power.",
        look="Ping the nodes and their BMCs: if neither answers, it is the power or the switch of the rack.",
    )  # fmt: skip
