"""One machine, or a few beside each other: load, memory, disks, networks, services, GPUs."""

from __future__ import annotations

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import Thresholds
from clustergen.features.node_exporter.alerts import LOCAL_FILE_SYSTEMS
from clustergen.render.alerts import runbook, window
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    CHOSEN,
    IS_ONE,
    Dashboard,
    Panel,
    Row,
    Target,
    Variable,
    at_least,
    graph,
    row,
    stat,
    table,
)


def dashboard(cluster: Cluster) -> Dashboard:
    return Dashboard(
        "node",
        "Node",
        "One machine: load, memory, disks, networks, services, GPUs, sensors, errors.",
        (_summary(cluster), _alerts(cluster), _load(), _disks(cluster), _networks()),
        (Variable("instance", "Node", 'up{job="node"}', "instance"),),
        place=20,
    )


def _alerts(cluster: Cluster) -> Row:
    firing = f'count by (severity, alertname, instance) (ALERTS{{alertstate="firing",{CHOSEN}}})'
    drained = 'max by (node, state, user, reason) (clustergen_slurm_node_drained{node=~"$instance"})'
    return row(
        "Alerts",
        table(
            "Alerts of the node",
            Target(firing, "Alerts"),
            width=12,
            height=5,
            links=(("alertname", runbook(cluster, "")),),
            help="A click on a name opens its runbook.",
            empty="No alert fires",
            sort="severity",
        ),
        table(
            "Why Slurm does not use it",
            Target(drained),
            width=12,
            height=5,
            help="As sinfo -R.",
            empty="Not drained",
        ),
    )


def _summary(cluster: Cluster) -> Row:
    hour = window(cluster, 60)
    return row(
        "Now",
        stat("Reachable", f'min(up{{job="node",{CHOSEN}}})', steps=IS_ONE, words=((0, "no"), (1, "yes"))),
        stat("Uptime", f"time() - max(node_boot_time_seconds{{{CHOSEN}}})", "s"),
        stat("CPU", f"max(node:cpu_busy:ratio{{{CHOSEN}}})", "percentunit", steps=at_least(0.9, 0.98)),
        stat("Memory", f"max(node:memory_used:ratio{{{CHOSEN}}})", "percentunit", steps=at_least(0.9, 0.97)),
        stat("Failed services", f'sum(node_systemd_unit_state{{state="failed",{CHOSEN}}})', steps=ANY_IS_BAD),
        stat(
            "Clock offset",
            f"max(abs(node_timex_offset_seconds{{{CHOSEN}}}))",
            "s",
            steps=at_least(0.1, 0.5),
            help="Difference from the time source; an alert fires at 0.5 s.",
        ),
        stat(
            "OOM kills",
            f"sum(increase(node_vmstat_oom_kill{{{CHOSEN}}}[{hour}]))",
            steps=ANY_IS_BAD,
            help="Processes that the kernel killed in the last hour because memory ran out.",
        ),
    )


def _load() -> Row:
    return row(
        "CPU and memory",
        graph(
            "CPU cores in use by mode",
            Target(
                f'sum by (instance, mode) (rate(node_cpu_seconds_total{{mode!="idle",{CHOSEN}}}[$__rate_interval]))',
                "{{instance}} {{mode}}",
            ),
            stacked=True,
        ),
        graph("Load average of five minutes", Target(f"node_load5{{{CHOSEN}}}", "{{instance}}")),
        graph(
            "Memory",
            Target(f"node_memory_MemTotal_bytes{{{CHOSEN}}}", "{{instance}} in total"),
            Target(
                f"node_memory_MemTotal_bytes{{{CHOSEN}}} - node_memory_MemAvailable_bytes{{{CHOSEN}}}",
                "{{instance}} used",
            ),
            unit="bytes",
        ),
    )


def _disks(cluster: Cluster) -> Row:
    limit = cluster.of(Thresholds).disk_free_percent
    local = f'{CHOSEN},fstype=~"{LOCAL_FILE_SYSTEMS}"'
    return row(
        "Disks",
        Panel(
            "Space used",
            "bargauge",
            (
                Target(
                    f"100 - 100 * node_filesystem_avail_bytes{{{local}}} / node_filesystem_size_bytes{{{local}}}",
                    "{{instance}} {{mountpoint}}",
                ),
            ),
            "percent",
            minimum=0,
            maximum=100,
            steps=at_least(100 - 2 * limit, 100 - limit),
            help=f"An alert fires below {limit} % free.",
        ),
        graph(
            "Reads and writes",
            Target(f"rate(node_disk_read_bytes_total{{{CHOSEN}}}[$__rate_interval])", "{{instance}} {{device}}"),
            Target(f"-rate(node_disk_written_bytes_total{{{CHOSEN}}}[$__rate_interval])", "{{instance}} {{device}}"),
            unit="Bps",
            help="Writes are below zero.",
            minimum=None,
        ),
        graph(
            "Time that disks are busy",
            Target(f"rate(node_disk_io_time_seconds_total{{{CHOSEN}}}[$__rate_interval])", "{{instance}} {{device}}"),
            unit="percentunit",
        ),
        table(
            "Health of disks",
            *(
                Target(f"max by (instance, device, model) (clustergen_disk_{metric}{{{CHOSEN}}})", title, unit, steps)
                for metric, title, unit, steps in (
                    ("healthy", "Healthy", "bool_yes_no", IS_ONE),
                    ("wear_ratio", "Worn", "percentunit", at_least(0.8, 0.9)),
                    ("errors_total", "Errors", "short", ANY_IS_BAD),
                    ("temperature_celsius", "Temperature", "celsius", ()),
                )
            ),
            width=14,
            help="As smartctl reads it. Worn: share of the rated writes.",
        ),
        table(
            "Software RAID",
            Target(f"max by (instance, device) (node_md_disks_required{{{CHOSEN}}})", "Disks"),
            Target(
                "max by (instance, device)"
                f' (node_md_disks_required{{{CHOSEN}}} - ignoring (state) node_md_disks{{state="active"}})',
                "Missing",
                steps=ANY_IS_BAD,
            ),
            Target(
                f'max by (instance, device) (node_md_disks{{state="failed",{CHOSEN}}})',
                "Failed",
                steps=ANY_IS_BAD,
            ),
            Target(
                f"max by (instance, device) (node_md_blocks_synced{{{CHOSEN}}} / node_md_blocks{{{CHOSEN}}})",
                "In sync",
                "percentunit",
            ),
            width=10,
            help="Arrays of /proc/mdstat.",
        ),
    )


def _networks() -> Row:
    ethernet = f'{CHOSEN},device!~"lo|veth.*|docker.*|cni.*"'
    return row(
        "Networks",
        graph(
            "Interfaces",
            Target(
                f"8 * rate(node_network_receive_bytes_total{{{ethernet}}}[$__rate_interval])",
                "{{instance}} {{device}} received",
            ),
            Target(
                f"-8 * rate(node_network_transmit_bytes_total{{{ethernet}}}[$__rate_interval])",
                "{{instance}} {{device}} sent",
            ),
            unit="bps",
            help="Sent is below zero.",
            minimum=None,
        ),
        graph(
            "Errors of interfaces",
            Target(
                f"rate(node_network_receive_errs_total{{{ethernet}}}[$__rate_interval])",
                "{{instance}} {{device}} received",
            ),
            Target(
                f"rate(node_network_transmit_errs_total{{{ethernet}}}[$__rate_interval])",
                "{{instance}} {{device}} sent",
            ),
            unit="eps",
        ),
        graph(
            "Fabric ports",
            Target(
                f"8 * rate(node_infiniband_port_data_received_bytes_total{{{CHOSEN}}}[$__rate_interval])",
                "{{instance}} {{device}} received",
            ),
            Target(
                f"-8 * rate(node_infiniband_port_data_transmitted_bytes_total{{{CHOSEN}}}[$__rate_interval])",
                "{{instance}} {{device}} sent",
            ),
            unit="bps",
            help="Sent is below zero.",
            minimum=None,
        ),
    )
