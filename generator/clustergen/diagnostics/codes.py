"""Every diagnostic code: its severity and its title. `docs/codes/<code>.md` holds the why and the examples."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is. An error stops the command; a warning and an info do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Code:
    """One kind of diagnostic.

    `exit_code` is what the command ends with when an error of this code is the worst: 2, the input is invalid; 3, the
    environment failed (the file cannot be read at all).
    """

    code: str
    severity: Severity
    title: str
    exit_code: int = 2


ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO

# One line per code, by topic, so that two changes that add a code each do not touch the same line.
_TABLE = (
    # reading the file
    Code("file-unreadable", ERROR, "The file cannot be read", exit_code=3),
    Code("file-too-large", ERROR, "The file is larger than any manifest"),
    Code("file-not-utf8", ERROR, "The file is not UTF-8 text"),
    # YAML
    Code("yaml-syntax", ERROR, "The file is not valid YAML"),
    Code("yaml-tab", ERROR, "A tab stands where YAML wants spaces"),
    Code("yaml-duplicate-key", ERROR, "A key stands twice in one mapping"),
    Code("yaml-too-deep", ERROR, "Too many levels inside one another"),
    Code("yaml-too-many-aliases", ERROR, "Aliases expand to too much"),
    Code("yaml-tag", ERROR, "A YAML tag is not allowed"),
    Code("yaml-merge-key", ERROR, "Merge keys are not part of YAML 1.2"),
    Code("yaml-many-documents", ERROR, "The file holds more than one YAML document"),
    # the manifest's shape
    Code("manifest-empty", ERROR, "The manifest says nothing"),
    Code("manifest-not-a-mapping", ERROR, "The manifest is not a mapping of sections"),
    Code("key-unknown", ERROR, "No such key here"),
    Code("key-missing", ERROR, "A required key is missing"),
    Code("type-wrong", ERROR, "A value is of the wrong type"),
    Code("value-not-allowed", ERROR, "A value is none of those allowed"),
    Code("value-out-of-range", ERROR, "A value is too small, too large, too short or too long"),
    Code("text-malformed", ERROR, "A text does not have the form it must have"),
    Code("unit-wrong", ERROR, "A quantity has no unit, or the wrong one"),
    Code("hostlist-syntax", ERROR, "A host list cannot be read"),
    Code("secret-in-manifest", ERROR, "A secret stands in the manifest"),
)

CODES: dict[str, Code] = {entry.code: entry for entry in _TABLE}
