"""For users: job templates that fit this cluster, examples to train, and a guide as Markdown and as an HTML page."""

from __future__ import annotations

from collections.abc import Callable

from clustergen.catalogue.job_templates import template_kinds
from clustergen.cluster.model import Cluster
from clustergen.features.user_guide.guide import Guide, directory, guide
from clustergen.features.user_guide.scripts import LIBRARY, JobScript, job_scripts
from clustergen.render.file import File
from clustergen.render.formats import SHELL

_PROGRAMS = {
    **{
        program: frozenset(kind.name for kind in template_kinds().values() if kind.program == program)
        for program in dict.fromkeys(kind.program for kind in template_kinds().values() if kind.program)
    },
    "api.py": frozenset({"vllm-replicas"}),
    "airflow_dag.py": frozenset({"pytorch-srun"}),
}
"""Examples, by the templates that run them without an argument, or that they submit."""


def _script(name: str) -> Callable[[Cluster], dict[str, JobScript]]:
    def view(cluster: Cluster) -> dict[str, JobScript]:
        script = job_scripts(cluster).get(name)
        return {_place(cluster): script} if script else {}

    return view


def _guide(cluster: Cluster) -> dict[str, Guide]:
    page = guide(cluster)
    return {_place(cluster): page} if page else {}


def _example(program: str) -> Callable[[Cluster], dict[str, bool]]:
    def view(cluster: Cluster) -> dict[str, bool]:
        return {_place(cluster): True} if _PROGRAMS[program] & job_scripts(cluster).keys() else {}

    return view


def _library(cluster: Cluster) -> bool:
    """On all nodes: jobs run on some, and users copy it on others."""
    return bool(job_scripts(cluster))


def _place(cluster: Cluster) -> str:
    return directory(cluster).lstrip("/")


_PLACE = "user_node/{directory}"

FILES = (
    *(
        File(f"{_PLACE}/jobs/{name}.sh", _script(name), format=SHELL, source="user_node/jobs/job.sh")
        for name in template_kinds()
    ),
    *(File(f"{_PLACE}/jobs/{name}", _example(name), program=f"jobs/{name}") for name in _PROGRAMS),
    File(f"all{LIBRARY}", _library, program="jobs/job.sh"),
    File(f"{_PLACE}/guide.md", _guide, source="user_node/guide.md"),
    File(f"{_PLACE}/guide.html", _guide, source="user_node/guide.html"),
)
