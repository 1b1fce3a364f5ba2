"""Job templates for users: what each needs of a cluster, and facts of the programs that they start."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.tables import table
from clustergen.records import record

Layout = Literal["gpu", "node", "one", "core"]


@record
class TemplateKind:
    """One job template. `layout`: a task per GPU, per node or per core, or one task with one GPU."""

    name: str
    title: str
    nodes: int  # the fewest on which it shows anything
    gpus: bool
    layout: Layout
    shared: bool  # all nodes of the job must see the same files
    container: Literal["none", "pyxis"]
    packages: tuple[str, ...]  # of Python, that the user installs
    source: str = ""


@record
class JobFact:
    """A port, signal or size, with what it stands for."""

    name: str
    value: str
    what: str
    source: str = ""


@cache
def template_kinds() -> dict[str, TemplateKind]:
    """By name, in the order of the guide."""
    return {row.name: row for row in table("job_templates.tsv", TemplateKind)}


@cache
def job_facts() -> dict[str, str]:
    """The values by name."""
    return {row.name: row.value for row in table("job_facts.tsv", JobFact)}
