"""The record of a diagnostic code."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How bad it is. An error stops the command; a warning and an info do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(NamedTuple):
    """One kind of diagnostic.

    `exit_code` is what the command ends with when an error of this code is the worst: 2, the input is invalid; 3, the
    environment failed (the file cannot be read at all).
    """

    code: str
    severity: Severity
    title: str
    exit_code: int = 2
    topic: str = ""

    @property
    def page(self) -> str:
        """The name of the topic's page, in lower case with hyphens: as its headings, an anchor."""
        return "".join(letter for letter in self.topic.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
