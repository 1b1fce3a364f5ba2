"""Alerts on Slurm: from slurmctld's own endpoint where the release has one, otherwise from a script of ours that writes
the same names into the node exporter's text files.
"""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, own_endpoint
from clustergen.features.slurm_metrics.needs import TEXTFILE
from clustergen.render.alerts import Alert, Topic

_STUCK = 1800  # seconds in which a job should have completed


def _reasons() -> Iterator[Alert]:
    """Alerts that read the reasons of nodes. `instance` is the node, as in alerts of other exporters."""
    by_node = 'max by (instance, state, user, reason) (label_replace({}, "instance", "$1", "node", "(.*)"))'
    drained = "clustergen_slurm_node_drained"
    yield Alert(
        "SlurmNodeDrained", by_node.format(drained + '{state=~"drain.*"}'), "4h", "warning",
        "{{ $labels.instance }} has been drained for hours: {{ $labels.reason }}",
        "{{ $labels.user }} drained it, and it was not resumed.",
        "Repair what the reason names, then: `scontrol update nodename={{ $labels.instance }} state=resume`.",
        page="node",
    )  # fmt: skip
    failed = f'{drained}{{reason=~"(?i).*(prolog|epilog).*"}}'
    yield Alert(
        "SlurmPrologFailed", by_node.format(failed), "1m", "warning",
        "Prolog or epilog fails on {{ $labels.instance }}: {{ $labels.reason }}",
        "Slurm drained the node, and the job was requeued or ended.",
        "slurmd's log names the script and its exit status; run it by hand on the node, then resume the node.",
        page="node",
    )  # fmt: skip
    yield Alert(
        "SlurmPrologFailsOnMany", f"count(count by (node) ({failed})) > 2", "1m", "critical",
        "Prolog or epilog fails on {{ $value }} nodes",
        "Each job that starts drains more nodes: usually a script that changed, or a file system that it reads.",
        "Set the partitions to DOWN to keep the rest, repair the script, then resume the nodes that `sinfo -R` lists.",
    )  # fmt: skip
    yield Alert(
        "SlurmJobsStuck", f"max(clustergen_slurm_completing_seconds) > {_STUCK}", "5m", "warning",
        "A job has been completing for {{ $value | humanizeDuration }}",
        "Its processes do not end, often because a file system does not respond; its nodes take no other job.",
        "`squeue --states=COMPLETING` names job and nodes. On the node, `ps axo stat,pid,wchan:32,args | grep ^D` shows"
        " what hangs, and `journalctl -k` why.",
        look="On a controller: `squeue --states=COMPLETING`.",
    )  # fmt: skip


def topic(cluster: Cluster) -> Topic | None:
    endpoint = own_endpoint(cluster)
    if not cluster.slurm.controllers or not (endpoint or cluster.has(NodeExporter)):
        return None
    look = f"On each controller: `scontrol ping`, `systemctl status slurmctld`, `df -h {cluster.slurm.state_location}`."
    if endpoint:
        silent: tuple[Alert, ...] = (Alert(
            "SlurmctldUnreachable", 'max(up{job="slurm-nodes"}) == 0', "2m", "critical",
            "slurmctld does not answer",
            "No jobs start and no commands work; running jobs continue.",
            "On the controller: `systemctl status slurmctld`, then its log. A full StateSaveLocation and DNS are"
            " usual causes.",
            look=look,
        ),)  # fmt: skip
    else:
        silent = (Alert(
            "SlurmctldUnreachable",
            f'time() - max(node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}}) > 300',
            "0s", "critical",
            "No metrics from slurmctld for {{ $value | humanizeDuration }}",
            "scontrol has not answered on any controller. No jobs start and no commands work; running jobs continue.",
            "On the controller: `systemctl status slurmctld clustergen-slurm-metrics`, then slurmctld's log.",
            look=look,
        ), Alert(
            "SlurmMetricsMissing", f'absent(node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}})', "15m", "warning",
            "No metrics of Slurm's state",
            "Without the file that a timer on the controllers writes, no other alert on Slurm fires.",
            "On a controller: `systemctl status clustergen-slurm-metrics.timer clustergen-slurm-metrics`.",
            look="Status, Targets in the menu of Prometheus shows whether the controllers answer.",
        ))  # fmt: skip
    alerts = (
        *silent,
        Alert(
            "SlurmNodesDown", "max(slurm_nodes_down) > 0", "10m", "warning",
            "{{ $value }} nodes are DOWN in Slurm",
            "slurmd on them does not answer or registered something that does not fit slurm.conf.",
            "`sinfo -R` lists them with reasons; after the repair: `scontrol update nodename=NODE state=resume`.",
        ),
        Alert(
            "SlurmManyNodesDown", "max(slurm_nodes_down) / max(slurm_nodes) > 0.1", "5m", "critical",
            "{{ $value | humanizePercentage }} of the nodes are DOWN in Slurm",
            "If many nodes fail at once, the cause is usually something that they share.",
            "Switch, rack power, a file system that hangs, munge keys, clocks: compare the nodes in `sinfo -R`.",
        ),
        *(_reasons() if cluster.has(NodeExporter) else (Alert(
            "SlurmNodesDrained", "max(slurm_nodes_drain) > 0", "4h", "warning",
            "{{ $value }} nodes have been drained for hours",
            "An administrator or the health check drained them, and they were not resumed.",
            "`sinfo -R` shows who, when and why.",
        ),)),
        Alert(
            "SlurmNodesInvalid", "max(slurm_nodes_invalid_reg) > 0", "5m", "warning",
            "{{ $value }} nodes registered with less than slurm.conf states",
            "Memory, cores or GPUs are missing; Slurm does not use such nodes.",
            "`slurmd -C` and `slurmd -G` on the node against its lines in slurm.conf and gres.conf.",
        ),
        Alert(
            "SlurmdbdBacklog", "max(slurm_slurmdbd_queue_size) > 1000", "10m", "warning",
            "{{ $value }} records wait for slurmdbd",
            "slurmctld keeps accounting records in memory since slurmdbd or its database is down or slow; in the"
            " end it drops them.",
            "`systemctl status slurmdbd mariadb`; `sacctmgr show cluster` shows whether slurmdbd answers.",
            look="On a controller: `sdiag | grep DBD`; on slurmdbd's node: `journalctl -u slurmdbd -n 50`.",
        ),
    )  # fmt: skip
    return Topic(
        "slurm",
        "Slurm: controller, nodes, accounting.",
        (),
        alerts,
        look="On a controller: `sinfo -R`, `scontrol show node NODE`, `journalctl -u slurmctld -n 50`.",
        page="slurm",
        place=40,
    )
