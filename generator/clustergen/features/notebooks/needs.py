"""Contributions of notebooks to files of others."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.contributions import (
    Certificate,
    Daemon,
    Exported,
    Fact,
    Group,
    GuidePart,
    JobPeer,
    NodePath,
    Package,
    Requisite,
    ScrapeJob,
    Source,
    Substitution,
    Targets,
    Use,
    Variables,
    WrittenPath,
)
from clustergen.cluster.model import Cluster
from clustergen.diagnostics.words import counted
from clustergen.features.notebooks.choices import choices
from clustergen.features.notebooks.resolved import Notebooks

PROGRAMS = "/opt/jupyterhub"
"""Where the role `notebooks` installs JupyterHub, on the node of the hub and on those of notebooks."""
_BACKUP = Use(
    "the copies of JupyterHub's database", "/backup/notebooks", "the copies would be lost with it", role="login"
)
JOB = "jupyterhub"
METRICS = ("jupyterhub_running_servers", "jupyterhub_server_spawn_duration_seconds_count")


def groups(cluster: Cluster, notebooks: Notebooks) -> Iterator[Group]:
    names = notebooks.partitions
    hosts = {host for one in cluster.slurm.partitions if one.name in names for host in one.hosts}
    yield Group("notebook_hub", tuple(group for group in cluster.groups if notebooks.host in group.hosts))
    yield Group("notebook_node", tuple(group for group in cluster.compute if not hosts.isdisjoint(group.hosts)))


def daemons(notebooks: Notebooks) -> Iterator[Daemon]:
    source: Source | None = "anyone" if notebooks.tls else None  # without TLS it listens on localhost
    yield Daemon(notebooks.port, notebooks.port_at, "JupyterHub", "notebook_hub", source)
    yield Daemon(notebooks.hub_port, notebooks.hub_port_at, "JupyterHub's API", "notebook_hub")


def peers(_: Notebooks) -> Iterator[JobPeer]:
    """The hub's proxy connects browsers with notebooks."""
    yield JobPeer("notebook_hub")


def packages(_: Cluster) -> Iterator[Package]:
    yield Package("notebook_hub", "notebook_hub")
    yield Package("notebook_node", "virtual_environments")


def node_paths(_: Notebooks) -> Iterator[NodePath]:
    yield NodePath("notebook_hub", f"{PROGRAMS}/proxy/node_modules/.bin/configurable-http-proxy")
    yield NodePath("notebook_node", f"{PROGRAMS}/bin/jupyterhub-singleuser")


def variables(_: Notebooks) -> Iterator[Variables]:
    yield Variables("Notebooks", {"notebooks_directory": PROGRAMS})


def guide(cluster: Cluster, notebooks: Notebooks) -> Iterator[GuidePart]:
    is_local = "//localhost:" in notebooks.address
    port = notebooks.port
    tunnel = (f"ssh -N -L {port}:localhost:{port} $USER@{notebooks.host}",) if is_local else ()
    idle = f", or when nobody has used it for {duration(notebooks.idle_minutes)}" if notebooks.idle_minutes else ""
    yield GuidePart(
        "Notebooks in the browser",
        (
            f"Open {notebooks.address}{' through a tunnel, which you leave open,' if is_local else ''} and log in with "
            f"your name and password; you have to be a member of the Unix group `{notebooks.group}`. Choose the "
            f"resources: {'; '.join(choice.title for choice in choices(cluster))}.",
            "The notebook is a Slurm job: it may wait in the queue, it counts as your other jobs do, and it ends after "
            f"the run time that you chose{idle}. Save your work before; what runs in a cell is lost.",
        ),
        (
            *tunnel,
            "squeue --me --name=notebook",
            "cat ~/.notebook.log",
            "~/venv/bin/pip install ipykernel",
            "~/venv/bin/python -m ipykernel install --user --name venv",
        ),
        (
            "`squeue` shows whether the job waits, and `.notebook.log` why a notebook did not start. The last two "
            "commands add a kernel with the packages of your virtual environment.",
        ),
    )


def duration(minutes: int) -> str:
    """`90 minutes`, `1 hour`."""
    hours, rest = divmod(minutes, 60)
    return counted(minutes, "minute") if rest else counted(hours, "hour")


def facts(notebooks: Notebooks) -> Iterator[Fact]:
    yield Fact("Notebooks", f"JupyterHub on {notebooks.host}: {notebooks.address}")


def certificates(notebooks: Notebooks) -> Iterator[Certificate]:
    if tls := notebooks.tls:
        yield Certificate(tls.certificate)


def requisites(notebooks: Notebooks) -> Iterator[Requisite]:
    hub = ("notebook_hub",)
    yield Requisite("group of the users of notebooks", hub, f"Unix group {notebooks.group}; its members log in")
    if notebooks.backup:
        owner = f"{notebooks.backup}, mode 0700, of jupyterhub"
        yield Requisite("directory of copies of JupyterHub's database", hub, owner)
    if tls := notebooks.tls:
        yield Requisite("certificate and key of JupyterHub", hub, f"{tls.certificate}, {tls.key}")


def paths(notebooks: Notebooks) -> Iterator[WrittenPath]:
    if backup := notebooks.backup:
        yield WrittenPath(("notebooks", "backup"), backup, _BACKUP)


def scrape_jobs(notebooks: Notebooks) -> Iterator[ScrapeJob]:
    target = Targets((f"{notebooks.host}:{notebooks.hub_port}",))
    yield ScrapeJob(JOB, path="/hub/metrics", others=(target,))


def exported(_: Notebooks) -> Iterator[Exported]:
    yield Exported(METRICS)


def substitutions(_: Notebooks) -> Iterator[Substitution]:
    yield Substitution(
        "no notebooks",
        "JupyterHub comes from PyPI and npm, which the containers of a lab may not reach",
        lambda document: document.pop("notebooks"),
    )
