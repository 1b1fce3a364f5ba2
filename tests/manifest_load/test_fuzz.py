"""Ten thousand mutated manifests: every one ends in diagnostics at places of the file, and none in a traceback."""

import random
from pathlib import Path

import pytest

from clustergen.compile import validate
from clustergen.diagnostics import CODES, FORMATS, Diagnostic, render
from clustergen.manifest.source import Source

SEEDS = (
    b'name: tiny\nnodes:\n  - {name: "gpu[1-2]", type: h100, roles: [a, b]}\n  - name: head\n    type: service\n',
    b"a: &x {b: [1, 2.5, ~, true], c: 'it''s', d: \"q\\x41\"}\nb: *x\nc: |\n  text\n   more\nd: >-\n  folded\n",
    b"# comment\n---\nkey with blanks: value # trailing\n? explicit\n: yes\nempty:\n...\n",
    b"slurm: {version: 24.11, partitions: {gpu: {nodes: c, max_time: 24:00:00}}}\nstorage:\n  s: {type: lustre}\n",
    "name: ça\n名前: 値 \U0001f600\n".encode(),
)
PIECES = tuple(
    piece.encode("latin-1")
    for piece in (
        *"\t\n\r :[]{},#'\"\\%@`~!\0\x1b=",
        *(
            ": ",
            "- ",
            "? ",
            " #",
            "  ",
            "&a ",
            "*a",
            "!!str ",
            "|\n",
            ">\n",
            "\\x",
            "---\n",
            "...\n",
            "<<: *x\n",
            "%TAG ! x\n",
        ),
        *("password: x\n", "a: 1\n", "0x", "1e9", "\x1b[0m"),
        *("\xff", "\xc3", "\x80", "\xef\xbb\xbf", "\xe2\x80\xa8", "\xc2\x85", "\xf0\x9f\x98\x80"),
    )
)


def mutated(generator: random.Random) -> bytes:
    raw = bytearray(generator.choice(SEEDS))
    for _ in range(generator.randint(1, 6)):
        at = generator.randint(0, len(raw))
        kind = generator.random()
        if kind < 0.5:
            raw[at:at] = generator.choice(PIECES)
        elif kind < 0.65:
            del raw[at : at + generator.randint(1, 12)]
        elif kind < 0.8:
            end = at + generator.randint(1, 30)
            raw[at:at] = raw[at:end]
        elif kind < 0.95:
            other = generator.choice(SEEDS)
            start = generator.randint(0, len(other))
            raw[at:at] = other[start : start + generator.randint(1, 30)]
        elif at < len(raw):
            raw[at] = generator.randint(0, 255)
    return bytes(raw)


def check(diagnostic: Diagnostic, text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert diagnostic.code in CODES
    assert len(diagnostic.message.splitlines()) == 1
    if diagnostic.place and diagnostic.place.line:
        assert 1 <= diagnostic.place.line <= len(lines), diagnostic
        assert 1 <= diagnostic.place.column <= diagnostic.place.end_column, diagnostic
        assert diagnostic.place.end_column <= len(lines[diagnostic.place.line - 1]) + 2, diagnostic


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("seed", range(10))
def test_mutations_load_or_are_refused_with_a_place(seed: int) -> None:
    generator = random.Random(seed)
    refused = 0
    for _ in range(1000):
        raw = mutated(generator)
        source = Source("m", raw)
        assert source.data is not None or source.diagnostics, raw
        refused += source.data is None
        for diagnostic in source.diagnostics:
            check(diagnostic, source.text)
        for form in FORMATS:
            render(source.diagnostics, form, {"m": source.text}).encode()
    assert 100 < refused < 1000, "the mutations have become too wild or too tame"


@pytest.mark.slow
def test_mutated_manifests_pass_the_whole_check_without_a_traceback(tmp_path: Path) -> None:
    generator = random.Random(2024)
    path = tmp_path / "manifest.yaml"
    examples = sorted((Path(__file__).parents[2] / "inventories").glob("*/manifest.yaml"))
    assert examples
    lines = [path.read_text(encoding="utf-8").splitlines(keepends=True) for path in examples]
    for _ in range(150):
        text = list(generator.choice(lines))
        for _ in range(generator.randint(1, 3)):
            at = generator.randrange(len(text))
            kind = generator.random()
            if kind < 0.3:
                del text[at]
            elif kind < 0.6:
                words = text[at].split(" ")
                generator.shuffle(words)
                text[at] = " ".join(words)
            elif kind < 0.8:
                text[at] = text[at].replace(generator.choice("abcde0123:[]{},"), generator.choice("abcde0123:[]{},\"'"))
            else:
                text.insert(at, generator.choice(generator.choice(lines)))
        path.write_text("".join(text), encoding="utf-8")
        compiled = validate(path)
        assert compiled.cluster is not None or compiled.diagnostics
        for diagnostic in compiled.diagnostics:
            check(diagnostic, compiled.source.text)
