"""Alerts on machines of any kind. They read the node exporter."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.render.views.alerts.model import Alert, Topic, window

LOCAL_FILE_SYSTEMS = "ext4|xfs|btrfs|zfs|vfat"
_WHERE = "{{ $labels.instance }}"


def topic(cluster: Cluster) -> Topic | None:
    if not cluster.manifest.monitoring.node_exporter.enabled:
        return None
    limits = cluster.manifest.monitoring.thresholds
    local = f'{{fstype=~"{LOCAL_FILE_SYSTEMS}"}}'
    hour = window(cluster, 60)
    alerts = (
        Alert(
            "NodeDown", 'up{job="node"} == 0', f"{limits.node_down}s", "critical",
            f"{_WHERE} does not respond",
            "The node is off, disconnected, or overloaded. Its other alerts are inhibited meanwhile.",
            "Try ssh, then the BMC: power state, event log, console. Slurm sets the node DOWN by itself.",
        ),
        Alert(
            "NodeFilesystemFull",
            f"100 * node_filesystem_avail_bytes{local} / node_filesystem_size_bytes{local} < {limits.disk_free}",
            "10m", "warning",
            f"{{{{ $labels.mountpoint }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % free",
            "A full system disk stops slurmd's spool, logs and prolog, and jobs fail in ways that look like"
            " something else.",
            "du -xh --max-depth=2 on the mount point; old logs, core dumps and container images are the usual finds.",
        ),
        Alert(
            "NodeInodesUsedUp",
            f"100 * node_filesystem_files_free{local} / (node_filesystem_files{local} > 0) < {limits.disk_free}",
            "10m", "warning",
            f"{{{{ $labels.mountpoint }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % of its inodes free",
            "No new files can be created although there is space.",
            "Look for directories with very many small files; conda environments and pip caches are the usual ones.",
        ),
        Alert(
            "NodeFilesystemReadOnly",
            'node_filesystem_readonly{fstype=~"ext4|xfs|btrfs|zfs",mountpoint!~"/(boot|snap)(/.*)?"} == 1',
            "5m", "critical",
            f"{{{{ $labels.mountpoint }}}} of {_WHERE} is now read-only",
            "The kernel found damage or lost the disk.",
            "Drain the node. dmesg names the device; check it with smartctl or nvme smart-log before any repair.",
        ),
        Alert(
            "NodeMemoryUncorrectable", f"increase(node_edac_uncorrectable_errors_total[{hour}]) > 0", "0s", "critical",
            f"{_WHERE} had uncorrectable memory errors",
            "A memory module returned wrong data.",
            "Drain the node; the BMC's event log and ras-mc-ctl --errors name the module to replace.",
        ),
        Alert(
            "NodeMemoryCorrectable", f"increase(node_edac_correctable_errors_total[{hour}]) > 100", "0s", "warning",
            f"{_WHERE} corrected {{{{ $value | printf \"%.0f\" }}}} memory errors in an hour",
            "A memory module is wearing out; such errors often come before uncorrectable ones.",
            "Plan its replacement; ras-mc-ctl --errors names the module.",
        ),
        Alert(
            "NodeClockUnsynchronised", "node_timex_sync_status == 0", "15m", "warning",
            f"The clock of {_WHERE} is not synchronised",
            "munge refuses messages that seem more than five minutes old, and logs of a job do not line up.",
            "chronyc sources and chronyc tracking show why; a firewall on port 123/udp is a common cause.",
        ),
        Alert(
            "NodeClockWrong", "abs(node_timex_offset_seconds) > 0.5", "5m", "warning",
            f"The clock of {_WHERE} is off by {{{{ $value | printf \"%.1f\" }}}} s",
            "It differs too much from its time source.",
            "chronyc makestep sets it at once; find out why it drifted.",
        ),
        Alert(
            "NodeUnitFailed", 'node_systemd_unit_state{state="failed"} == 1', "5m", "warning",
            f"{{{{ $labels.name }}}} failed on {_WHERE}",
            "A service that this cluster relies on has stopped.",
            "systemctl status and journalctl -u with the unit's name say why.",
        ),
        Alert(
            "NodeRaidDegraded", 'node_md_disks{state="failed"} > 0', "1m", "warning",
            f"{{{{ $labels.device }}}} of {_WHERE} lost a disk",
            "A software RAID runs without its redundancy.",
            "mdadm --detail names the disk; replace it and add the new one.",
        ),
    )  # fmt: skip
    return Topic("node", "Machines: reachable, disks, memory, clocks, services.", (), alerts)
