"""Kernel settings before sysctl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.verify.check import PROGRAM_VERSION, Check, Question, Reader, effective_lines, paths
from clustergen.verify.programs import Answer

_OF_THE_SANDBOX = re.compile(r"cannot stat /proc/sys/\S+: No such file|setting key \"[^\"]+\": ")


def _sysctl(answer: Answer, _question: Question) -> Iterator[str]:
    if answer.code is None:
        yield "no answer in time"
    yield from (line for line in answer.err.splitlines() if line.strip() and not _OF_THE_SANDBOX.search(line))


def _not_in_kernel(_answer: Answer, question: Question) -> Iterator[str]:
    """The sandbox hides keys of the network; those that this machine lacks as well are reported."""
    keys = list(effective_lines(question))
    names = [key.partition("=")[0].strip().lstrip("-") for key in keys]
    absent = [name for name in names if not Path("/proc/sys", name.replace(".", "/")).exists()]
    yield f"{len(names)} keys" + (f"; this machine's kernel does not have {' '.join(absent)}" if absent else "")


COMPONENT = "host"
CHECKS = (
    Check(
        name="sysctl",
        what="kernel settings",
        parser="sysctl --dry-run",
        proves="Every line is a key and a value. Whether the node's kernel has the key is checked only for keys of"
        " this machine's kernel; values are not applied.",
        reads=paths("/etc/sysctl.d/*"),
        ask=Reader(
            "sysctl",
            PROGRAM_VERSION,
            'for file; do "$program" --dry-run -p "$file"; done',
            _sysctl,
            _not_in_kernel,
            newest=True,
        ),
    ),
)
