"""Texts that people have reviewed, in fixtures/reviewed/: what lint and `validate` say of the mistakes in tables of tests.

`python -m strategies.reviewed`, run in tests/, writes them and the hashes of outputs; review the difference as you review
code. reports/ has texts of single tests, and words.txt what `validate` says in tests of many files, a line each.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DIRECTORY = Path(__file__).parents[1] / "fixtures" / "reviewed"


@cache
def expected(table: str) -> Mapping[str, str]:
    """Name of a row → its text."""
    parts = (DIRECTORY / f"{table}.txt").read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    return {name: f"{text}\n" for name, _, text in (part.partition("\n") for part in parts)}


def write(table: str, texts: Mapping[str, str]) -> None:
    path = DIRECTORY / f"{table}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(f"{name}\n{text}" for name, text in texts.items()), encoding="utf-8")


_calls: list[str] = []
"""The names of the running test's texts."""
_REVIEW = "CLUSTERGEN_REVIEW"
JUDGED = (
    *("tests/facility/test_cables.py", "tests/facility/test_cooling.py", "tests/manifest_load/test_layers.py"),
    *("tests/render/test_site", "tests/rules/test_cabling.py", "tests/rules/test_hardware_limits.py"),
    "tests/rules/test_paths.py",
)
_REPORTS = DIRECTORY / "reports"
_WORDS = DIRECTORY / "words.txt"


def same(table: str, text: str) -> None:
    """Compares a text of the running test with the one that was reviewed. A test may have several, in their order."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0].removeprefix("tests/")
    if not _calls or _calls[0] != test:
        _calls.clear()
    name = f"{test} {len(_calls) + 1}" if _calls else test
    _calls.append(name)
    text = "".join(f"{line or '.'}\n" for line in text.splitlines()) or "nothing\n"
    if _REVIEW in os.environ:
        directory = os.open(DIRECTORY, os.O_RDONLY)
        fcntl.flock(directory, fcntl.LOCK_EX)
        expected.cache_clear()
        rows = dict(expected(f"reports/{table}")) if (_REPORTS / f"{table}.txt").exists() else {}
        write(f"reports/{table}", dict(sorted({**rows, name: text}.items())))
        expected.cache_clear()
        os.close(directory)
    assert text == expected(f"reports/{table}").get(name), "python -m strategies.reviewed writes it"


@cache
def _words() -> frozenset[str]:
    return frozenset(_WORDS.read_text(encoding="utf-8").splitlines())


def same_words(text: str) -> None:
    """Each line is one of those that were reviewed, of all tests of `JUDGED` that call this."""
    lines = set(text.splitlines())
    if not os.environ.get("PYTEST_CURRENT_TEST", "").startswith(JUDGED):
        return
    if _REVIEW in os.environ:
        with _WORDS.open("a+", encoding="utf-8") as file:
            file.seek(0)
            file.writelines(f"{line}\n" for line in sorted(lines - set(file.read().splitlines())))
    else:
        assert lines <= _words(), "python -m strategies.reviewed writes them"


def write_texts_of_tests() -> None:
    for path in (_WORDS, *_REPORTS.glob("*.txt")):
        path.unlink(missing_ok=True)
    tests = Path(__file__).parents[1]
    text = re.compile(r"\bsame\(")
    paths = [path for path in sorted(tests.rglob("test_*.py")) if text.search(path.read_text(encoding="utf-8"))]
    paths += [path for path in tests.rglob("test_*.py") if f"tests/{path.relative_to(tests)}".startswith(JUDGED)]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not real and not container and not long", *map(str, paths)]
    subprocess.run(command, cwd=tests.parent, env={**os.environ, _REVIEW: "1"}, check=True, timeout=3600)
    lines = sorted(set(_WORDS.read_text(encoding="utf-8").splitlines()))
    _WORDS.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def main() -> None:
    from rules import test_fabric, test_hardware, test_names_and_addresses, test_partitions
    from strategies import lint_sites, mistakes, reviewed_outputs, service_manifests, slurm_manifests
    from strategies.findings import diagnosed, words

    write("lint", {name: lint_sites.findings(*row) for name, row in lint_sites.rows().items()})
    for table, rows in {
        "fabric": test_fabric.WRONG,
        "hardware": test_hardware.WRONG,
        "names": test_names_and_addresses.WRONG,
        "partitions": test_partitions.WRONG,
        "services": service_manifests.WRONG,
        "slurm": slurm_manifests.WRONG,
    }.items():
        write(table, {name: words(diagnosed(text)) for name, (text, _) in rows.items()})
    of_clusters = {title: text for name in mistakes.MANIFESTS for title, text in mistakes.findings(name).items()}
    write("mistakes", of_clusters | mistakes.odd_findings())
    reviewed_outputs.write()
    write_texts_of_tests()


if __name__ == "__main__":
    main()
