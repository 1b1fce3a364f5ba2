"""Alerts on machines of any kind. They read the node exporter."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import Service, Unit
from clustergen.cluster.groups import membership
from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, Thresholds, static
from clustergen.cluster.slurm.model import Slurm
from clustergen.render.alerts import Alert, Topic, one_of, unless_asleep, window

LOCAL_FILE_SYSTEMS = "ext4|xfs|btrfs|zfs|vfat"
_MANY = 2  # nodes of a rack
_MOST = 0.8  # of its nodes
_SKEW = 30  # seconds
_LEAST_MEMORY_PERCENT = 2
_WHERE = "{{ $labels.instance }}"
_RUNNING = 'state=~"active|reloading|failed"'  # NodeUnitFailed reports those that failed


def topic(cluster: Cluster, node_exporter: NodeExporter) -> Topic:
    least = cluster.of(Thresholds).disk_free_percent
    silent_s = node_exporter.node_down_s
    local = f'{{fstype=~"{LOCAL_FILE_SYSTEMS}|tmpfs"}}'
    minutes, hour = window(cluster, 15), window(cluster, 60)
    alerts = (
        *_racks(cluster),
        Alert(
            "NodeDown", 'up{job="node"} == 0' + unless_asleep(cluster), f"{silent_s}s", "critical",
            summary=f"{_WHERE} does not respond",
            meaning="The node is off, disconnected, or overloaded. Its other alerts are inhibited meanwhile.",
            action="Try ssh, then the BMC: power state, event log, console."
            + " Slurm sets the node DOWN by itself." * cluster.has(Slurm),
        ),
        Alert(
            "NodeFilesystemFull",
            f"100 * node_filesystem_avail_bytes{local} / node_filesystem_size_bytes{local} < {least}",
            "10m", "warning",
            summary=f"{{{{ $labels.mountpoint }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % free",
            meaning="A full system disk stops logs and spools of services; jobs fail in ways that look like something"
            " else.",
            action="`du -xh --max-depth=2 {{ $labels.mountpoint }} | sort -h | tail`: old logs, core dumps and"
            " container images are the usual finds.",
            look="On the node: `df -h <mountpoint>`.",
        ),
        Alert(
            "NodeInodesUsedUp",
            f"100 * node_filesystem_files_free{local} / node_filesystem_files{local} < {least}",
            "10m", "warning",
            summary=f"{{{{ $labels.mountpoint }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % of its inodes"
            " free",
            meaning="No new files can be created although there is space.",
            action="Look for directories with very many small files; conda environments and pip caches are the usual"
            " ones.",
            look="On the node: `du --inodes -x --max-depth=2 <mountpoint> | sort -n | tail`.",
        ),
        Alert(
            "NodeFilesystemReadOnly",
            f"node_filesystem_readonly{_writable(cluster)} == 1\n"
            "and on (instance, device)\n"
            "min by (instance, device) (node_filesystem_readonly) == 1",
            "5m", "critical",
            summary=f"{{{{ $labels.mountpoint }}}} of {_WHERE} is now read-only",
            meaning="The kernel found damage or lost the disk: no mount of it can be written.",
            action="Drain the node. `journalctl -k` names the device; check it with smartctl or nvme smart-log before"
            " any repair.",
        ),
        Alert(
            "NodeMemoryUsedUp",
            f"100 * node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes < {_LEAST_MEMORY_PERCENT}",
            "15m", "warning",
            summary=f"{_WHERE} has {{{{ $value | printf \"%.1f\" }}}} % of its memory left",
            meaning="The kernel is about to kill processes, daemons among them.",
            action="`ps axo rss,user,args --sort=-rss | head` shows who has it; on a compute node, check the limits of"
            " jobs.",
        ),
        Alert(
            "NodeSwapUsedUp",
            f"100 * node_memory_SwapFree_bytes / (node_memory_SwapTotal_bytes > 0) < {least}", "15m", "warning",
            summary=f"{_WHERE} has {{{{ $value | printf \"%.0f\" }}}} % of its swap left",
            meaning="Processes wait for pages, and the kernel kills some as soon as the rest is gone.",
            action="`ps axo rss,user,args --sort=-rss | head` shows who has the memory.",
        ),
        Alert(
            "NodeNetworkErrors",
            f"rate(node_network_receive_errs_total[{minutes}]) + rate(node_network_transmit_errs_total[{minutes}]) > 1",
            "5m", "warning",
            summary=f"{{{{ $labels.device }}}} of {_WHERE} has {{{{ $value | printf \"%.0f\" }}}} errors a second",
            meaning="Frames arrive damaged or are not sent: a cable, a transceiver, or two ends that disagree on"
            " speed.",
            action="Compare the port's counters on the switch; clean or replace the cable.",
            look="On the node: `ip -s link show dev <device>`.",
        ),
        Alert(
            "NodeBondDegraded", "node_bonding_slaves - node_bonding_active > 0", "5m", "warning",
            summary=f"{{{{ $labels.master }}}} of {_WHERE} lost {{{{ $value }}}} of its ports",
            meaning="The network goes on with the others; the next lost port cuts the node off.",
            action="The file names the port; check its cable and the port of the switch.",
            look="On the node: `cat /proc/net/bonding/<master>`.",
            works="the node and its network, by the other ports",
        ),
        *_services(cluster),
        Alert(
            "NodeMemoryUncorrectable", f"increase(node_edac_uncorrectable_errors_total[{hour}]) > 0", "0s", "critical",
            summary=f"{_WHERE} had uncorrectable memory errors",
            meaning="A memory module returned wrong data.",
            action="Drain the node. `grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_{label,ue_count}` and the BMC's"
            " event log name the module to replace.",
        ),
        Alert(
            "NodeMemoryCorrectable", f"increase(node_edac_correctable_errors_total[{hour}]) > 100", "0s", "warning",
            summary=f"{_WHERE} corrected {{{{ $value | printf \"%.0f\" }}}} memory errors in an hour",
            meaning="A memory module is wearing out; such errors often come before uncorrectable ones.",
            action="Plan its replacement. `grep . /sys/devices/system/edac/mc/mc*/dimm*/dimm_{label,ce_count}` names"
            " the module.",
        ),
        Alert(
            "NodeClockUnsynchronised", "node_timex_sync_status == 0", "15m", "warning",
            summary=f"The clock of {_WHERE} is not synchronised",
            meaning="munge refuses messages that seem more than five minutes old, and logs of a job do not line up.",
            action="`chronyc sources` and `chronyc tracking` show why; a firewall on port 123/udp is a common cause.",
        ),
        Alert(
            "NodeClockWrong", "abs(node_timex_offset_seconds) > 0.5", "5m", "warning",
            summary=f"The clock of {_WHERE} is off by {{{{ $value | printf \"%.1f\" }}}} s",
            meaning="It differs too much from its time source.",
            action="`chronyc makestep` sets it at once; find out why it drifted.",
        ),
        Alert(
            "NodeClockSkew", f"abs(timestamp(node_time_seconds) - node_time_seconds) > {_SKEW}", "5m", "critical",
            summary=f"The clock of {_WHERE} differs by {{{{ $value | printf \"%.0f\" }}}} s from the monitoring node's",
            meaning="munge refuses messages that seem more than five minutes old: jobs on the node fail.",
            action="`chronyc tracking` on both nodes shows which clock is wrong; `chronyc makestep` sets it at once.",
        ),
        Alert(
            "NodeUnitFailed", 'node_systemd_unit_state{state="failed"} == 1', "5m", "warning",
            summary=f"{{{{ $labels.name }}}} failed on {_WHERE}",
            meaning="A service that this cluster relies on has stopped.",
            action="`systemctl status {{ $labels.name }}` and `journalctl -u {{ $labels.name }}` say why.",
            look="On the node: `systemctl --failed`.",
        ),
        Alert(
            "NodeRaidDegraded",
            'max without (state) (node_md_disks{state="failed"}) > 0\n'
            "or\n"
            'node_md_disks_required - ignoring (state) node_md_disks{state="active"} > 0',
            "1m", "warning",
            summary=f"{{{{ $labels.device }}}} of {_WHERE} lost a disk",
            meaning="A disk of a software RAID failed or is missing. Until it is replaced and rebuilt, another failure"
            " can lose data.",
            action="`mdadm --detail /dev/{{ $labels.device }}` names the disk; replace it and add the new one.",
            look="On the node: `cat /proc/mdstat`.",
            works="the file systems of the RAID",
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
        works="all other nodes and their jobs",
        place=30,
    )


def _writable(cluster: Cluster) -> str:
    """Matcher of local file systems that are to be written: no snapshots, no entries that are mounted read-only."""
    read_only = (entry.mount.rstrip("/") for entry in cluster.storage.values() if entry.read_only)
    mounts = "|".join(("/(boot|snap)(/.*)?", ".*/[.]zfs/.*", *read_only))
    return f'{{fstype=~"ext4|xfs|btrfs|zfs",mountpoint!~"{mounts}"}}'


def _services(cluster: Cluster) -> Iterator[Alert]:
    """An alert for each service that has to run. One that is stopped and disabled is in no list of systemd."""
    indices: dict[tuple[str, str], set[int]] = {}
    units = (unit for unit in cluster.needs(Unit) if unit.name.endswith(".service"))
    needs: tuple[Unit | Service, ...] = (*units, *cluster.needs(Service))
    for need in needs:
        for group in static(membership(cluster).get(need.group, ())):
            name = need.name.removesuffix(".service")
            unit = group.type.os.fact(need.fact) if isinstance(need, Service) and need.fact else f"{name}.service"
            indices.setdefault((name, unit), set()).add(group.index)
    for (name, unit), members in indices.items():
        yield Alert(
            "NodeServiceStopped",
            f'node_scrape_collector_success{{collector="systemd"{_on(cluster, members)}}} == 1\n'
            "unless on (instance)\n"
            f'node_systemd_unit_state{{name=~"{name}[.]service",{_RUNNING}}} == 1',
            "10m", "warning",
            summary=f"{{{{ $labels.name }}}} does not run on {_WHERE}",
            meaning="Nobody started it after a boot, somebody stopped it, or it waits for another machine.",
            action="`systemctl status {{ $labels.name }}` says since when, and what it waits for; `systemctl enable"
            " --now {{ $labels.name }}` starts it, also at the next boot.",
            labels=(("name", unit),),
            works="the node's other services; a redundant service goes on elsewhere",
            look="On the node: `systemctl --failed`, `systemctl list-jobs`.",
        )  # fmt: skip


def _on(cluster: Cluster, members: set[int]) -> str:
    """Matcher of the node exporter's series of entries of the manifest, by their index; empty for all."""
    every = static(cluster.groups)
    spared = [group for group in every if group.index not in members]
    if not spared:
        return ""
    roles = {",".join(group.roles) for group in every if group.index in members}
    alike = [host for group in spared if ",".join(group.roles) in roles for host in group.hosts]
    return f",roles{one_of(sorted(roles))}" + (f',instance!~"{"|".join(alike)}"' if alike else "")


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
        summary="{{ $value }} nodes of rack {{ $labels.rack }} do not respond",
        meaning="They share power, a switch or cooling. Alerts on single nodes of the rack are inhibited meanwhile.",
        action="Check the feeds of the rack and its management switch first; the BMCs show whether the nodes have"
        " power.",
        look="Ping the nodes and their BMCs: if neither answers, it is the power or the switch of the rack.",
    )  # fmt: skip
