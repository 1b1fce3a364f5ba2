"""Mutated manifests through the whole pipeline: diagnostics or a clean tree, and never a traceback."""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clustergen import compile as compiler
from clustergen.diagnostics import FORMATS, render
from clustergen.manifest.model import Manifest
from clustergen.manifest.source import load

INVENTORIES = Path(__file__).parents[2] / "inventories"
SECRET = "Tr0ub4dor"
CLUSTERS = ("a6000-quad", "dgx-a100-mig", "home-3090", "midrange-weka", "ml-training")
DOCUMENTS = [load(INVENTORIES / name / "manifest.yaml").data for name in CLUSTERS]

# Values that some field takes, some field nearly takes, and none takes.
FITTING = (True, False, 0, 1, 2, 7, 64, "1-0", "2h", "30s", "128GiB", "10%", "all", "a", "batch", "head", "10.0.0.0/24")
LISTS = ("n[1-3,5]", "n[01-10]", "10.0.0.[1-9]", "n[1-70000]", "n[1-999999999]", "n[", "n[5-1]", "n,")
NUMBERS = (None, -1, 2**31, 2**63, 2**64, 10**40, 1.5, float("nan"), float("inf"), "0x10", "1e9", "99999-00:00:00")
BREAKING = (
    *("", " ", "a b", "a\nb", "a#b", "a;b", "$(id)", "`id`", "{{ 7*7 }}", "{% x %}", "%n%i", "-x", "--help", "<a>"),
    *(
        "'",
        '"',
        "\\",
        "\\n",
        "\u2028x",
        "x\u0085y",
        "\u202eabc",
        "a\0b",
        "\x1b[31m",
        "é",
        "日本",
        "🙂" * 50,
        "x" * 9999,
    ),
    *(
        "../../etc/passwd",
        "/",
        "/etc/../x",
        "/a b",
        "1.2.3.4/33",
        "::1",
        "http://u:p@h/x",
        "password=Tr0ub4dor",
        "&",
        "~",
    ),
)
NESTED = ([], {}, [None], [[]], {"a": None}, {"a": {"b": 1}}, ["a", "a"], {"*": 1})
VALUES = (*FITTING * 3, *LISTS, *NUMBERS, *BREAKING, *NESTED)
# No line of a rendered file may hold a control character, or one that ends a line elsewhere.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [*([path] if path else []), *(below for key, item in inside for below in paths(item, (*path, key)))]


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        document = document[part]
    return document


PATHS = [paths(document) for document in DOCUMENTS]
KEYS = sorted({str(part) for inside in PATHS for path in inside for part in path if isinstance(part, str)})
FIELDS = sorted({*Manifest.model_fields, *KEYS})


def mutated(generator: random.Random) -> dict[str, Any]:
    """A manifest of a cluster with one to three changes; parts of others come in where the path is the same."""
    number = generator.randrange(len(DOCUMENTS))
    document: dict[str, Any] = copy.deepcopy(DOCUMENTS[number]) or {}
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        path = generator.choice(paths(document) or [("name",)])
        parent, last = at(document, path[:-1]), path[-1]
        match generator.randrange(7):
            case 0 | 1:
                parent[last] = copy.deepcopy(generator.choice(VALUES))
            case 2:
                del parent[last]
            case 3:
                other = generator.randrange(len(DOCUMENTS))
                same = [candidate for candidate in PATHS[other] if candidate[-1] == last] or PATHS[other]
                parent[last] = copy.deepcopy(at(DOCUMENTS[other], generator.choice(same)))
            case 4 if isinstance(parent, dict):
                parent[generator.choice(FIELDS)] = parent.pop(last)
            case 5 if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[last]))
            case _ if isinstance(parent, dict):
                parent[generator.choice(FIELDS)] = copy.deepcopy(generator.choice(VALUES))
            case _:
                generator.shuffle(parent)
    return document


def go_through(seed: int, rounds: int, directory: Path) -> Counter[str]:
    """How many manifests were refused, rendered, or refused by the rendering."""
    generator = random.Random(seed)
    path = directory / "manifest.yaml"
    ends: Counter[str] = Counter()
    for _ in range(rounds):
        path.write_text(json.dumps(mutated(generator)), encoding="utf-8")
        compiled = compiler.validate(path)
        for form in FORMATS:
            shown = render(compiled.diagnostics, form, {compiled.source.name: compiled.source.text})
            assert "\x1b" not in shown
            assert SECRET not in shown
        if not compiled.ok:
            assert compiled.diagnostics
            ends["refused"] += 1
            continue
        tree, diagnostics = compiler.render(compiled, path)
        if tree is None:
            assert diagnostics
            ends["not rendered"] += 1
            continue
        ends["rendered"] += 1
        for name, (content, _mode) in tree.contents().items():
            text = content.decode("utf-8")
            assert not (match := CONTROL.search(text)), (name, match)
            assert SECRET not in text
    return ends


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_two_hundred_and_fifty_manifests(seed: int, tmp_path: Path) -> None:
    ends = go_through(seed, 125, tmp_path)
    assert ends["refused"] > 25
    assert ends["rendered"] > 10
    assert ends["not rendered"] == 0  # what validate takes, render takes


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 120))
def test_ten_thousand_manifests(seed: int, tmp_path: Path) -> None:
    ends = go_through(seed, 500, tmp_path)
    assert ends["rendered"] > 40
    assert ends["not rendered"] == 0
