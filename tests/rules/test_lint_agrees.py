"""Findings of lint in the tree of a valid manifest are findings of `validate` in the manifest."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Diagnostic, Severity
from clustergen.lint.run import lint
from strategies.slurm_options import manifests

ALIKE = 10  # manifests of one seed
KNOWN_BETTER = {
    "port-twice": ("slurmctld and slurmd both listen", "rules/ports.py knows whether one host runs both"),
    "slurm-directory-unsafe": ("this looks like a shared", "rules/paths.py knows what is mounted there"),
    "priority-period": ("a bare number is in minutes", "the manifest's has its unit"),
    "gres-mismatch": ("", "lines of slurm.gres_lines are the site's own, and `verify` shows them to slurmd"),
}
"""Guesses of lint that a rule of the manifest decides: code, beginning of the message, reason."""


def findings_of_lint(data: dict[str, Any], directory: Path) -> tuple[list[Diagnostic], list[Diagnostic]] | None:
    """The findings of `validate`, and those of lint in the rendered files; None where the manifest has errors."""
    path, conf = directory / "manifest.yaml", directory / "slurm"
    path.write_text(json.dumps(data), encoding="utf-8")
    compiled = compiler.validate(path)
    if not compiled.ok:
        return None
    tree, problems = compiler.render(compiled, path)
    assert tree is not None, problems
    conf.mkdir()
    for file in tree:
        if file.target and file.target.startswith("/etc/slurm/"):
            place = directory / "slurm" / file.target.removeprefix("/etc/slurm/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.content)
            place.chmod(file.mode)
    report = lint(conf, SlurmRelease(data["slurm"]["version"]))
    return [*compiled.diagnostics], [one for one in report.diagnostics if one.severity is not Severity.INFO]


def unknown_to_validate(validated: list[Diagnostic], linted: list[Diagnostic]) -> list[str]:
    """Findings with neither their message nor, as often, their code in those of `validate`."""
    messages = {one.message for one in validated}
    codes = Counter(one.code for one in validated if one.message not in {each.message for each in linted})
    rest = [one for one in linted if one.message not in messages]
    for one in rest:
        codes[one.code] -= 1
    return [
        f"{one.code}: {one.message}"
        for one in rest
        if codes[one.code] < 0 and not (one.code in KNOWN_BETTER and one.message.startswith(KNOWN_BETTER[one.code][0]))
    ]


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("seed", range(20))
def test_lint_has_nothing_that_validate_lacks(seed: int, tmp_path: Path) -> None:
    unknown: list[str] = []
    number = 0
    for data in islice(manifests(seed), ALIKE * 10):
        directory = tmp_path / str(number)
        directory.mkdir(exist_ok=True)
        if (both := findings_of_lint(data, directory)) is not None:
            number += 1
            unknown += [f"{finding}  {data['slurm']}" for finding in unknown_to_validate(*both)]
        if number == ALIKE:
            break
    assert number == ALIKE, "most of the manifests are not valid any more"
    assert not unknown, "\n".join(unknown)
