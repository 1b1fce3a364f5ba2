"""The page "what may be changed on a running cluster", from the tables of effects that `clustergen diff` uses."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from clustergen.catalogue import sacctmgr, slurm, slurm_jobs
from clustergen.catalogue.effects import effect_kinds, severities
from clustergen.catalogue.slurm_effects import effect, effects
from clustergen.catalogue.versions import SlurmRelease
from clustergen.manifest.hardware import NodeType
from clustergen.render.effects import read
from clustergen.slurmrules import fields
from site_pages import manifest

INVENTORIES = Path(__file__).resolve().parents[2] / "inventories"
OLDEST = SlurmRelease("22.05")

JUDGED_BY_KEY = ("/etc/slurm/slurm.conf", "/etc/slurm/slurmdbd.conf", "/etc/slurm/gres.conf")
# The first kind of each class, the worst class first: what a class means to running jobs.
CLASSES = {"refuse": "idle cluster", "cancel-jobs": "idle partition", "remount": "drained nodes", "none": "live"}

CHANGES = {
    "": "any change",
    "added": "added",
    "removed": "removed",
    "lowered": "lowered",
    "count": "another number of devices",
    "type": "type renamed or dropped",
    "type added": "type added",
    "set": "type added",
    "first": "another first controller",
    "address": "another address of the same host",
    "down": "to DOWN",
    "fail": "to FAIL",
    "nested": "below the old directory, or above it",
    "few ids": "fewer job ids than MaxJobCount",
    "future": "to FUTURE",
}
PLACEHOLDERS = {"name": "NAME", "old": "OLD", "new": "NEW"}
TOPICS = {
    ("slurm.conf", ""): "Daemons, scheduling and accounting",
    ("slurm.conf", "NodeName"): "Nodes",
    ("slurm.conf", "PartitionName"): "Partitions",
    ("gres.conf", "NodeName"): "GPUs",
    ("slurmdbd.conf", ""): "slurmdbd",
}
INTRO = """# What may be changed on a running cluster

The tables show what a change needs before it takes effect, by field of the manifest. `clustergen diff` and the
playbooks use the same tables, so [`clustergen diff`](diff.md) gives the same answer for your change and names the
nodes. The effects of Slurm's keys were measured on running daemons (`tools/measure-effects`).

| class | meaning |
|---|---|
| **live** | running jobs continue while daemons reconfigure or restart |
| **drained nodes** | the nodes concerned are drained first, in batches; no job is lost |
| **idle partition** | the playbook waits until the partition has no jobs |
| **idle cluster** | the playbook stops while any job runs |

The tables start with Slurm 22.05. If older releases need more, the row says so. NAME, OLD and NEW stand for the
partition, node or QOS and its values.
"""


def page() -> str:
    """The page as Markdown."""
    parts = [INTRO]
    for (file, block), topic in TOPICS.items():
        parts.append(
            f"\n## {topic}\n\n| field and key | class | what the change needs | what jobs notice |\n|---|---|---|---|\n"
        )
        parts += [_row(*cells) for cells in sorted(_of_fields(file, block))]
    parts += _accounts()
    parts.append(
        "\n## Keys without a field\n\nSet these under the section's `options`. Keys of slurm.conf that are not listed"
        " need `scontrol reconfigure`.\n\n"
        "| file and key | class | what the change needs | what jobs notice |\n|---|---|---|---|\n"
    )
    parts += [_row(*cells) for cells in sorted(_without_field())]
    parts += _files()
    return "".join(parts)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _class(kinds: Iterable[str]) -> str:
    order = severities()
    worst = max(order[kind] for kind in kinds)
    return next(name for first, name in CLASSES.items() if order[first] <= worst)


def _needs(kinds: Iterable[str]) -> str:
    """`drain the nodes first, scontrol reconfigure`: what has to be done, in order."""
    return ", ".join(effect_kinds()[kind].title.removesuffix(" from") for kind in kinds)


@cache
def _by_release(file: str, key: str, block: str, what: str) -> tuple[str, str, str]:
    """The class, what a change needs, and why; releases that need something else are named."""
    answers: list[tuple[str, SlurmRelease, tuple[str, ...]]] = []
    note = ""
    for release in slurm.read_releases():
        if release >= OLDEST:
            row = effect(file, key, release, block, what)
            kinds = tuple(kind.partition(":")[0] for kind in row.effect)
            note = row.note.format(**PLACEHOLDERS) if "{" in row.note else row.note
            answers.append((_class(kinds), release, kinds))
    *older, (last_class, _, last) = answers
    classes, needs = [last_class], [_needs(last)]
    change = next((release for _, release, kinds in reversed(older) if kinds != last), None)
    if change is not None:
        first = next(release for _, release, _ in answers if release > change)
        before = next(answer for answer in answers if answer[1] == change)
        needs.append(f"before {first}: {_needs(before[2])}")
        if before[0] != last_class:
            classes.append(f"before {first}: {before[0]}")
    return (
        "; ".join(f"**{name}**" if place == 0 else name for place, name in enumerate(classes)),
        "; ".join(needs),
        note,
    )


def _kinds_of_change(file: str, block: str, key: str) -> list[str]:
    """The kinds of change that have rows of their own for a key; the one for all others comes first."""
    table_key = "*" if key in ("NodeName", "PartitionName") else key
    special = [
        row.what
        for row in effects()
        if (row.file, row.key) == (file, table_key) and row.block in ("*", block or key) and row.what in CHANGES
    ]
    return list(dict.fromkeys(["", *special]))


def _affected(file: str, block: str, key: str) -> str:
    """The possible effects of a change on running and on pending jobs, with the state or reason that sacct and squeue
    show.
    """
    texts = [
        f"{_condition(row.what)}{row.text.format(**PLACEHOLDERS)} (`{row.state}`)"
        for table in ("slurm_running.tsv", "slurm_waiting.tsv")
        for row in slurm_jobs.rules(table)
        if (row.file, row.block, row.key.lower()) == (file, block, key.lower()) and row.until is None
    ]
    return "; ".join(dict.fromkeys(texts))


def _condition(what: tuple[str, ...]) -> str:
    words = [_words(kind) for kind in what if kind not in ("set", "unset")]
    return f"{' or '.join(words)}: " if words else ""


def _words(kind: str) -> str:
    """`off>*cancel*` as `off to cancel`."""
    old, arrow, new = (part if part == "*" else part.replace("*", "") for part in kind.partition(">"))
    return (
        f"{'' if old == '*' else old} to {'another value' if new == '*' else new or 'no value'}".strip()
        if arrow
        else kind
    )


def _of_fields(file: str, block: str) -> Iterator[tuple[str, ...]]:
    """Rows of the fields whose values one kind of line holds."""
    for place, opener, key, field in fields.rows():
        if (place, opener) == (file, block):
            line = key if key in ("NodeName", "PartitionName") else block
            for what in _kinds_of_change(file, block, key):
                classes, needs, note = _by_release(file, "*" if line == key else key, line, what)
                name = _link(file, block, field.path) + (f", {CHANGES[what]}" if what else "")
                noticed = "; ".join(filter(None, (note, "" if what else _affected(file, block, key))))
                yield f"{name}<br>`{key}`", classes, needs, noticed


def _link(file: str, block: str, path: str) -> str:
    """The field with a link to its row of the reference."""
    if (file, block) == ("slurm.conf", "PartitionName"):
        path = f"slurm.partitions.NAME.{path}"
    elif block == "NodeName":
        in_type = path.split(".")[0] in NodeType.model_fields
        path = f"node_types.NAME.{path}" if in_type else f"nodes.{path}"
    return _reference(path)


def _reference(path: str) -> str:
    """A link to a field's row, or to the mapping by names that holds the last part of the path."""
    anchors = manifest.anchors()
    target = path if path in anchors else path.rpartition(".")[0]
    return f"[`{path}`](manifest.md#{target})"


def _accounts() -> list[str]:
    """QOS, accounts and users: live, but pending jobs may wait."""
    parts = [
        "\n## QOS and accounts\n\n`clustergen-accounts` calls sacctmgr; slurmctld takes the new values at once, and"
        " running jobs continue. A changed limit affects these jobs:\n\n"
        "| field and setting | change | jobs | state or reason |\n|---|---|---|---|\n"
    ]
    names = {option.name: option.field for entity in ("qos", "association") for option in sacctmgr.options(entity)}
    for table in ("slurm_running.tsv", "slurm_waiting.tsv"):
        for row in slurm_jobs.rules(table):
            if row.file == "accounts" and row.block in ("qos", "account"):
                section = "slurm.qos.NAME" if row.block == "qos" else "slurm.accounts.NAME"
                path = f"{section}.{names[row.key]}" if names.get(row.key) else section
                state = "by resource, as `" + row.state.split()[0].partition("=")[2] + "`"
                state = state if "=" in row.state else f"`{row.state}`"
                setting = f"<br>`{row.key}`" if row.key else ""
                text = row.text.format(**PLACEHOLDERS)
                parts.append(_row(_reference(path) + setting, _condition(row.what).removesuffix(": "), text, state))
    return parts


def _without_field() -> Iterator[tuple[str, ...]]:
    """Keys with an effect of their own that only `options` hold, and files whose keys all need the same."""
    held = {(file, block, key.lower()) for file, block, key, _ in fields.rows()}
    for file, block, key, what in dict.fromkeys((row.file, row.block, row.key, row.what) for row in effects()):
        line = block.replace("*", "NodeName" if file == "gres.conf" else "")
        if file in ("*", "slurm") or not key or (file, line, key.lower()) in held:
            continue
        if key == "*" and block in ("NodeName", "PartitionName", "DownNodes"):
            continue
        name = f"`{line} {key}`" if line and file == "slurm.conf" else f"`{key}`"
        change = f", {CHANGES.get(what, what)}" if what else ""
        label = "all other keys" if key == "*" else name
        yield f"`{file}` {label}{change}", *_by_release(file, key, line, what)


def _files() -> list[str]:
    """The effects of the other files of the examples."""
    targets: dict[str, set[str]] = defaultdict(set)
    for lock in sorted(INVENTORIES.glob("*/rendered/clustergen.lock.json")):
        for entry in json.loads(lock.read_text(encoding="utf-8"))["files"].values():
            if "target" in entry and entry["target"] not in JUDGED_BY_KEY:
                targets[read(entry.get("effect", "none")).kind].add(entry["target"])
    parts = [
        "\n## Other files\n\nThe files of the example clusters, by what a changed file needs. UNIT is the file's own"
        " unit. Every tree states both in its `clustergen.lock.json`.\n\n"
        "| what the change needs | class | files |\n|---|---|---|\n"
    ]
    for kind, row in effect_kinds().items():
        if kind in targets:
            paths = " ".join(f"`{path}`" for path in sorted(targets[kind]))
            parts.append(_row(row.what, f"**{_class([kind])}**", paths))
    return parts
