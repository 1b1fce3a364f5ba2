"""Changes of manifests, drawn from all fields that reach Slurm, and what a trial of their plans showed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from clustergen.cli.diff import compare
from clustergen.cli.trial import carried_out
from clustergen.diff.messages import subject, verdict
from clustergen.diff.plan import Plan
from clustergen.diff.policy import VALUES
from clustergen.verify import slurm_trial
from effects.configuration import RELEASES
from strategies.fields import BASES, Base, Trial

SEED = 30
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


def drawn(release: str, shard: int = 0, *, shards: int = SHARDS, count: int = DRAWN, seed: int = SEED) -> Iterator[Drawn]:
    """The changes of one shard of so many, the same for the same seed: of each field the values that the files of a trial
    show, at most two.
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
    """What a trial keeps of the files; empty where the cluster has no Slurm."""
    files = {path.rpartition("/")[2]: text.decode() for path, text in trial.files.items() if path.endswith(_READ)}
    accounts = {path: text.decode() for path, text in trial.files.items() if path.endswith(VALUES)}
    return {**slurm_trial.adapted(files, release, accounting=True), **accounts} if "slurm.conf" in files else {}


def broken(start: Trial, trial: Trial, work: Path) -> tuple[str, list[str]]:
    """The headline of the plan, and what its trial showed beside it; nothing where it says that jobs are lost."""
    for name, each in (("old", start), ("new", trial)):
        for path, (content, _) in each.tree.contents().items():
            file = work / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    compared = compare(str(work / "old"), str(work / "new"))
    (plan,) = compared.plans
    headline = verdict(plan)
    if plan.old_release != plan.release or {each.kind for one in plan.changes for each in one.effects} & _LOSSES:
        return headline, []
    report, _, questions = carried_out(plan, *compared.slurm[0])
    faults = [f"lost: {words}" for words in report.lost if not _is_announced(words, plan)]
    faults += [f"not in effect: {subject(questions[n][0])}" for n in sorted(report.not_in_effect)]
    faults += [f"not in the database: {words}" for words in report.differs]
    faults += [f"not in effect: {words}" for words in report.limits]
    return headline, [*report.complaints, *faults, *([] if report.answers else ["slurmctld does not answer"])]


def _is_announced(lost: str, plan: Plan) -> bool:
    """True if the plan names running jobs that end in this state, or pending ones that wait."""
    state = lost.partition(": ")[2].partition(" ")[0]
    if state == "PENDING" and plan.waiting:
        return True
    return state in {each for jobs in plan.running for each in jobs.state.split(", ")}
