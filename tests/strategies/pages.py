"""The guides as programs: their manifests, files and sessions, in the order in which a reader meets them.

What a fenced block is for stands in its info string, after the language:

    yaml manifest              a whole manifest: valid without a word, and renders
    yaml fragment              sections that go into the manifest of docs/getting-started.md: valid together
    yaml wrong CODE            a fragment that gets this diagnostic
    yaml system                a file of the catalogue's systems/, which tests/catalogue/test_systems.py reads
    yaml ci                    jobs of a CI, which tests/packaging/test_image.py runs in the container image
    … file=PATH                the reader saves it under that name, in the directory where the page's sessions run
    console session            commands after `$ `, and all that they print; `…` stands for what may differ
    console session real       the same, with real parsers (clustergen setup parsers)
    console                    commands that a page only talks of: options of `clustergen` must exist
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASE = ROOT / "docs" / "getting-started.md"
_FENCE = re.compile(r"^```(?P<info>[^`\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_END = "\x1f end of output \x1f"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its page, line, the words of its info string, and where its text is in the page."""

    page: Path
    line: int
    words: tuple[str, ...]
    text: str
    span: tuple[int, int]

    @property
    def file(self) -> str | None:
        return next((word.removeprefix("file=") for word in self.words if word.startswith("file=")), None)

    @property
    def is_session(self) -> bool:
        return self.words[:2] == ("console", "session")

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a session and what the page says that it prints."""

    command: str
    output: str


def pages() -> list[Path]:
    """README, CONTRIBUTING and the guides; pages that a program makes have tests of their own."""
    made = {"manifest.md", "proof.md", "benchmarks.md", "mutants.md"}
    guides = sorted(path for path in (ROOT / "docs").glob("*.md") if path.name not in made)
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *guides]


def blocks(page: Path, *first: str) -> list[Block]:
    """The blocks of a page whose info string starts with these words."""
    text = page.read_text(encoding="utf-8")
    items = []
    for match in _FENCE.finditer(text):
        words = tuple(match["info"].split())
        if words[: len(first)] == first:
            line = text.count("\n", 0, match.start()) + 1
            items.append(Block(page, line, words, match["text"], match.span("text")))
    return items


def steps(text: str) -> Iterator[Step]:
    """The commands of a console block; `> ` goes on with the command above."""
    command: list[str] = []
    output: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield Step("\n".join(command), "".join(output))
            command, output = [line[2:]], []
        elif line.startswith("> ") and command and not output:
            command.append(line[2:])
        else:
            output.append(line + "\n")
    if command:
        yield Step("\n".join(command), "".join(output))


def session_output(page: Path, directory: Path) -> dict[Block, list[str]]:
    """Runs what a page shows, top to bottom in one shell in `directory`: per session block, what each command printed."""
    script = ["exec 2>&1 </dev/null"]
    for block in blocks(page):
        if block.file is not None:
            script.append(f"mkdir -p \"$(dirname '{block.file}')\"")
            script.append(f"cat > '{block.file}' <<'{_END}'\n{block.text}{_END}")
        elif block.is_session:
            for step in steps(block.text):
                # The status goes on, so that a page may show `echo $?`.
                script.append(f"(exit ${{status:-0}})\n{step.command}\nstatus=$?\nprintf '%s' '{_END}'")
    kept = {name: value for name, value in os.environ.items() if name.startswith(("CLUSTERGEN_", "XDG_", "PYTHONPATH"))}
    environment = {
        **kept,
        "HOME": os.environ.get("HOME", "/"),
        "PATH": f"{Path(sys.executable).parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        ["/bin/bash", "-c", "\n".join(script)],
        cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, timeout=300, check=True,
    )  # fmt: skip
    printed = iter(done.stdout.split(_END))
    return {block: [next(printed) for _ in steps(block.text)] for block in blocks(page, "console", "session")}


def agrees(shown: str, printed: str) -> bool:
    """True if a page's output is what was printed.

    `…` stands for any text, alone on a line for any number of lines. Columns may be wider or narrower. Versions of the
    programs in rows of `verify` may be others: distributions update them within a release.
    """
    parts = re.split(r"(^…\n|…)", _narrow(shown), flags=re.MULTILINE)
    pattern = "".join(
        r"(?:.*\n)*?" if part == "…\n" else "[^\n]*?" if part == "…" else re.escape(part) for part in parts
    )
    return re.fullmatch(pattern, _narrow(printed)) is not None


def _narrow(text: str) -> str:
    rows = re.sub(r"^(passed +\S.*?) \d[\w.+~…-]*(?=  )", r"\1 VERSION", text, flags=re.MULTILINE)
    return re.sub(r"(?<=\S)  +", "  ", rows)


def updated(page: Path, directory: Path) -> str:
    """The page's text with the output of today wherever it shows another."""
    text = page.read_text(encoding="utf-8")
    for block, printed in reversed(session_output(page, directory).items()):
        shown = []
        for step, output in zip(steps(block.text), printed, strict=True):
            first, *more = step.command.split("\n")
            shown.append("".join([f"$ {first}\n", *(f"> {line}\n" for line in more)]))
            shown.append(step.output if agrees(step.output, output) else output)
        text = text[: block.span[0]] + "".join(shown) + text[block.span[1] :]
    return text


def anchors(page: Path) -> set[str]:
    """The places in a page that a link may name, as GitHub makes them of headings."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head).lower()).replace(" ", "-")
        for head in headings
    }


def links(page: Path) -> list[str]:
    """Targets of a page's links to other files and to its own headings."""
    text = re.sub(r"`[^`\n]*`", "", _FENCE.sub("", page.read_text(encoding="utf-8")))
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
