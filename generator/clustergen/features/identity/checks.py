"""SSSD reads its file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import Check, Question, Reader, failure, paths
from clustergen.verify.programs import Answer

# It refuses a file that others can read, which those in the sandbox are.
_CHECK = r"""
install -m 600 "$1" /tmp/sssd.conf; mkdir /tmp/none
"$program" config-check --config=/tmp/sssd.conf --snippet=/tmp/none
"""
_HARMLESS = re.compile(r"^(Issues identified|Messages generated|Used configuration snippet).*: \d+$|^\s*$")


def _sssctl(answer: Answer, _question: Question) -> Iterator[str]:
    yield from (line for line in failure(answer) if not _HARMLESS.match(line))


COMPONENT = "host"
CHECKS = (
    Check(
        name="SSSD",
        what="users of the directory: SSSD",
        parser="sssctl config-check",
        proves="SSSD knows every section and option. It reads no value, no certificate and no password, and asks no"
        " server.",
        reads=paths("/etc/sssd/sssd.conf"),
        ask=Reader("sssctl", "sssd --version", _CHECK, _sssctl),
    ),
)
