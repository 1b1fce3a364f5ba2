"""Diagnostics as workflow commands: GitHub shows each as an annotation on the line of the pull request.

Source: "Workflow commands for GitHub Actions"; the escapes are those of the runner's own toolkit (actions/toolkit,
packages/core/src/command.ts): `%`, CR and LF in a message; `:` and `,` too in a property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clustergen.diagnostics.codes import Severity
from clustergen.diagnostics.model import Diagnostic

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(diagnostics: Sequence[Diagnostic]) -> str:
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties: dict[str, str | int] = {}
    place = diagnostic.place
    if place:
        properties["file"] = place.file
        if place.line:
            properties |= {"line": place.line, "endLine": place.line, "col": place.column}
            # GitHub counts the last column in, and takes an annotation without one as a point.
            if place.end_column > place.column:
                properties["endColumn"] = place.end_column - 1
    properties["title"] = diagnostic.code
    message = diagnostic.message + (f"\nhint: {diagnostic.hint}" if diagnostic.hint else "")
    return command(_COMMANDS[diagnostic.severity], properties, message)


def command(name: str, properties: Mapping[str, str | int], message: str) -> str:
    """A workflow command: `error`, `warning` or `notice` with its properties, escaped."""
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
