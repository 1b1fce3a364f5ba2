"""JSON, workflow commands and SARIF: a program reads back the same diagnostics."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.diagnostics import Diagnostic, Place, Severity, render
from clustergen.diagnostics.suppressions import Suppressed

DIAGNOSTICS = [
    Diagnostic.of("key-unknown", Place("site/m.yaml", 2, 9, 12), "no 'h10'", "did you mean 'h100'?"),
    Diagnostic("node-type-unused", Severity.WARNING, Place("site/m.yaml", 3, 1, 1), "unused"),
    Diagnostic.of("file-unreadable", Place("a,b:c%d é.yaml"), "100%\nbroken"),
    Diagnostic.of("file-unreadable", None, "nowhere"),
]


def test_json_holds_everything() -> None:
    data = json.loads(render(DIAGNOSTICS, "json"))
    assert data["version"] == 1
    assert data["counts"] == {"error": 3, "warning": 1, "info": 0}
    assert data["diagnostics"][0] == {
        "code": "key-unknown",
        "severity": "error",
        "message": "no 'h10'",
        "hint": "did you mean 'h100'?",
        "file": "site/m.yaml",
        "line": 2,
        "column": 9,
        "end_column": 12,
    }
    assert [result["line"] for result in data["diagnostics"]] == [2, 3, None, None]
    assert data["diagnostics"][3]["file"] is None
    assert json.loads(render([], "json"))["diagnostics"] == []


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """Parse a workflow command like the runner: split first, unescape then."""
    assert line.startswith("::")
    head, _, message = line[2:].partition("::")
    command, _, rest = head.partition(" ")
    pairs = (pair.partition("=") for pair in rest.split(","))
    return command, {name: unescape(value, property=True) for name, _, value in pairs}, unescape(message)


def unescape(text: str, property: bool = False) -> str:
    if property:
        text = text.replace("%3A", ":").replace("%2C", ",")
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_workflow_commands() -> None:
    lines = render(DIAGNOSTICS, "github").splitlines()
    assert lines[0] == (
        "::error file=site/m.yaml,line=2,endLine=2,col=9,endColumn=11,title=key-unknown"
        "::no 'h10'%0Ahint: did you mean 'h100'?"
    )
    assert lines[1] == "::warning file=site/m.yaml,line=3,endLine=3,col=1,title=node-type-unused::unused"
    assert lines[2] == "::error file=a%2Cb%3Ac%25d é.yaml,title=file-unreadable::100%25%0Abroken"
    assert lines[3] == "::error title=file-unreadable::nowhere"


@pytest.mark.slow
@given(file=st.text(min_size=1), message=st.text(min_size=1), hint=st.none() | st.text(min_size=1))
def test_a_workflow_command_is_one_line_and_reads_back(file: str, message: str, hint: str | None) -> None:
    text = render([Diagnostic.of("key-unknown", Place(file, 1, 1, 2), message, hint)], "github")
    assert text.count("\n") == 1
    assert "\r" not in text
    command, properties, shown = read_command(text[:-1])
    assert command == "error"
    assert properties["file"] == file
    assert shown == message + (f"\nhint: {hint}" if hint else "")


# The part of SARIF 2.1.0 that we write, closed: a key that the standard does not have fails the test.
TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


REGION = closed(
    ["startLine"],
    startLine={"type": "integer", "minimum": 1},
    startColumn={"type": "integer", "minimum": 1},
    endColumn={"type": "integer", "minimum": 1},
)
ARTIFACT = closed(["uri"], uri={"type": "string", "pattern": r"^[A-Za-z0-9._~/%!$&'()*+,;=@-]+$|^file:///"})
RULE = closed(
    ["id"],
    id={"type": "string"},
    shortDescription=TEXT,
    fullDescription=TEXT,
    help=closed(["text"], text={"type": "string"}, markdown={"type": "string"}),
    defaultConfiguration=closed([], level=LEVEL),
)
RESULT = closed(
    ["message"],
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=TEXT,
    locations={
        "type": "array",
        "items": closed(["physicalLocation"], physicalLocation=closed([], artifactLocation=ARTIFACT, region=REGION)),
    },
    suppressions={
        "type": "array",
        "uniqueItems": True,
        "items": closed(["kind"], kind={"enum": ["inSource", "external"]}, justification={"type": "string"}),
    },
)
DRIVER = closed(
    ["name"],
    name={"type": "string"},
    semanticVersion={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    rules={"type": "array", "items": RULE, "uniqueItems": True},
)
RUN = closed(
    ["tool"],
    tool=closed(["driver"], driver=DRIVER),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": RESULT},
)
SARIF = closed(
    ["version", "runs"],
    **{"$schema": {"type": "string"}, "version": {"const": "2.1.0"}, "runs": {"type": "array", "items": RUN}},
)


def sarif(diagnostics: list[Diagnostic], suppressed: Sequence[Suppressed] = ()) -> dict[str, Any]:
    data = json.loads(render(diagnostics, "sarif", suppressed=suppressed))
    jsonschema.validate(data, SARIF)
    run: dict[str, Any] = data["runs"][0]
    return run


def test_sarif_says_what_was_found() -> None:
    run = sarif(DIAGNOSTICS)
    first = run["results"][0]
    assert first["message"]["text"] == "no 'h10'\nHint: did you mean 'h100'?"
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 2, "startColumn": 9, "endColumn": 12}
    assert [result["level"] for result in run["results"]] == ["error", "warning", "error", "error"]
    assert "locations" not in run["results"][3]


def test_sarif_lists_what_is_suppressed() -> None:
    suppressed = [Suppressed(DIAGNOSTICS[1], "comment", "planned"), Suppressed(DIAGNOSTICS[1], "baseline", "in b.json")]
    results = sarif(DIAGNOSTICS[:1], suppressed)["results"]
    assert [(result["ruleId"], result["suppressions"]) for result in results] == [
        ("key-unknown", []),
        ("node-type-unused", [{"kind": "inSource", "justification": "planned"}]),
        ("node-type-unused", [{"kind": "external", "justification": "in b.json"}]),
    ]
    assert all("suppressions" not in result for result in sarif(DIAGNOSTICS)["results"])


def test_sarif_rules_carry_their_pages() -> None:
    run = sarif(DIAGNOSTICS)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    page = next(rule for rule in rules if rule["id"] == "key-unknown")["help"]["markdown"]
    assert "## Wrong" in page


def test_sarif_of_nothing_is_still_a_run() -> None:
    assert sarif([])["results"] == []


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("m.yaml", "m.yaml"),
        ("a b/é.yaml", "a%20b/%C3%A9.yaml"),
        ("/srv/m.yaml", "file:///srv/m.yaml"),
        ("a:b?#", "a%3Ab%3F%23"),
    ],
)
def test_sarif_names_files_as_uris(file: str, uri: str) -> None:
    run = sarif([Diagnostic.of("key-unknown", Place(file, 1, 1, 2), "x")])
    result = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert result == uri
    assert unquote(result).endswith(file)
