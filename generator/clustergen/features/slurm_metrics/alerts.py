"""Alerts on Slurm: from slurmctld's own endpoint where the release has one, otherwise from a script of ours that writes
the same names into the node exporter's text files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from clustergen.cluster.model import Cluster
from clustergen.cluster.monitoring import NodeExporter, own_endpoint
from clustergen.cluster.slurm.accounting import Accounting
from clustergen.cluster.slurm.keys.table import switches_nodes_off
from clustergen.features.slurm_metrics.needs import TEXTFILE
from clustergen.render.alerts import Alert, Topic, by_instance, one_of

_DOWN = 'clustergen_slurm_node_drained{state=~"down.*"}'
_DATABASE = "/var/lib/mysql"
_LEAST_PERCENT = 4
_WAITING = 200  # messages; our own threshold
_MANY = 2  # nodes
_STUCK = 1800  # seconds in which a job should have completed


def _reasons() -> Iterator[Alert]:
    """Alerts that read the reasons of nodes. `instance` is the node, as in alerts of other exporters."""
    drained, labels = "clustergen_slurm_node_drained", ("node", "state", "user", "reason")
    # An inhibition would end with its cause, minutes before slurmctld sees the node again.
    causes = 'alertname=~"NodeDown|NodeServiceStopped|NodeUnitFailed",name=~"|(slurmd|munge)[.]service"'
    reported = f'max_over_time(ALERTS{{alertstate="firing",{causes}}}[10m])'
    yield Alert(
        "SlurmNodeDown", f"{by_instance(_DOWN, 'node', 'reason')}\nunless on (instance)\n{reported}", "10m", "warning",
        summary="{{ $labels.instance }} is DOWN in Slurm: {{ $labels.reason }}",
        meaning="slurmd on it does not answer, or registered something that does not fit slurm.conf.",
        action="On the node: `systemctl status slurmd`, then its log; after the repair: `scontrol update"
        " nodename={{ $labels.instance }} state=resume`.",
        page="node",
    )  # fmt: skip
    yield Alert(
        "SlurmNodeDrained", by_instance(drained + '{state=~"drain.*"}', *labels), "4h", "warning",
        summary="{{ $labels.instance }} has been drained for hours: {{ $labels.reason }}",
        meaning="{{ $labels.user }} drained it, and it was not resumed.",
        action="Repair what the reason names, then: `scontrol update nodename={{ $labels.instance }} state=resume`.",
        page="node",
    )  # fmt: skip
    failed = f'{drained}{{reason=~"(?i).*(prolog|epilog).*"}}'
    yield Alert(
        "SlurmPrologFailed", by_instance(failed, *labels), "1m", "warning",
        summary="Prolog or epilog fails on {{ $labels.instance }}: {{ $labels.reason }}",
        meaning="Slurm drained the node, and the job was requeued or ended.",
        action="slurmd's log names the script and its exit status; run it by hand on the node, then resume the node.",
        page="node",
    )  # fmt: skip
    yield Alert(
        "SlurmPrologFailsOnMany", f"count(count by (node) ({failed})) > 2", "1m", "critical",
        summary="Prolog or epilog fails on {{ $value }} nodes",
        meaning="Each job that starts drains more nodes: usually a script that changed, or a file system that it"
        " reads.",
        action="Set the partitions to DOWN to keep the rest, repair the script, then resume the nodes that `sinfo -R`"
        " lists.",
    )  # fmt: skip
    yield Alert(
        "SlurmJobsStuck", f"max(clustergen_slurm_completing_seconds) > {_STUCK}", "5m", "warning",
        summary="A job has been completing for {{ $value | humanizeDuration }}",
        meaning="Its processes do not end, often because a file system does not respond; its nodes take no other job.",
        action="`squeue --states=COMPLETING` names job and nodes. On the node, `ps axo stat,pid,wchan:32,args | grep"
        " ^D` shows what hangs, and `journalctl -k` why.",
        look="On a controller: `squeue --states=COMPLETING`.",
    )  # fmt: skip


def _counts() -> Iterator[Alert]:
    """Alerts on the same states where no script names nodes and reasons."""
    yield Alert(
        "SlurmNodesDown", "max(slurm_nodes_down) > 0", "10m", "warning",
        summary="{{ $value }} nodes are DOWN in Slurm",
        meaning="slurmd on them does not answer or registered something that does not fit slurm.conf.",
        action="`sinfo -R` lists them with reasons; after the repair: `scontrol update nodename=NODE state=resume`.",
    )  # fmt: skip
    yield Alert(
        "SlurmNodesDrained", "max(slurm_nodes_drain) > 0", "4h", "warning",
        summary="{{ $value }} nodes have been drained for hours",
        meaning="An administrator or the health check drained them, and they were not resumed.",
        action="`sinfo -R` shows who, when and why.",
    )  # fmt: skip


def _asleep(cluster: Cluster) -> str:
    """Less the nodes that power saving has switched off or is switching."""
    return " - (count(clustergen_slurm_node_asleep) or vector(0))" if switches_nodes_off(cluster) else ""


def _controllers(cluster: Cluster) -> Iterator[Alert]:
    """Alerts on what the controllers and the database need beside their services."""
    if len(cluster.slurm.controllers) > 1:
        yield Alert(
            "SlurmControllerDown",
            by_instance("clustergen_slurm_controller_up", "controller", by="min") + " == 0",
            "2m", "warning",
            summary="slurmctld on {{ $labels.instance }} does not answer; another controller serves",
            meaning="Jobs start and end as before. Until it is back, the next failure stops Slurm.",
            action="On that controller: `systemctl status slurmctld`, then its log. Once it runs, it takes over by"
            " itself.",
            look="On a controller: `scontrol ping`.",
            works="all of Slurm, by the other controller",
        )  # fmt: skip
    places = {"slurm-controller": cluster.slurm.state_location or "/"}
    if cluster.has(Accounting) and cluster.of(Accounting).database_is_local:
        places["slurm-accounting"] = _DATABASE
    for role, place in places.items():
        parents = [str(path) for path in (PurePosixPath(place), *PurePosixPath(place).parents)]
        matcher = f'{{roles=~"(.+,)?{role}(,.+)?",mountpoint{one_of(parents)}}}'
        free = f"100 * node_filesystem_avail_bytes{matcher} / node_filesystem_size_bytes{matcher}"
        yield Alert(
            "SlurmDiskAlmostFull", f"{free} < {_LEAST_PERCENT}", "5m", "critical",
            summary=f"{{{{ $labels.mountpoint }}}} of {{{{ $labels.instance }}}}, which has or contains {place}, has"
            ' {{ $value | printf "%.1f" }} % free',
            meaning="When it is full, slurmctld refuses new jobs and keeps changes in memory only: a restart loses"
            " them. Records wait where it is the database's.",
            action=f"`du -xh --max-depth=2 {place} | sort -h | tail`; never delete files of {place}: make room beside"
            " it.",
            labels=(("directory", place),),
            look="On the node: `df -h <mountpoint>`. Do not restart slurmctld while it is full.",
        )  # fmt: skip


def topic(cluster: Cluster) -> Topic | None:
    endpoint = own_endpoint(cluster)
    if not cluster.slurm.controllers or not (endpoint or cluster.has(NodeExporter)):
        return None
    look = f"On each controller: `scontrol ping`, `systemctl status slurmctld`, `df -h {cluster.slurm.state_location}`."
    # NodeDown reports controllers that are off, all of them if it comes to that.
    on, down = "", "max(slurm_nodes_down)"
    if cluster.has(NodeExporter):
        on = ' and on () max(up{job="node",roles=~"(.+,)?slurm-controller(,.+)?"}) == 1'
        down = f'count({by_instance(_DOWN, "node")} unless on (instance) up{{job="node"}} == 0)'
    exported = f'node_textfile_mtime_seconds{{file=~".*/{TEXTFILE}"}}'
    old, absent = f"time() - max({exported}) > 300", f"absent({exported})"
    silent = Alert(
        "SlurmctldUnreachable", ('max(up{job="slurm-nodes"}) == 0' if endpoint else old) + on,
        "2m" if endpoint else "0s", "critical",
        summary="slurmctld does not answer"
        if endpoint
        else "No metrics from slurmctld for {{ $value | humanizeDuration }}",
        meaning="No jobs start and no commands work, on no controller; running jobs continue.",
        action="On the controller: `systemctl status slurmctld`, then its log. A full StateSaveLocation and DNS are"
        " usual causes.",
        look=look,
        works="running jobs; their records are kept on the nodes until slurmctld is back",
    )  # fmt: skip
    missing = Alert(
        "SlurmMetricsMissing", (f"({absent} or {old})" if endpoint else absent) + on, "15m", "warning",
        summary="No metrics of Slurm's state",
        meaning="Without the file that a timer on the controllers writes, alerts on reasons, stuck jobs and"
        " controllers do not fire.",
        action="On a controller: `systemctl status clustergen-slurm-metrics.timer clustergen-slurm-metrics`.",
        look="Status, Targets in the menu of Prometheus shows whether the controllers answer.",
    )  # fmt: skip
    alerts = (
        silent,
        *((missing,) if cluster.has(NodeExporter) else ()),
        *(_controllers(cluster) if cluster.has(NodeExporter) else ()),
        Alert(
            "SlurmNodesSilent", f"max(slurm_nodes_noresp){_asleep(cluster)} > max(slurm_nodes_down)", "15m", "warning",
            summary="{{ $value }} nodes do not respond to slurmctld, and some of them are not DOWN",
            meaning="slurmctld gives no jobs to them, and waits for SlurmdTimeout before it sets them DOWN; 0 is"
            " never.",
            action="`sinfo -N -t no_respond` lists them; on one: `systemctl status slurmd`, then its log.",
        ),
        # NodeDown and RackDown report machines that do not respond.
        Alert(
            "SlurmManyNodesDown", f"{down} > {_MANY} and {down} / max(slurm_nodes) > 0.1", "5m", "critical",
            summary="{{ $value }} nodes are DOWN in Slurm",
            meaning="If many nodes fail at once, the cause is usually something that they share.",
            action="A switch, a file system that hangs, munge keys, clocks, a firewall: compare the nodes in `sinfo"
            " -R`.",
        ),
        *(_reasons() if cluster.has(NodeExporter) else _counts()),
        Alert(
            "SlurmNodesInvalid", "max(slurm_nodes_invalid_reg) > 0", "5m", "warning",
            summary="{{ $value }} nodes registered with less than slurm.conf states",
            meaning="Memory, cores or GPUs are missing; Slurm does not use such nodes.",
            action="`slurmd -C` and `slurmd -G` on the node against its lines in slurm.conf and gres.conf.",
        ),
        Alert(
            "SlurmAgentBacklog", f"max(slurm_agent_queue_size) > {_WAITING}", "15m", "warning",
            summary="{{ $value }} messages of slurmctld to nodes wait",
            meaning="Nodes that do not respond hold its threads up: jobs start and end late.",
            action="`sdiag` shows the queue and its threads; `sinfo -N -t no_respond` the nodes.",
            look="On a controller: `sdiag | grep Agent`.",
        ),
        Alert(
            "SlurmdbdBacklog", "max(slurm_slurmdbd_queue_size) > 1000", "10m", "warning",
            summary="{{ $value }} records wait for slurmdbd",
            meaning="slurmctld keeps accounting records in memory since slurmdbd or its database is down or slow; in"
            " the end it drops them.",
            action="`systemctl status slurmdbd mariadb`; `sacctmgr show cluster` shows if slurmdbd answers. If it does"
            " and the queue does not shrink: `scontrol reconfigure`.",
            works="jobs start and end; sacct, sacctmgr and limits of new accounts wait",
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
        works="running jobs, and nodes that the alert does not name",
        place=40,
    )
