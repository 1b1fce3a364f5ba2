"""Values of lines NAME=VALUE without quotes, by which files set environment variables of jobs."""

from __future__ import annotations

from clustergen.catalogue.nccl import LONGEST_VALUE


def unprintable(text: str) -> str | None:
    """Why such a line cannot hold a value as it is meant; None where it can."""
    if text != text.strip() or text[:1] in ("'", '"'):
        return "the file format has no quotes: quotes and blanks around a value would become part of it"
    if len(text) > LONGEST_VALUE:
        return f"the value has {len(text)} characters; only the first {LONGEST_VALUE} are read"
    return None
