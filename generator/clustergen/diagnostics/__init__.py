"""Diagnostics on the user's input, and the formats in which they are printed.

A rule yields `Finding`s (a code, a path into the manifest, a message); the manifest's `Source` knows where that path
stands in the file and makes `Diagnostic`s of them; `render` prints those as text, JSON, workflow commands or SARIF.
"""

from __future__ import annotations

from clustergen.diagnostics.codes import CODES, Code, Severity
from clustergen.diagnostics.formats import FORMATS, render, wants_colour
from clustergen.diagnostics.model import (
    ClustergenError,
    Diagnostic,
    Finding,
    ManifestPath,
    Place,
    Problem,
    exit_code,
    in_file_order,
)
from clustergen.diagnostics.words import did_you_mean, one_of, printable, quote, shortened, suggest, where

__all__ = [
    "CODES",
    "FORMATS",
    "ClustergenError",
    "Code",
    "Diagnostic",
    "Finding",
    "ManifestPath",
    "Place",
    "Problem",
    "Severity",
    "did_you_mean",
    "exit_code",
    "in_file_order",
    "one_of",
    "printable",
    "quote",
    "render",
    "shortened",
    "suggest",
    "wants_colour",
    "where",
]
