"""Bounds: what nests or multiplies without end is refused early, in little time and memory."""

import subprocess
import sys

import pytest

from clustergen.manifest.source import Source
from clustergen.manifest.yaml_load import MAX_DEPTH, MAX_PROBLEMS

CHILD = r"""
import re, resource, sys
from clustergen.diagnostics import render
from clustergen.manifest.source import Source
raw = eval(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))  # no measure: it ends what would go on for minutes
source = Source("m", raw)
render(source.diagnostics, "text", {"m": source.text})
code = source.diagnostics[0].code if source.diagnostics else "fine"
most = re.search(r"VmHWM:\s+(\d+)", open("/proc/self/status").read())[1]  # ru_maxrss begins with that of the parent
print(int(most) / 1000, code)
"""


def measure(expression: str) -> tuple[float, str]:
    """Megabytes and first code for the manifest that an expression makes, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, expression], capture_output=True, text=True, check=True, timeout=300
    )
    megabytes, code = done.stdout.split()
    return float(megabytes), code


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("b'[' + b'a,' * 3_900_000 + b']'", "file-too-large"),
        ("b'a: ' + b'[' * 7_900_000", "yaml-too-deep"),
        ("b'{a: ' * 1_500_000", "yaml-too-deep"),
        ("b'- ' * 3_900_000", "yaml-too-deep"),
        ("b'? ' * 3_900_000", "yaml-syntax"),
        ("b'a: 1\\n...\\n' + b'%TAG !a! x\\n' * 700_000", "yaml-many-documents"),
        ("b'%TAG !a! x\\n' * 700_000", "yaml-tag"),
        ("b'a: 1\\n' * 1_300_000", "yaml-duplicate-key"),
        ("b'a: 1\\r' * 1_300_000", "yaml-duplicate-key"),
        ("b'- !x a\\n' * 1_100_000", "yaml-tag"),
        ("b'a: \\x22' + b'x\\n' * 3_900_000", "yaml-syntax"),
        ("b'\\x22' * 7_900_000", "yaml-syntax"),
        ("b'#\\n\\n' * 2_600_000", "manifest-empty"),
        ("b'token: ' * 1_100_000", "yaml-syntax"),
        ("b''.join(b'k%d: &k%d 1\\n' % (i, i) for i in range(290_000))", "fine"),
    ],
    ids=lambda value: None if len(value) > 24 else value,
)
def test_eight_megabytes_of_anything(expression: str, code: str) -> None:
    megabytes, result = measure(expression)
    assert result == code
    assert megabytes < 500


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in Source("m", text.encode()).diagnostics]


def bomb(levels: int, width: int) -> str:
    lines = ["a0: &a0 [" + ", ".join("x" * width) + "]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * width) + "]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(("levels", "width"), [(10, 10), (40, 2), (5, 100), (30, 9)])
def test_a_bomb_of_aliases(levels: int, width: int) -> None:
    assert codes(bomb(levels, width)) == ["yaml-too-many-aliases"]


def test_a_few_aliases_are_fine() -> None:
    source = Source("m", b"a: &a {x: [1, 2]}\nb: *a\nc: [*a, *a]\nd: &d text\ne: *d\n")
    assert source.diagnostics == []
    assert source.data == {
        "a": {"x": [1, 2]}, "b": {"x": [1, 2]}, "c": [{"x": [1, 2]}] * 2, "d": "text", "e": "text",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {b: [1, {c: *a}]}"])
def test_an_alias_inside_its_own_anchor(text: str) -> None:
    (diagnostic,) = Source("m", text.encode()).diagnostics
    assert (diagnostic.code, diagnostic.message) == ("yaml-too-many-aliases", "'*a' contains itself")


def nested(levels: int) -> str:
    """A mapping is the first level."""
    return "a: " + "[" * (levels - 1) + "]" * (levels - 1)


def test_the_deepest_level() -> None:
    assert codes(nested(MAX_DEPTH)) == []
    assert codes(nested(MAX_DEPTH + 1)) == ["yaml-too-deep"]


def test_aliases_cannot_go_deeper_than_text() -> None:
    half = MAX_DEPTH // 2
    deep = "a: &a " + "[" * half + "]" * half + "\n"
    assert codes(deep + "b: " + "[" * (half - 1) + "*a" + "]" * (half - 1)) == []
    assert codes(deep + "b: " + "[" * half + "*a" + "]" * half) == ["yaml-too-deep"]


@pytest.mark.slow
def test_mistakes_are_counted_too() -> None:
    texts = codes("a: 1\n" * 5000)
    assert len(texts) == MAX_PROBLEMS + 1
    assert texts.count("yaml-duplicate-key") == MAX_PROBLEMS
