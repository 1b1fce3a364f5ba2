"""A manifest file as it stands on disk: its text, its plain data, and the place of every value in it.

Anything at all may be given as a manifest: what cannot be read, is no text or is no YAML ends in diagnostics.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clustergen.diagnostics import Diagnostic, Finding, ManifestPath, Place, in_file_order, quote
from clustergen.diagnostics.secrets import find_secrets, mask_line_values
from clustergen.diagnostics.yaml_words import Problem
from clustergen.manifest.yaml_load import Node, parse

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

MAX_BYTES = 10_000_000
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class Source:
    """One manifest. `data` is None when the file holds no mapping that a model could be built from.

    `text` is for excerpts: values that look like secrets are masked in it, character by character.
    """

    def __init__(self, name: str, raw: bytes, diagnostics: Iterable[Diagnostic] = ()) -> None:
        self.name = name
        self.raw = raw
        self.text = ""
        self.data: dict[str, Any] | None = None
        self.diagnostics = list(diagnostics)
        self._root: Node | None = None
        self._refused: frozenset[ManifestPath] = frozenset()
        if not self.diagnostics:
            self._read()

    @cached_property
    def sha256(self) -> str:
        """Hash of the file's bytes, in hexadecimal."""
        import hashlib

        return hashlib.sha256(self.raw).hexdigest()

    def place(self, path: ManifestPath, key: bool = False, at: tuple[int, int] | None = None) -> Place:
        """Where a path of the manifest stands: its value's span, its `key`'s, or the span `at` inside a scalar.

        A value of several lines gives its first. A path that is not there gives the nearest key that is.
        """
        return self._span(*self._find(path, key, at))

    def written(self, path: ManifestPath) -> str | None:
        """A scalar as the file has it, quotes included: `24.10` where the data holds 24.1. None for anything else."""
        node = self._node(path)
        return self._text[node.start : node.end] if node and node.children is None and node.style != "*" else None

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """A rule's finding, at its place."""
        place = self.place(finding.path, finding.key, finding.at)
        return Diagnostic.of(finding.code, place, finding.message, finding.hint)

    def diagnose(self, findings: Iterable[Finding]) -> list[Diagnostic]:
        """Findings at their places, in file order. What was refused as a secret is not spoken of again."""
        return in_file_order(self.diagnostic(found) for found in findings if found.path not in self._refused)
