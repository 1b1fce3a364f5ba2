"""The rules for secrets take linear time, also on a text where matches begin everywhere and none ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zlib
from itertools import product
from time import process_time

import pytest

from clustergen.diagnostics.redaction import redacted
from clustergen.diagnostics.secret_rules import RULES, Rule
from clustergen.diagnostics.secrets import _STEMS, LONG_WORD, rule_spans

SHORT, LONG = 20_000, 100_000
MOST = 8  # times as long for five times the text; quadratic time would be 25 times
LEAST = 0.3  # seconds of CPU time for 100 kB below which no ratio counts, as both are short
SECONDS = 60  # after which a process of cubic time is killed
# Each of these took more than six seconds of CPU time for 40 to 200 kB, most of them minutes.
SLOW = (
    *("mysql.", "ipmi.", "ipa-a.", "authorization:", "sk-", "pass:", "pasword:"),
    *("q(pass:xxxx)", "eyJ-", "MONITOR |a@", "|U:|,p:", "|BEGIN A |private key", "password is| ", "mysql |-|-p a"),
)
_UNITS = sorted(
    {
        *("=", ":", " ", "\t", "a@", "a.", "a-", "'", "1", "a1", "A ", "//", "pass='a", "'pass': ", "eyJ=", "curl -u "),
        *(mark for rule in RULES for mark in rule.marks),
        *(word for rule in RULES for word in re.findall(r"[A-Za-z]{2,}[-_./: @$]?", rule.pattern)),
        *_STEMS,
    }
)
_OPENERS = (
    *("MONITOR ", "password is", "BEGIN ", "mysql", "curl -u", "pass=", "pass: '", "sk-", "bearer ", "authorization:"),
    *("echo ", "login ", "identified by '", "<pass>", '{"k"', "U:", "q(", "pass('", "pasword=", "aws", "--pass "),
)
_ENDS = ("", " ,p: private key | %s -p")
PRODUCT = (
    *(f"|{unit}{end}|{mark}" for unit in _UNITS for end in ("", " ", "1a-") for mark in _ENDS),
    *("|".join(parts) for parts in product(_OPENERS, (" ", "a@", "A ", "-", ".", "=", ":", "a1", "a:", "'"), _ENDS)),
)


def text_of(form: str, size: int) -> str:
    """`start|unit|end` or `unit`: the unit, as often as it fits."""
    start, unit, end = (*form.split("|"), "")[:3] if "|" in form else ("", form, "")
    return start + unit * (size // len(unit)) + end


def seconds(form: str, size: int, rule: Rule | None) -> float:
    text = text_of(form, size)
    start = process_time()
    if rule is None:
        redacted(text)
    else:
        lower = text.lower()
        places = [match.span() for match in re.finditer(LONG_WORD, text)]
        list(rule_spans(rule, text, lower, places))
    return process_time() - start


def is_linear(form: str, rule: Rule | None = None) -> bool:
    """True if time grows as the text does; measured twice, as another process may disturb one."""
    for _ in range(2):
        longest = seconds(form, LONG, rule)
        if longest < LEAST or longest < MOST * seconds(form, SHORT, rule):
            return True
    return False


def check(forms: list[str], each: bool) -> list[str]:
    """Texts, and the rules, that take more than linear time; run in a process that can be killed."""
    rules: list[Rule | None] = [None, *(RULES if each else ())]
    return [f"{form} {rule.name if rule else ''}" for form in forms for rule in rules if not is_linear(form, rule)]


def in_a_process(forms: list[str], each: bool = False, limit: float = SECONDS) -> list[str]:
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps([forms, each]),
        capture_output=True,
        text=True,
        timeout=limit,
        check=True,
        env=environment,
    )
    slow: list[str] = json.loads(done.stdout)
    return slow


@pytest.mark.slow
def test_texts_that_were_slow_take_linear_time() -> None:
    """With a few others of those that `make long` tests."""
    sample = [form for form in PRODUCT if zlib.crc32(form.encode()) % 500 == 0]
    assert sample
    assert in_a_process([*SLOW, *sample]) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_every_word_of_every_rule_takes_linear_time(part: int) -> None:
    """Each text with each rule alone, and with all."""
    assert in_a_process(list(PRODUCT[part::20]), each=True, limit=20 * SECONDS) == []


def test_a_value_of_any_length_is_masked_to_its_end() -> None:
    for name, end in product(("password", "pasword", "x-password"), ("", " and", "\nnext: value", "', b: c")):
        value = "a1B2c3" * 100
        assert "c3" not in redacted(f"{name}: '{value}{end}")
        assert "c3" not in redacted(f"{name}={value}{end}")
        assert "c3" not in redacted(f"{name}: password:{value}{end}")


if __name__ == "__main__":
    json.dump(check(*json.load(sys.stdin)), sys.stdout)
