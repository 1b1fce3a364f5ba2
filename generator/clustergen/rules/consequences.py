"""Findings that only follow from another one: the cause alone is reported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from clustergen.diagnostics import Finding

_CAUSES = {
    "link-without-cable": ("switch-too-slow", "switch-fabric"),
    "qos-unused": ("qos-not-allowed",),
    "qos-not-allowed": ("qos-unknown",),
    "program-writable": ("mount-over-system",),
    "slurm-key-ignored": ("slurm-key-managed",),
    "nccl-prefix-match": ("nccl-value-wrong",),
    "user-guide-partition": ("node-unknown",),
    "mount-without-clients": ("node-type-unknown",),
}
"""Code → codes of errors that it may follow from."""


def causes_only(findings: Iterable[Finding], resolving: Iterable[Finding] = ()) -> Iterator[Finding]:
    """The findings without those that follow from another one, or from one of `resolving`: of the same network, of the
    same name, or any for a finding that has no name.
    """
    listed = list(findings)
    codes = {code for causes in _CAUSES.values() for code in causes}
    causing = [finding for finding in (*resolving, *listed) if finding.code in codes]
    for finding in listed:
        causes = _CAUSES.get(finding.code, ())
        if not any(other.code in causes and _share_topic(finding, other) for other in causing):
            yield finding


def _share_topic(one: Finding, other: Finding) -> bool:
    if one.path[0] == other.path[0] == "networks":
        return one.path[1] == other.path[1]
    names = _quoted(one)
    return not names or not names.isdisjoint(_quoted(other))


def _quoted(finding: Finding) -> set[str]:
    return set(re.findall("'([^']+)'", finding.message))
