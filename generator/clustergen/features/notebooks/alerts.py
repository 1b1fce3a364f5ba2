"""Alerts on notebooks: the hub is down, and notebooks do not start."""

from __future__ import annotations

from clustergen.features.notebooks.needs import JOB
from clustergen.features.notebooks.resolved import Notebooks
from clustergen.render.alerts import Alert, Topic

_FAILURES = 3
"""In an hour: one user who asks for too much tries two or three times."""


def topic(_: Notebooks) -> Topic:
    failed = f'jupyterhub_server_spawn_duration_seconds_count{{job="{JOB}",status=~"error|failure"}}'
    alerts = (
        Alert(
            "NotebookHubDown", f'up{{job="{JOB}"}} == 0', "5m", "warning",
            summary="JupyterHub on {{ $labels.instance }} does not answer",
            meaning="Nobody can log in or start a notebook. Notebooks that run continue, but browsers do not reach"
            " them.",
            action="On its node: `journalctl -u jupyterhub`. `systemctl restart jupyterhub` keeps the jobs of users.",
        ),
        Alert(
            "NotebooksFail", f"increase({failed}[1h]) > {_FAILURES}", "0s", "warning",
            summary="{{ $value | humanize }} notebooks did not start in the last hour",
            meaning="Slurm refused their jobs, they waited too long in the queue, or ended before the page was served.",
            action="`journalctl -u jupyterhub` has the words of sbatch; `.notebook.log` in the user's home those of"
            " the job.",
        ),
    )  # fmt: skip
    return Topic(
        "notebooks",
        "Notebooks.",
        (),
        alerts,
        look="On the node of the hub: `journalctl -u jupyterhub`; `squeue --name=notebook` lists the jobs.",
        page="monitoring",
        works="Slurm and all other jobs",
        place=150,
    )
