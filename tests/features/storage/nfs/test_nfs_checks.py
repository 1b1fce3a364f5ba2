"""Verdicts of the checks of NFS on the output of its programs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clustergen.verify.check import Reader
from clustergen.verify.checks import CHECKS
from clustergen.verify.files import Entry
from clustergen.verify.programs import Answer


def complaints(check: str, out: str, text: str) -> list[str]:
    """Verdict of a check if a program that read the text prints `out`."""
    reader = next(one.ask for one in CHECKS if one.name == check)
    assert isinstance(reader, Reader)
    question: Any = SimpleNamespace(entries=(Entry("x", text.encode(), target="/etc/x"),))
    return list(reader.complaints(Answer("2.6", 0, out, "", {}), question))


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("/export/home 10.0.0.0/24(rw)\n/export/data 10.0.0.0/24(ro)\n", []),
        ("/export/home 10.0.0.0/24(rw)\n", ["not exported: /export/data 10.0.0.0/24(ro)"]),
    ],
)
def test_exportfs_lists_every_export(out: str, expected: list[str]) -> None:
    text = '# home\n"/export/home" 10.0.0.0/24(rw)\n/export/data 10.0.0.0/24(ro)\n'
    assert complaints("exportfs", out, text) == expected


@pytest.mark.parametrize(
    ("out", "expected"),
    [
        ("[nfsd]\n threads = 64\n", []),
        ("[nfsd]\n threads = 8\n", ["not in nfsconf --dump: threads=64"]),
    ],
)
def test_nfsconf_has_every_setting(out: str, expected: list[str]) -> None:
    assert complaints("nfsconf", out, "[nfsd]\n# a note = 1\nthreads=64\n") == expected
