"""Changes of manifests, drawn from all fields that reach Slurm, and what a trial of their plans showed."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypedDict

from clustergen.cli.diff import compare
from clustergen.cli.trial import carried_out
from clustergen.diff.messages import subject, verdict
from clustergen.diff.plan import Plan
from clustergen.diff.policy import VALUES
from clustergen.verify import slurm_trial
from effects.configuration import RELEASES
from strategies.fields import BASES, Base, Trial

SEED = 30
TABLE = Path(__file__).with_name("drawn_plans.tsv")
OUTCOMES = ("right", "announced", "refused", "lost", "not in effect", "failed")
FAULTS = OUTCOMES[3:]
DRAWN = 150
SHARDS = 10
_MOST_TRIALS = 4  # of one field
_MOST_VALUES = 2
_READ = ("/etc/slurm/slurm.conf", "/etc/slurm/topology.conf", "/etc/slurm/topology.yaml")
_LOSSES = frozenset(("refuse", "cancel-jobs"))
Drawn = tuple[str, Trial]
"""The name of a field, and the manifest with another value of it."""


@cache
def base(release: str) -> Base:
    """A manifest that has nearly every field, for a release."""
    text = next(path for path in BASES if path.name == "planned.yaml").read_text(encoding="utf-8")
    text = text.replace('version: "26.05"', f'version: "{release}"')
    if release != RELEASES[-1]:  # whose blocks may be incomplete
        text = re.sub(r"(?m)^  topology: .*\n", "", text)
    with TemporaryDirectory() as directory:
        path = Path(directory, "manifest.yaml")
        path.write_text(text, encoding="utf-8")
        return Base(path)


def drawn(
    release: str, shard: int = 0, *, shards: int = SHARDS, count: int = DRAWN, seed: int = SEED
) -> Iterator[Drawn]:
    """The changes of one shard of so many, the same for the same seed: of each field the values that the files of a
    trial show, at most two.
    """
    names = list(base(release).by_name)
    random.Random(seed).shuffle(names)
    yield from islice((each for name in names[shard::shards] for each in _visible(name, release)), count // shards)


def _visible(name: str, release: str) -> Iterator[Drawn]:
    start = _seen(base(release).start, release)
    seen = [start]
    for trial in islice(base(release).trials(name), _MOST_TRIALS):
        files = _seen(trial, release)
        if files not in seen:
            seen.append(files)
            yield (name if len(seen) == 2 else f"{name} again"), trial
        if len(seen) > _MOST_VALUES:
            return


def _seen(trial: Trial, release: str) -> Mapping[str, str]:
    """Files that a trial keeps; empty if the cluster has no Slurm."""
    files = {path.rpartition("/")[2]: text.decode() for path, text in trial.files.items() if path.endswith(_READ)}
    accounts = {path: text.decode() for path, text in trial.files.items() if path.endswith(VALUES)}
    return {**slurm_trial.adapted(files, release, accounting=True), **accounts} if "slurm.conf" in files else {}


class Result(TypedDict):
    """`outcome`: right, announced (jobs were lost or wait, as the headline says), refused (while jobs run, so not
    tried), lost, not in effect, or failed.
    """

    name: str
    headline: str
    outcome: str
    detail: str


def tried(release: str, name: str, trial: Trial, work: Path) -> Result:
    """The trial of the plan for one drawn change."""
    for side, each in (("old", base(release).start), ("new", trial)):
        for path, (content, _) in each.tree.contents().items():
            file = work / side / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    compared = compare(str(work / "old"), str(work / "new"))
    (plan,) = compared.plans
    outcome, detail = _outcome(plan, *compared.slurm[0])
    return Result(name=name, headline=verdict(plan), outcome=outcome, detail=detail)


def _outcome(plan: Plan, *files: Any) -> tuple[str, str]:
    if plan.old_release != plan.release or {each.kind for one in plan.changes for each in one.effects} & _LOSSES:
        return "refused", ""
    report, _, questions = carried_out(plan, *files)
    if not report.answers:
        return "failed", "; ".join((*report.complaints, "slurmctld does not answer"))
    silent = [words for words in report.lost if not _is_announced(words, plan)]
    values = [subject(questions[n][0]) for n in sorted(report.not_in_effect)]
    if silent:
        return "lost", "; ".join(silent)
    if differs := [*values, *report.differs, *report.limits]:
        return "not in effect", "; ".join(differs)
    return ("announced", "; ".join(report.lost)) if report.lost else ("right", "")


def _is_announced(lost: str, plan: Plan) -> bool:
    """True if the plan names running jobs that end in this state, or pending ones that wait."""
    state = lost.partition(": ")[2].partition(" ")[0]
    if state == "PENDING" and plan.waiting:
        return True
    return state in {each for jobs in plan.running for each in jobs.state.split(", ")}


def counts() -> list[dict[str, str]]:
    """The table, a row per release."""
    with TABLE.open(encoding="utf-8") as lines:
        return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


def write(release: str, records: Iterable[Path]) -> None:
    """The counts of a release into the table, of the shards that are recorded."""
    results = [json.loads(record.read_text(encoding="utf-8")) for record in records]
    number = Counter(each["outcome"] for shard in results for each in shard)
    row = {"release": release, "drawn": str(number.total()), **{name: str(number[name]) for name in OUTCOMES}}
    rows = {each["release"]: each for each in (counts() if TABLE.exists() else [])} | {release: row}
    lines = ["\t".join(row), *("\t".join(rows[each].values()) for each in RELEASES if each in rows)]
    TABLE.write_text(f"# Written by tools/measure-plans.\n{chr(10).join(lines)}\n", encoding="utf-8")
