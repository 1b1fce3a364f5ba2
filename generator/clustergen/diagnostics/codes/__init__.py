"""Every diagnostic code: its severity and its title. `docs/codes/<topic>.md` holds the why and the examples.

A module per group of topics has a line per code, so that two changes that add a code each do not touch the same line.
A text in its table opens a topic, which is a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from clustergen.diagnostics.codes.fabric_check import FABRIC_CHECK
from clustergen.diagnostics.codes.files import FILES
from clustergen.diagnostics.codes.machines import MACHINES
from clustergen.diagnostics.codes.model import Code, Severity
from clustergen.diagnostics.codes.reading import READING
from clustergen.diagnostics.codes.services import SERVICES
from clustergen.diagnostics.codes.slurm import SLURM
from clustergen.feature import Attributed, ExtensionError, check_fields, described, extension_of, modules

__all__ = ["CODES", "Code", "Severity"]

_CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def _with_topics(*tables: tuple[str | Code, ...]) -> Iterator[Code]:
    for table in tables:
        topic = ""
        for entry in table:
            if isinstance(entry, str):
                topic = entry
            else:
                yield entry._replace(topic=topic)


@cache
def _codes() -> dict[str, Code]:
    """By code, those of features last. ExtensionError for one that two have."""
    codes = {entry.code: entry for entry in _with_topics(READING, MACHINES, SLURM, SERVICES, FILES, FABRIC_CHECK)}
    for module in modules("codes"):
        with Attributed(module.__name__):
            entries = list(_with_topics(module.CODES))
            if extension_of(module.__name__):
                check_fields(entries)
                if wrong := [entry.code for entry in entries if not _CODE.fullmatch(entry.code)]:
                    raise ValueError(f"CODES: write {wrong[0]!r} in lower-case letters, digits and hyphens")
                if any(not entry.page for entry in entries):
                    raise ValueError("CODES: write a topic before the codes; their page is codes/TOPIC.md")
        for entry in entries:
            if entry.code in codes:
                raise ExtensionError(
                    f"{described(module.__name__)} defines the code {entry.code}, which is in use", "rename it"
                )
            codes[entry.code] = entry
    return codes


class _Codes(Mapping[str, Code]):
    """Collected when somebody asks, since options decide whether extensions count."""

    def __getitem__(self, code: str) -> Code:
        return _codes()[code]

    def __iter__(self) -> Iterator[str]:
        return iter(_codes())

    def __len__(self) -> int:
        return len(_codes())


CODES = _Codes()
