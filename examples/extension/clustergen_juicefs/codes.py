"""Codes of JuiceFS; `codes/juicefs.md` explains them."""

from __future__ import annotations

from clustergen.diagnostics.codes.model import ERROR, Code

CODES = ("JuiceFS", Code("juicefs-port-twice", ERROR, "Two JuiceFS mounts with one port for metrics"))
