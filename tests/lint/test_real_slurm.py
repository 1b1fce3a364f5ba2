"""Real Slurm of three releases and lint agree about every fragment: what stops, what is complained of, what is fine.

A warning may stand where Slurm is silent, since much harm comes in silence. An error may not, and nothing that Slurm
says may be missing.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity
from clustergen.lint.run import lint
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.lint_fragments import FRAGMENTS, Fragment

pytestmark = [pytest.mark.real, pytest.mark.slow]

# What a start of slurmctld is said to fail with by those that only ask it.
_ECHO = "Unable to contact slurm controller"


def laid_out(fragment: Fragment, folder: Path) -> Path:
    folder.mkdir()
    (folder / "slurm.conf").write_bytes(fragment.slurm_conf.encode("utf-8", "surrogateescape"))
    for name, text in fragment.files.items():
        (folder / name).write_text(text)
    return folder


def disagreement(folder: Path, release: str, said: SlurmReport) -> str | None:
    """In words; None where they agree."""
    complaints = [words for words in said.complaints if _ECHO not in words]
    stopped = not said.started or any(
        "slurmd: fatal" in words or "initialization failed" in words for words in complaints
    )
    found = [one for one in lint(folder, SlurmRelease(release)).diagnostics if one.severity is not Severity.INFO]
    errors = [one for one in found if one.severity is Severity.ERROR]
    if stopped and not errors:
        return f"lint has no error: {complaints[:3]}"
    if not stopped and errors and not complaints:
        return f"Slurm is silent: {errors[0].code}: {errors[0].message}"
    if complaints and not found:
        return f"lint has no finding: {complaints[:3]}"
    return None


def test_every_fragment(slurm: SlurmInstall, tmp_path: Path) -> None:
    folders = [laid_out(fragment, tmp_path / str(number)) for number, fragment in enumerate(FRAGMENTS)]

    def ask(number: int) -> SlurmReport:
        nodes = ("n1",) if FRAGMENTS[number].slurmd else ()
        return read_config(slurm, folders[number], nodes_for_gres=nodes, timeout=60)

    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(ask, range(len(FRAGMENTS))))
    wrong = {
        fragment.name: words
        for fragment, folder, report in zip(FRAGMENTS, folders, reports, strict=True)
        if (words := disagreement(folder, slurm.release, report))
    }
    assert wrong == {}
    assert sum(not report.started for report in reports) > 100, "the fragments break nothing any more"


def test_the_line_that_slurm_names(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    """Where slurmctld says a line, lint has an error on it."""
    named = 0
    for number, fragment in enumerate(FRAGMENTS):
        if not any(mark in fragment.slurm_conf for mark in ("; ", "100 ", '"a b', "=\n", "Foo=", "=x", "NoSuch=")):
            continue
        folder = laid_out(fragment, tmp_path / str(number))
        said = read_config(current_slurm, folder, timeout=60)
        lines = {int(line) for line in re.findall(r"slurm\.conf line (\d+)", " ".join(said.complaints))}
        found = lint(folder, SlurmRelease(current_slurm.release)).diagnostics
        errors = {one.place.line for one in found if one.severity is Severity.ERROR and one.place}
        assert lines <= errors, fragment.name
        named += len(lines)
    assert named == 10
