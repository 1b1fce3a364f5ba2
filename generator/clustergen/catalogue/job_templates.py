"""Job templates for users: what each needs of a cluster, and facts of the programs that they start."""

from __future__ import annotations

from functools import cache
from typing import Literal

from clustergen.catalogue.tables import NOTHING, keyed, table
from clustergen.records import record

Layout = Literal["gpu", "gpus", "node", "one", "core", "data"]


@record
class TemplateKind:
    """One job template.

    `layout`: a task per GPU, per node or per core, one task with all GPUs of a node, with one GPU, or without.
    """

    name: str
    title: str
    least: int  # nodes
    most: int
    gpus: bool  # whether it requires them
    layout: Layout
    service: bool  # waits for requests
    requires: tuple[str, ...]  # runtimes of containers, programs, and what GPUs have to be
    program: str  # started without an argument; empty: the user names one
    packages: tuple[str, ...]  # of Python, that the user installs
    open: Literal["", "torch", "vllm", "tensorflow", "mpi"] = ""  # ports that serve other users, too
    source: str = ""


@record
class JobFact:
    """A count, signal or image, with what it stands for."""

    name: str
    value: str
    what: str
    unverified: frozenset[str] = NOTHING
    source: str = ""


@record
class QuotaCommand:
    """How users see their quota; `{mount}` stands for the mount point."""

    filesystem: str
    command: str
    source: str = ""


@cache
def quota_commands() -> dict[str, str]:
    """By kind of file system."""
    return {row.filesystem: row.command for row in table("quota_commands.tsv", QuotaCommand)}


template_kinds = keyed("job_templates.tsv", TemplateKind, lambda row: row.name)
"""By name, in the order of the guide."""


@cache
def job_facts() -> dict[str, str]:
    """The values by name."""
    return {row.name: row.value for row in table("job_facts.tsv", JobFact)}
