"""Who uses how much: jobs, GPUs, cores and memory by account and user, as slurmctld counts them."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.render.dashboards import Dashboard, Panel, Row, Target, graph, row, table

_MOST = 15
_LISTED = 50


def dashboard(_cluster: Cluster) -> Dashboard:
    rows = (
        row("Accounts", *_row("account", "account")),
        row("Users", *_row("user", "username")),
        _report(),
    )
    return Dashboard("users", "Users and accounts", "Who uses how much now, and who waits.", rows, place=50)


def _report() -> Row:
    def total(metric: str, by: str) -> str:
        return f"topk({_LISTED}, max by ({by}) (clustergen_usage_{metric}))"

    by = "account, user"
    hours = total("gpu_hours", by)
    return row(
        "Last usage report",
        table(
            "Account and user",
            Target(hours, "GPU hours"),
            Target(f"max by ({by}) (clustergen_usage_failed_gpu_hours) and {hours}", "Failed hours"),
            Target(f"max by ({by}) (clustergen_usage_cpu_hours) and {hours}", "CPU hours"),
            Target(f"max by ({by}) (clustergen_usage_jobs) and {hours}", "Jobs"),
            width=14,
            height=9,
            help="Of the last complete day, week or month, from sacct. An empty name: the sum of all others.",
        ),
        Panel(
            "GPU hours by account",
            "bargauge",
            (Target(f"topk({_MOST}, sum by (account) (clustergen_usage_gpu_hours))", "{{account}}"),),
            width=5,
            height=9,
            minimum=0,
        ),
        Panel(
            "GPU hours by state",
            "bargauge",
            (Target('max by (state) (clustergen_usage_state_hours{resource="gres/gpu"})', "{{state}}"),),
            width=5,
            height=9,
            minimum=0,
            help="As sreport counts them.",
        ),
    )


def _row(kind: str, label: str) -> Iterator[Panel]:
    def value(metric: str) -> str:
        return f"max by ({label}) (slurm_{kind}_jobs_{metric})"

    yield table(
        f"Now, by {kind}",
        Target(value("gpus_alloc"), "GPUs"),
        Target(value("cpus_alloc"), "CPUs"),
        Target(value("running"), "Running"),
        Target(value("pending"), "Pending"),
        width=10,
        height=9,
    )
    yield graph("GPUs", Target(f"topk({_MOST}, {value('gpus_alloc')})", f"{{{{{label}}}}}"), stacked=True, height=9)
    yield Panel(
        "GPU hours in the time range",
        "bargauge",
        (
            Target(
                f"topk({_MOST}, max by ({label}) (avg_over_time(slurm_{kind}_jobs_gpus_alloc[$__range])))"
                " * $__range_s / 3600",
                f"{{{{{label}}}}}",
            ),
        ),
        width=6,
        height=9,
        minimum=0,
    )
