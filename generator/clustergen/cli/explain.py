"""`clustergen explain CODE`: the page of a diagnostic."""

from __future__ import annotations

import click

from clustergen.diagnostics import CODES, ClustergenError, did_you_mean
from clustergen.diagnostics.pages import page

_ALL = "`clustergen explain` lists all codes"


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Tell why the diagnostic CODE exists, with a wrong and a right example; without CODE, list them all."""
    if code is None:
        for entry in CODES.values():
            click.echo(f"{entry.code:28} {entry.severity:8} {entry.title}")
        return
    if code not in CODES:
        raise ClustergenError(f"no diagnostic is called '{code}'", hint=did_you_mean(code, CODES) or _ALL, exit_code=2)
    text = page(code)
    if text is None:
        raise ClustergenError(f"the page of '{code}' is missing here", hint="install clustergen again")
    click.echo(text, nl=False)
