"""The rules for secrets, measured on forms that were collected before the rules were written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from clustergen.diagnostics.secret_rules import BINARY_KEY, FILES, RULES
from clustergen.diagnostics.secrets import LONG_WORD, rule_spans, secret_in_file
from clustergen.manifest.source import Source
from strategies.secret_forms import Form, forms

ROUNDS = 20  # of random values in `make long`


def is_refused(form: Form) -> bool:
    if form.manifest:
        source = Source("m", form.manifest.encode())
        assert {item.code for item in source.diagnostics} <= {"secret-in-manifest"}, form
        return bool(source.diagnostics)
    return secret_in_file("/" + form.path.partition("/")[2], form.content) is not None


def named(rows: Iterable[Form]) -> set[str]:
    return {f"{row.where} {row.form}" for row in rows}


def test_there_are_as_many_forms_as_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    secrets, harmless = forms("secrets"), forms("harmless")
    measured = [row for row in secrets if row.is_measured]
    held = [row for row in measured if row.is_held_out]
    trial = [row for row in secrets if row.source == "trial"]
    sentence = f"finds {len(measured) - len(held)} of {len(measured) - len(held)} forms that guided the rules"
    assert sentence in " ".join(page.split())
    assert f"{len(held)} of {len(held)} that were held out" in " ".join(page.split())
    assert f"{len(trial)} of {len(trial)} that a trial brought" in " ".join(page.split())
    assert f"refuses none of {len(harmless)} harmless values" in " ".join(page.split())


@pytest.mark.slow
def test_the_rules_find_the_secrets() -> None:
    assert named([row for row in forms("secrets") if not is_refused(row)]) == set()


def test_the_rules_leave_the_rest_alone() -> None:
    assert named([row for row in forms("harmless") if is_refused(row)]) == set()


@pytest.mark.slow
def test_no_value_of_a_secret_is_shown() -> None:
    """The text around a secret in an excerpt does not repeat its random part."""
    shown = []
    for row in forms("secrets"):
        text = Source("m", row.manifest.encode()).text if row.manifest else ""
        shown += [f"{row.where} {row.form}" for value in row.values if row.manifest and value in text]
    assert shown == []


@pytest.mark.parametrize("rule", [rule.name for rule in RULES])
def test_each_rule_finds_a_form(rule: str) -> None:
    (row,) = (one for one in RULES if one.name == rule)
    pattern = re.compile(LONG_WORD)
    found_in = [
        form
        for form in forms("secrets")
        if any(rule_spans(row, form.text, form.text.lower(), [match.span() for match in pattern.finditer(form.text)]))
    ]
    assert found_in


@pytest.mark.parametrize("rule", [*FILES, BINARY_KEY], ids=lambda rule: rule.pattern)
def test_each_file_rule_finds_a_file(rule: object) -> None:
    results = [secret_in_file("/" + row.path.partition("/")[2], row.content) for row in forms("secrets")]
    assert rule in results


@pytest.mark.long
def test_the_rules_find_other_values_of_these_forms() -> None:
    """The same forms with other random values."""
    for seed in range(1, ROUNDS + 1):
        assert named([row for row in forms("secrets", seed) if not is_refused(row)]) == set()
        assert named([row for row in forms("harmless", seed) if is_refused(row)]) == set()
