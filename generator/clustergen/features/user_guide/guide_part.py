"""A section of the guide for users."""

from __future__ import annotations

from clustergen.records import record
from clustergen.render.views.tables import Table


@record
class Part:
    """A section: sentences, then commands, then tables. `after`: sentences below the commands."""

    title: str
    sentences: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
