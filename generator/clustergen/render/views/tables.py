"""Tables of the tree's README.md, and the list of files by group in words."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.records import record
from clustergen.render.effects import Effect
from clustergen.render.tree import Outline

_EFFECTS = {
    "none": "nothing",
    "daemon-reload": "systemctl daemon-reload",
    "reload": "reload {unit}",
    "restart": "restart {unit}",
    "run": "run {unit}",
    "sysctl": "sysctl --system",
    "reconfigure": "scontrol reconfigure",
    "restart-slurmctld": "restart slurmctld",
    "restart-slurmdbd": "restart slurmdbd",
    "vacate": "drain first, without resuming",
    "new-cluster-id": "remove the saved cluster ID, with slurmctld stopped",
    "restart-slurmd": "restart slurmd",
    "restart-slurm": "restart slurmctld and slurmd",
    "cancel-jobs": "wait until its partition has no jobs, which would be cancelled",
    "create": "make accounts and folders",
    "load-accounts": "load accounts with sacctmgr",
    "remount": "drain and remount",
    "drain": "drain and run {unit}",
    "reboot": "drain and reboot",
    "refuse": "not while jobs run",
}


@record
class Table:
    """A table; cells are plain text, in `code` columns names for machines. Empty columns are not in it."""

    title: str
    intro: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    code: frozenset[str] = frozenset({"Nodes", "Addresses", "Partition", "QOS", "Mounted at", "On", "File", "From"})


def table_of(title: str, intro: str, rows: Iterator[dict[str, str]]) -> Table:
    """Rows by column name; a column in which nothing stands is left out."""
    lines = list(rows)
    columns = [name for name in (lines[0] if lines else ()) if any(row[name] for row in lines)]
    return Table(title, intro, tuple(columns), tuple(tuple(row[name] for name in columns) for row in lines))


def phrase(effect: Effect) -> str:
    """What an administrator does when a file changes."""
    return _EFFECTS[effect.kind].format(unit=(effect.unit or "").removesuffix(".service"))


def files_by_group(outline: Outline) -> Iterator[Table]:
    for group in dict.fromkeys([*outline.groups, *(file.group for file in outline.files.values() if file.group)]):
        members = outline.groups.get(group, ())
        rows = (
            {
                "File": file.target or "",
                "Mode": f"{file.mode:04o}",
                "Owner": f"{file.owner}:{file.owner_group}",
                "When it changes": phrase(file.effect),
                "From": file.source if not file.source.startswith("templates/") else "",
            }
            for file in outline.files.values()
            if file.group == group
        )
        table = table_of(group, ",".join(member.folded for member in members), rows)
        if table.rows:
            yield table
