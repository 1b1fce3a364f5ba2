"""Codes of JuiceFS; `codes/` has a page for each."""

from __future__ import annotations

from clustergen.diagnostics.codes.model import ERROR, Code

CODES = ("JuiceFS", Code("juicefs-port-twice", ERROR, "Two JuiceFS mounts with one port for metrics"))
