"""What `clustergen verify` reads: mount units of JuiceFS, which every user of a node may read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from clustergen.verify.check import Check, Trial
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row

_SOURCE = re.compile(r"^What=(.*)$", re.MULTILINE)


def _is_juicefs(place: str, text: str) -> bool:
    return place.endswith(".mount") and "\nType=juicefs\n" in text


def _ask(check: Check, _: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    complaints = []
    for entry in entries:
        for source in _SOURCE.findall(entry.text):
            parts = urlsplit(source)
            if not parts.hostname or parts.password:
                complaints.append(
                    f"{entry.path}: {'a password in' if parts.password else 'no host in'} {parts.scheme}://…"
                )
    yield check.judged(entries, complaints, (), "")


CHECKS = (
    Check(
        name="juicefs",
        what="JuiceFS: metadata engines",
        parser="urllib.parse",
        proves="Each URL has a host and no password. No engine is asked.",
        reads=_is_juicefs,
        ask=_ask,
    ),
)
