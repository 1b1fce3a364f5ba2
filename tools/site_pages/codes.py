"""The index of diagnostic codes, by topic and severity, from the table of codes: for the site, and for a forge."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from clustergen.diagnostics import CODES, Code, Severity

INTRO = """# Codes of diagnostics

Every diagnostic has a code, and every code an explanation with the reason, a wrong example and a right one.
`clustergen explain CODE` prints it in a terminal. An error stops the command; a warning and an info do not.
"""
MARKS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}


def codes() -> tuple[Code, ...]:
    """All codes, those of a topic together and errors first."""
    order = list(Severity)
    topics = list(dict.fromkeys(code.topic for code in CODES.values()))
    return tuple(
        sorted(CODES.values(), key=lambda code: (topics.index(code.topic), order.index(code.severity), code.code))
    )


def index() -> str:
    """The page of the site, where each code has a page."""
    tables = _tables(lambda code: f"codes/{code.code}.md", mark)
    return f"{INTRO}\n{_counts()}{tables}\n```{{toctree}}\n:hidden:\n:glob:\n\ncodes/*\n```\n"


def readme() -> str:
    """The page that a forge shows for docs/codes/, where each topic has a page. Without counts, on which any two
    branches with a new code would conflict.
    """
    return INTRO + _tables(lambda code: f"{code.page}.md#{code.code}", lambda code: str(code.severity))


def _tables(target: Callable[[Code], str], severity: Callable[[Code], str]) -> str:
    parts = []
    for topic, members in groupby(codes(), key=lambda code: code.topic):
        parts.append(f"\n## {topic}\n\n| code | severity | what it reports |\n|---|---|---|\n")
        parts += [f"| [{code.code}]({target(code)}) | {severity(code)} | {code.title} |\n" for code in members]
    return "".join(parts)


def mark(code: Code) -> str:
    """The severity, with a class that gives it a colour."""
    return f"[{code.severity}]{{.severity .{code.severity}}}"


def with_facts(page: str, code: Code) -> str:
    """The page of a code with a colour and the topic in the line of severity and title below the heading."""
    heading, _, rest = page.partition("\n")
    rest = rest.removeprefix(f"\n**{code.severity}** · {code.title}\n")
    return f"{heading}\n\n{mark(code)} {code.title} · [{code.topic}](../codes.md#{code.page})\n{rest}"


def _counts() -> str:
    counts = {severity: sum(code.severity is severity for code in CODES.values()) for severity in Severity}
    return (
        f"{len(CODES)} codes: " + ", ".join(f"{count} {MARKS[severity]}" for severity, count in counts.items()) + ".\n"
    )
