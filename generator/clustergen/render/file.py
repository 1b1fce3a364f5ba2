"""The row of the registry: one kind of file, the view that computes it, and its mode, owner and effect.

A file is named as below `templates/`: `SCOPE/PATH`, where SCOPE is a group and PATH is where it lands on the node.
Its view is computed by a function that returns None where the cluster has no use for the file, so that "when" is code
of the view's own module. What the function is called with depends on `per`:

    per="cluster"  view(cluster)             one text for all nodes of the group
    per="os"       view(cluster, os)         a text per operating system; PATH may hold {os.FIELD}
    per="type"     view(cluster, node_type)  a text per node type
    per="tree"     view(cluster, outline)    a file of scope `tree` about all other files and groups; made last

Behind these it may have records of the cluster as arguments, as `unit(cluster: Cluster, drift: Drift)`; without one of
them in the cluster, there is no file.

Where the texts of a group's operating systems or types differ, the group is split: `slurm_compute__h100`.
A PATH with another `{name}` makes a file per item: the view returns a mapping of that name's values to views. The SCOPE
`mount` stands for the groups that mount a storage entry, `export` for those that serve one by NFS; their views are
called with the entry after the cluster. `each` stands for every group, and its view is called with the group's name.
`tree` is for files at the top, that go on no node.

The view of a file in which nothing is filled in is True. A row with `program` installs a file of `programs/` as it is;
its view only says whether, by True or a record. What the program has to know of the cluster is a row with
`values=True`: the fields of its view, as JSON or assignments of bash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from clustergen.cluster.model import Cluster
from clustergen.records import record
from clustergen.render.effects import NONE, Effect
from clustergen.render.formats import PYTHON, SHELL, Format, format_of

Context = Mapping[str, object]
"""Values of a template by name: a view of one or two, for which a record would only be another name."""
View = Callable[..., Any]
Per = Literal["cluster", "os", "type", "tree"]


def always(*_: object) -> bool:
    """The view of a file that all nodes of its group have, in which nothing is filled in."""
    return True


@record
class File:
    """One kind of file. `effect` may be a function of the view where it depends on it."""

    template: str
    view: View
    effect: Effect | Callable[[Any], Effect] = NONE
    mode: int = 0o644
    owner: str | Callable[[Cluster], str] = "root"
    group: str | Callable[[Cluster], str] = "root"
    per: Per = "cluster"
    format: Format | None = None
    source: str | None = None  # template file, where several outputs share one
    program: str | None = None  # below programs/
    values: bool = False
    kind: str = ""  # of file systems, whose entries alone its view is called with; empty: all
    module: str = ""  # of an extension, for errors
    requires: str = ""  # what the cluster has to have: `REQUIRES` of its module or feature
    area: str = ""  # what the cluster has to manage: `AREA` of the same

    @property
    def scope(self) -> str:
        return self.template.partition("/")[0]

    @property
    def path(self) -> str:
        """On the node, without the leading slash."""
        return self.template.partition("/")[2]

    @property
    def form(self) -> Format:
        if self.program:
            return PYTHON if self.program.endswith(".py") else SHELL
        return self.format or format_of(self.path)

    @property
    def origin(self) -> str:
        """The source of its text: `templates/….j2`, `programs/…`, or `values/…` where it is the view's fields."""
        if self.program:
            return f"programs/{self.program}"
        return f"values/{self.template}" if self.values else f"templates/{self.source or self.template}.j2"


def sbin(group: str, program: str, view: View = always, effect: Effect = NONE, *, per: Per = "cluster") -> File:
    """A program of `programs/`, in /usr/local/sbin by its name without a suffix."""
    name = program.rpartition("/")[2].partition(".")[0]
    return File(f"{group}/usr/local/sbin/{name}", view, effect, mode=0o755, per=per, program=program)
