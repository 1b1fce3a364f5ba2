"""Central logs before rsyslogd."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.verify.check import Check, Question, Reader, failure, paths
from clustergen.verify.programs import Answer

_CERTIFICATE = re.compile(r'^\s*tls\.(?:caCert|myCert|myPrivKey)="(/[^"]+)"', re.MULTILINE)
_PASSWORD = re.compile(r"^\s*pwd=`cat (/[^`]+)`", re.MULTILINE)


def _logging_node(question: Question, directory: Path) -> Iterator[tuple[Path, str]]:
    """Surroundings that rsyslogd expects on a node: the spool directory of its package, and certificates, here
    empty.
    """
    (directory / "var/spool/rsyslog").mkdir(parents=True, exist_ok=True)
    for entry in question.entries:
        for path in _CERTIFICATE.findall(entry.text):
            place = directory / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        for path in _PASSWORD.findall(entry.text):
            place = directory / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("none", encoding="ascii")
    yield directory, "/"


def _rsyslog(answer: Answer, _question: Question) -> list[str]:
    """rsyslogd reports a rejected statement, and goes on without it."""
    harmless = re.compile(r"config validation run|running as pid 1|^\s*$")
    return [line for line in answer.err.splitlines() if not harmless.search(line)] or failure(answer)


COMPONENT = "host"
CHECKS = (
    Check(
        name="rsyslog",
        what="central logs",
        parser="rsyslogd -N1",
        proves="rsyslogd accepts every statement, beside the configuration of its package. It contacts no collector,"
        " and certificates are not read.",
        reads=paths("/etc/rsyslog.d/*"),
        ask=Reader(
            "rsyslogd",
            "$program -v | head -1",
            '"$program" -N1 -f /etc/rsyslog.conf',
            _rsyslog,
            stand_ins=_logging_node,
        ),
    ),
)
