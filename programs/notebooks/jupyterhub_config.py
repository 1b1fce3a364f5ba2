#!/usr/bin/python3
"""Settings of JupyterHub, which starts it: notebooks are Slurm jobs with the resources that its page offers.

What users post to the hub's API would otherwise replace every setting of their job, its script included: of their
options, only the name of a row of `choices` and one of its run times are read.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any, NamedTuple

from batchspawner import SlurmSpawner  # type: ignore[import-not-found]
from jupyterhub.auth import PAMAuthenticator  # type: ignore[import-not-found]

VALUES: dict[str, Any] = json.loads(Path("/etc/clustergen/notebooks.json").read_text(encoding="utf-8"))
PROGRAMS: str = VALUES["programs"]
STATE: str = VALUES["state"]
_SBATCH = """#!/bin/bash -l
#SBATCH --job-name=notebook
#SBATCH --output={homedir}/.notebook.log
#SBATCH --open-mode=truncate
#SBATCH --chdir={homedir}
#SBATCH --export={keepvars}
#SBATCH --comment=jupyterhub
#SBATCH --no-requeue
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --partition={partition}
#SBATCH --time={runtime}
#SBATCH --cpus-per-task={nprocs}
#SBATCH --mem={memory}
#SBATCH {options}
# srun would take over the list of sbatch --export, which lacks PATH.
export SLURM_EXPORT_ENV=ALL SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"
srun {cmd}
"""


class RefusedError(ValueError):
    """Options that no row offers; JupyterHub shows the message on its page."""

    @property
    def jupyterhub_message(self) -> str:
        return str(self)


class Request(NamedTuple):
    """A row of `choices`, and one of its run times."""

    row: dict[str, Any]
    minutes: int


def request(options: dict[str, Any]) -> Request:
    """The resources that options ask for; those of the first row without any. Raises RefusedError for all else."""
    if unknown := sorted(map(str, options.keys() - {"resources", "minutes"})):
        raise RefusedError(f"there is no option {unknown[0]!r}: only resources and minutes can be chosen")
    rows: dict[str, dict[str, Any]] = {row["name"]: row for row in VALUES["choices"]}
    name = options.get("resources", next(iter(rows)))
    if not isinstance(name, str) or name not in rows:
        raise RefusedError(f"resources: choose one of {', '.join(rows)}")
    row = rows[name]
    minutes = options.get("minutes", row["minutes"][min(1, len(row["minutes"]) - 1)])
    if isinstance(minutes, bool) or str(minutes) not in map(str, row["minutes"]):
        raise RefusedError(f"minutes: choose one of {', '.join(map(str, row['minutes']))}")
    return Request(row, int(minutes))


def duration(minutes: int) -> str:
    """`30 minutes`, `1 hour`, `2 days`."""
    for size, unit in ((1440, "day"), (60, "hour")):
        if minutes % size == 0:
            return f"{minutes // size} {unit}{'s' if minutes > size else ''}"
    return f"{minutes} minutes"


def form() -> str:
    """The page on which users choose."""
    rows = VALUES["choices"]
    resources = [f'<option value="{html.escape(row["name"])}">{html.escape(row["title"])}</option>' for row in rows]
    times = sorted({minutes for row in rows for minutes in row["minutes"]})
    chosen = request({}).minutes
    options = [
        f'<option value="{minutes}"{" selected" if minutes == chosen else ""}>{duration(minutes)}</option>'
        for minutes in times
    ]
    return (
        '<label for="resources">Resources</label>\n'
        f'<select class="form-control" id="resources" name="resources">{"".join(resources)}</select>\n'
        '<label for="minutes">Run time, after which the notebook is stopped</label>\n'
        f'<select class="form-control" id="minutes" name="minutes">{"".join(options)}</select>\n'
    )


def of_form(fields: dict[str, list[str]]) -> dict[str, Any]:
    """The form's fields, of which browsers send lists; those that are not the form's are refused at the start."""
    return {name: values[0] for name, values in fields.items() if values}


class NotebookSpawner(SlurmSpawner):  # type: ignore[misc]
    """A job of the resources that the user chose."""

    user_options: dict[str, Any]

    async def start(self) -> tuple[str, int]:
        chosen = request(dict(self.user_options))
        row = chosen.row
        self.user_options = {"resources": row["name"], "minutes": chosen.minutes}
        self.req_partition = row["partition"]
        self.req_runtime = str(chosen.minutes)
        self.req_nprocs = str(row["cpus"])
        self.req_memory = f"{row['memory_mib']}M"
        options = [f"--gres={row['gres']}"] if row["gres"] else []
        options += [f"--qos={VALUES['qos']}"] if VALUES["qos"] else []
        self.req_options = " ".join(options) or "--quiet"
        address: tuple[str, int] = await super().start()
        return address


c = get_config()  # type: ignore[name-defined]  # noqa: F821  # JupyterHub defines it
c.JupyterHub.bind_url = VALUES["bind_url"]
c.JupyterHub.hub_bind_url = f"http://0.0.0.0:{VALUES['hub_port']}"
c.JupyterHub.hub_connect_url = f"http://{VALUES['host']}:{VALUES['hub_port']}"
if VALUES["certificate"]:
    c.JupyterHub.ssl_cert = VALUES["certificate"]
    c.JupyterHub.ssl_key = VALUES["key"]
c.JupyterHub.db_url = f"sqlite:///{STATE}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{STATE}/cookie_secret"
c.JupyterHub.cleanup_servers = False  # jobs outlive a restart of the hub
c.JupyterHub.authenticate_prometheus = False  # numbers without names of users
c.ConfigurableHTTPProxy.command = [f"{PROGRAMS}/proxy/node_modules/.bin/configurable-http-proxy"]
c.ConfigurableHTTPProxy.pid_file = f"{STATE}/proxy.pid"

c.JupyterHub.authenticator_class = PAMAuthenticator
c.PAMAuthenticator.service = "jupyterhub"
c.PAMAuthenticator.open_sessions = False
c.PAMAuthenticator.username_pattern = r"[a-z_][a-z0-9_.-]{0,31}"  # it becomes a word of a command line
c.PAMAuthenticator.allowed_groups = {VALUES["group"]}

c.JupyterHub.spawner_class = NotebookSpawner
c.NotebookSpawner.cmd = [f"{PROGRAMS}/bin/jupyterhub-singleuser"]
c.NotebookSpawner.batchspawner_singleuser_cmd = f"{PROGRAMS}/bin/batchspawner-singleuser"
c.NotebookSpawner.default_url = "/lab"
c.NotebookSpawner.options_form = form()
c.NotebookSpawner.options_from_form = of_form
c.NotebookSpawner.env_keep = []
c.NotebookSpawner.start_timeout = VALUES["start_seconds"]
c.NotebookSpawner.http_timeout = 120
c.NotebookSpawner.poll_interval = 15
c.NotebookSpawner.exec_prefix = "sudo -n -E -u {username}"
c.NotebookSpawner.batch_script = _SBATCH
c.NotebookSpawner.batch_submit_cmd = "/usr/bin/sbatch --parsable"
c.NotebookSpawner.batch_query_cmd = "/usr/bin/squeue -h -j {job_id} -o '%T %B'"
c.NotebookSpawner.batch_cancel_cmd = "/usr/bin/scancel {job_id}"

if VALUES["idle_seconds"]:
    scopes = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
    c.JupyterHub.load_roles = [{"name": "idle-culler", "services": ["idle-culler"], "scopes": scopes}]
    seconds = VALUES["idle_seconds"]
    words = ["-m", "jupyterhub_idle_culler", f"--timeout={seconds}", f"--cull-every={min(300, seconds)}"]
    c.JupyterHub.services = [{"name": "idle-culler", "command": [f"{PROGRAMS}/bin/python", *words]}]
