"""Slurm: jobs, nodes, partitions, the scheduler's cycles, the queues of its daemons."""

from __future__ import annotations

from clustergen.catalogue.metrics import NODE_STATES
from clustergen.cluster.model import Cluster
from clustergen.render.alerts import by_instance
from clustergen.render.dashboards import (
    ANY_IS_BAD,
    ANY_IS_UNUSUAL,
    Dashboard,
    Row,
    Target,
    at_least,
    graph,
    row,
    stat,
    table,
)

_BACKLOG = 1000  # records; an alert fires there
_JOB_ENDS = ("completed", "failed", "timeout", "outofmemory", "node_failed", "cancelled", "preempted")


def dashboard(cluster: Cluster) -> Dashboard | None:
    if not cluster.slurm.controllers:
        return None
    return Dashboard(
        "slurm",
        "Slurm",
        "Jobs, nodes, partitions and the scheduler.",
        (_summary(), _reasons(), _states(), _partitions(), _scheduler(), _daemons()),
        place=60,
    )


def _summary() -> Row:
    return row(
        "Now",
        stat("Jobs running", "max(slurm_jobs_running)"),
        stat("Jobs pending", "max(slurm_jobs_pending)"),
        stat("Nodes", "max(slurm_nodes)"),
        stat("Nodes idle", "max(slurm_nodes_idle)"),
        stat("Nodes drained", "max(slurm_nodes_drain)", steps=ANY_IS_UNUSUAL),
        stat("Nodes down", "max(slurm_nodes_down)", steps=ANY_IS_BAD),
        stat(
            "slurmdbd queue",
            "max(slurm_slurmdbd_queue_size)",
            steps=at_least(100, _BACKLOG),
            help="Accounting records that wait; an alert fires at 1000.",
        ),
    )


def _states() -> Row:
    return row(
        "Jobs and nodes",
        graph("Jobs", Target("max(slurm_jobs_running)", "running"), Target("max(slurm_jobs_pending)", "pending")),
        graph(
            "How jobs end",
            *(Target(f"max(slurm_jobs_{end})", end.replace("_", " ")) for end in _JOB_ENDS),
            help="Jobs that slurmctld still has in memory (MinJobAge).",
        ),
        graph("Nodes by state", *(Target(f"max(slurm_nodes_{state})", name) for state, name in NODE_STATES.items())),
    )


def _reasons() -> Row:
    return row(
        "Drained and failed nodes",
        table(
            "Reasons",
            Target(by_instance("clustergen_slurm_node_drained", "node", "state", "user", "reason")),
            width=16,
            links=(("instance", "node"),),
            help="As sinfo -R lists them.",
            empty="No node is drained",
        ),
        graph(
            "Oldest job that is completing",
            Target("max(clustergen_slurm_completing_seconds)", "oldest"),
            unit="s",
            help="An alert fires at half an hour.",
        ),
    )


def _partitions() -> Row:
    def by_partition(metric: str) -> str:
        return f"max by (partition) (slurm_partition_{metric})"

    return row(
        "Partitions",
        table(
            "Now, by partition",
            Target(by_partition("jobs_running"), "Running"),
            Target(by_partition("jobs_pending"), "Pending"),
            Target(by_partition("gpus"), "GPUs"),
            Target(by_partition("jobs_gpus_alloc"), "GPUs allocated"),
            Target(by_partition("nodes"), "Nodes"),
            Target(by_partition("nodes_idle"), "Idle"),
            Target(by_partition("nodes_drain"), "Drained"),
            Target(by_partition("nodes_down"), "Down"),
            width=24,
        ),
        graph("Pending jobs", Target(by_partition("jobs_pending"), "{{partition}}"), width=12),
        graph("GPUs allocated", Target(by_partition("jobs_gpus_alloc"), "{{partition}}"), width=12),
    )


def _scheduler() -> Row:
    return row(
        "Scheduler",
        graph(
            "Duration of cycles",
            Target("max(slurm_sched_mean_cycle)", "main, mean"),
            Target("max(slurm_schedule_cycle_last)", "main, last"),
            Target("max(slurm_bf_mean_cycle)", "backfill, mean"),
            Target("max(slurm_bf_cycle_last)", "backfill, last"),
            unit="µs",
            help="How long a pass over the queue takes, as sdiag prints it.",
        ),
        graph(
            "Depth of cycles",
            Target("max(slurm_sched_mean_depth_cycle)", "main"),
            Target("max(slurm_bf_depth_mean)", "backfill"),
            Target("max(slurm_bf_try_depth_mean)", "backfill, tried"),
            help="Jobs that a pass looks at.",
        ),
        graph(
            "Queues of the scheduler",
            Target("max(slurm_schedule_queue_len)", "main"),
            Target("max(slurm_bf_queue_len)", "backfill"),
        ),
    )


def _daemons() -> Row:
    return row(
        "Daemons",
        graph(
            "Messages that slurmctld sends",
            Target("max(slurm_agent_queue_size)", "waiting"),
            Target("max(slurm_agent_thread_cnt)", "threads"),
            width=12,
        ),
        graph(
            "Work of slurmctld",
            Target("max(slurm_server_thread_cnt)", "threads"),
            Target("max(slurm_slurmdbd_queue_size)", "records for slurmdbd"),
            width=12,
        ),
    )
