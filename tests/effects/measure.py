"""Runs changes on real clusters and keeps the results; `tools/measure-effects` is its command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clustergen.catalogue.tables import DATA, rows
from clustergen.verify import slurm_roots
from clustergen.verify.slurm_roots import SlurmInstall
from effects import (
    changes_accounting,
    changes_keys,
    changes_nodes,
    changes_partitions,
    changes_running,
    changes_settings,
)
from effects.change import Change
from effects.cluster import JOBS
from effects.configuration import Configuration
from effects.judge import RIGHT, STRICT, Outcome, is_enough, judge
from effects.machine import CONTROLLERS
from effects.verdicts import Action, Verdict, between, judged

_MODULES = (changes_nodes, changes_partitions, changes_keys, changes_settings, changes_running, changes_accounting)
CHANGES: dict[str, Change] = {change.name: change for module in _MODULES for change in module.CHANGES}
_CGROUP = Path("/sys/fs/cgroup")
_TESTS = Path(__file__).resolve().parents[1]
_LIMIT = 240
_NAMESPACES = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child")


def unavailable() -> str | None:
    """Why this machine cannot run the changes; None if it can."""
    if os.geteuid() != 0:
        return "only root can make device files and network namespaces"
    missing = [name for name in ("unshare", "nsenter", "ip") if shutil.which(name) is None]
    return f"{', '.join(missing)} not installed" if missing else None


def has_cgroups() -> bool:
    """True if this machine has hierarchies of cgroup v1."""
    return all((_CGROUP / controller / "cgroup.procs").exists() for controller in CONTROLLERS)


def run(spec: dict[str, Any], work: Path) -> dict[str, Any]:
    """One start of a cluster in fresh namespaces, unless `work` has the result of the same. The trace stays in it."""
    if (why := unavailable()) is not None:
        raise RuntimeError(why)
    spec = {**spec, "work": str(work / "run"), "result": str(work / "result.json")}
    path, text = work / "spec.json", json.dumps(spec, indent=1)
    if path.exists() and path.read_text(encoding="utf-8") == text and (work / "result.json").exists():
        return _read(work / "result.json")
    shutil.rmtree(work, ignore_errors=True)
    (work / "run").mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    command = ["timeout", "-k", "2", str(_LIMIT), "unshare", *_NAMESPACES]
    command += ["--cgroup"] if spec.get("cgroups") else []
    command += [sys.executable, "-m", "effects.cluster", str(path)]
    with (work / "trace").open("wb") as trace, cgroups(f"clustergen.{os.getpid()}.{work.name}", spec) as inside:
        command = [*inside, *command]
        environment = {**os.environ, "PYTHONPATH": str(_TESTS), "PYTHONDONTWRITEBYTECODE": "1"}
        # Namespaces of mounts, networks and processes end with the command, whatever becomes of it.
        subprocess.run(command, stdout=trace, stderr=subprocess.STDOUT, env=environment, check=False)
    result = work / "result.json"
    if spec.get("keep"):
        return {}
    if not result.exists():
        raise RuntimeError(f"{work}: {(work / 'trace').read_text(errors='replace')[-600:]}")
    return _read(result)


@contextmanager
def cgroups(name: str, spec: dict[str, Any]) -> Iterator[list[str]]:
    """A cgroup in every hierarchy of cgroup v1, where the spec wants some; yields a command that enters them."""
    if not spec.get("cgroups"):
        yield []
        return
    places = [_CGROUP / controller / name for controller in CONTROLLERS]
    for place in places:
        place.mkdir()
        for file in ("cpuset.cpus", "cpuset.mems"):
            if (place / file).exists():
                (place / file).write_text((place.parent / file).read_text())
    enter = "; ".join(f"echo $$ >{place}/cgroup.procs" for place in places)
    try:
        yield ["bash", "-c", f'{enter}; exec "$@"', "-"]
    finally:
        for place in places:
            for directory in sorted((path for path in place.rglob("*") if path.is_dir()), reverse=True):
                _remove(directory)
            _remove(place)


def _remove(cgroup: Path) -> None:
    """Processes that end leave their cgroup a moment later."""
    for _ in range(600):
        try:
            cgroup.rmdir()
        except OSError:
            time.sleep(0.1)
        else:
            return


def _read(path: Path) -> dict[str, Any]:
    measured: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return measured


def spec_of(
    change: Change,
    install: SlurmInstall,
    old: Configuration,
    new: Configuration,
    actions: Sequence[Action],
    prepared: Path,
) -> dict[str, Any]:
    layers = [str(prepared / install.release), str(install.path)] if change.database else [str(install.path)]
    return {
        "layers": layers,
        "database": change.database,
        "after_database": change.after_database,
        "files": old.texts(),
        "before": change.before,
        **({"cgroups": True} if change.cgroups else {}),
        "nodes": change.nodes,
        "jobs": {name: options for name, options in {**JOBS, **change.jobs}.items() if options is not None},
        "submit": dict(change.submit),
        "new_job": change.new_job,
        "finish": change.finish,
        "rounds": [round_of(change, new, actions)],
    }


def round_of(change: Change, new: Configuration, actions: Sequence[Action]) -> dict[str, Any]:
    return {
        "name": change.name,
        "files": new.texts(),
        "steps": actions,
        "checks": change.checks,
        "settle": change.settle,
    }


def prepare(install: SlurmInstall, prepared: Path) -> None:
    """A database with the accounts that changes of accounting start from, once."""
    keep = prepared / install.release
    if not (keep / "var/lib/database/slurm_acct_db").is_dir():
        configuration = Configuration(install.release, database=True)
        spec = {"layers": [str(install.path)], "files": configuration.texts(), "keep": str(keep)}
        run(spec, prepared / f"making-{install.release}")


def measure(
    change: Change, install: SlurmInstall, directory: Path, *, strictness: bool = True
) -> tuple[Verdict, Outcome]:
    """The verdict on one change, and what came of doing what it says. With `strictness` a verdict that empties nodes or
    restarts daemons is tried once more without that.
    """
    verdict, old, new = judged(change, install.release)
    prepared = directory / "prepared"
    work = directory / f"{install.release}-{change.name}"
    result = run(spec_of(change, install, old, new, verdict.actions, prepared), work)
    outcome = judge(change, verdict, result)
    (work / "outcome").write_text(f"{verdict.text}\n{outcome.kind}: {outcome.detail}\n", encoding="utf-8")
    lesser = verdict.lesser() if strictness and not change.instead and outcome.kind == RIGHT else None
    if lesser is not None and not verdict.is_refusal:
        less = run(
            spec_of(change, install, old, new, lesser, prepared), directory / f"{install.release}-{change.name}-less"
        )
        if is_enough(change, less):
            outcome = Outcome(STRICT, f"enough: {', '.join(' '.join(action).strip() for action in lesser)}")
    return verdict, outcome


def through(changes: Sequence[Change], install: SlurmInstall, work: Path) -> tuple[dict[str, Any], list[Verdict]]:
    """Several changes one after the other on one cluster, whose jobs run through all of them."""
    current = Configuration(install.release, database=False).edited(tuple(edit for one in changes for edit in one.old))
    verdicts, rounds = [], []
    first = current
    for change in changes:
        following = current.edited(change.new)
        verdict = between(change, current, following)
        verdicts.append(verdict)
        rounds.append({**round_of(change, following, verdict.actions), "settle": 1})
        current = following
    plain = Change("several", ())
    spec = {**spec_of(plain, install, first, first, (), work), "rounds": rounds, "finish": 25, "fresh": True}
    return run(spec, work), verdicts


def several(
    pairs: Iterable[tuple[Change, SlurmInstall]], directory: Path, *, workers: int, strictness: bool
) -> Iterable[tuple[Change, SlurmInstall, Verdict | None, Outcome]]:
    """The results of `measure` for several changes at a time: they mostly wait."""
    pairs = list(pairs)
    for install in {install.release: install for change, install in pairs if change.database}.values():
        prepare(install, directory / "prepared")

    def one(pair: tuple[Change, SlurmInstall]) -> tuple[Change, SlurmInstall, Verdict | None, Outcome]:
        change, install = pair
        try:
            verdict, outcome = measure(change, install, directory, strictness=strictness)
        except (RuntimeError, ValueError, KeyError) as err:
            return change, install, None, Outcome("failed", str(err)[-400:])
        return change, install, verdict, outcome

    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(one, pairs)


def installs(releases: Sequence[str]) -> dict[str, SlurmInstall]:
    values = {release: slurm_roots.for_release(release) for release in releases}
    return {release: install for release, install in values.items() if install is not None}


TABLE = DATA / "slurm_effects_measured.tsv"
COLUMNS = ("change", "release", "version", "steps", "outcome", "detail", "rows", "keys", "source")
_REMARK = """\
# Changes made on a running Slurm, written by tools/measure-effects. steps: what the verdict of `clustergen diff` says,
# and what was done. outcome: right, too strict (less would do), or too mild (jobs: running ones were lost or never
# ended; not in effect; minor: pending jobs, not announced). rows: the rows of slurm_effects.tsv behind the verdict,
# separated by semicolons; keys: the keys that differed. release, version: those for which all of it is the same.
"""


def row_of(change: Change, install: SlurmInstall, verdict: Verdict, outcome: Outcome) -> dict[str, str]:
    detail = " ".join(outcome.detail.split())
    cells = (change.name, install.release, install.version, verdict.steps, outcome.kind, detail)
    return dict(zip(COLUMNS, (*cells, "; ".join(verdict.rows), "; ".join(verdict.keys), "SLURMRUN"), strict=True))


def measured_rows() -> dict[tuple[str, str], dict[str, str]]:
    """Change and release → the row of the table, with this release alone."""
    return {
        (row["change"], release): row | {"release": release, "version": version}
        for row in rows(TABLE.name)
        for release, version in zip(row["release"].split(), row["version"].split(), strict=True)
    }


def write(measured: Iterable[dict[str, str]]) -> None:
    """Puts rows into the table in place of older ones of the same change and release; those of no change go."""
    kept = measured_rows() if TABLE.exists() else {}
    kept.update({(row["change"], row["release"]): row for row in measured})
    order = [(name, release) for name, change in CHANGES.items() for release in change.releases]
    alike: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in (kept[key] for key in order if key in kept):
        alike.setdefault((row["change"], *(row[name] for name in COLUMNS[3:])), []).append(row)
    lines = [
        "\t".join((change, *(" ".join(row[name] for row in same) for name in ("release", "version")), *others))
        for (change, *others), same in alike.items()
    ]
    beside = TABLE.with_suffix(".new")
    beside.write_text(_REMARK + "\n".join(["\t".join(COLUMNS), *lines]) + "\n", encoding="utf-8")
    beside.replace(TABLE)
