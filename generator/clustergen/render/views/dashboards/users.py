"""Who uses how much: jobs, GPUs, cores and memory by account and user, as slurmctld counts them from 25.11 on."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.render.views.dashboards.model import Dashboard, Panel, Row, Target, graph

_MOST = 15


def dashboard(_cluster: Cluster) -> Dashboard:
    rows = (
        Row("Accounts", tuple(_row("account", "account"))),
        Row("Users", tuple(_row("user", "username"))),
    )
    return Dashboard("users", "Users and accounts", "Who uses how much now, and who waits.", rows)


def _row(kind: str, label: str) -> Iterator[Panel]:
    def value(metric: str) -> str:
        return f"max by ({label}) (slurm_{kind}_jobs_{metric})"

    yield Panel(
        f"Now, by {kind}",
        "table",
        (
            Target(value("gpus_alloc"), "GPUs"),
            Target(value("cpus_alloc"), "CPUs"),
            Target(value("running"), "Running"),
            Target(value("pending"), "Pending"),
        ),
        width=10,
        height=9,
    )
    yield graph(
        "GPUs", Target(f"topk({_MOST}, {value('gpus_alloc')})", f"{{{{{label}}}}}"), stacked=True, minimum=0, height=9
    )
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
