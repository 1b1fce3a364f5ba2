"""List the systems, GPUs, NICs, switches and releases that a manifest can name."""

from __future__ import annotations

from typing import Any

import click

from clustergen.cli.complete import names_of_topic, topics
from clustergen.cli.exit_codes import exit_codes
from clustergen.diagnostics import ClustergenError, quote
from clustergen.diagnostics.document import json_document


@exit_codes("listed", "", "the catalogue has no such topic or name", "")
@click.command("catalogue")
@click.argument("topic", metavar="[TOPIC | TEXT]", required=False, shell_complete=topics)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=names_of_topic)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(topic: str | None, name: str | None, form: str) -> None:
    """List the hardware, operating systems and releases that a manifest can name.

    TOPIC is systems, gpus, nics, switches, rates, mig, os or slurm; without one, the topics are listed. With NAME, an
    id or alias, every fact that the catalogue holds of it is shown with its sources. Any other TEXT, such as l40s, is
    searched for in all topics. Values that no source confirmed are marked.
    """
    from clustergen.catalogue import show
    from clustergen.catalogue.topics import TOPICS
    from clustergen.diagnostics import did_you_mean

    if topic is None:
        document = {"topics": [{"name": t.name, "field": t.field} for t in TOPICS.values()]}
        _print(document if form == "json" else show.topics_text())
        return
    if topic not in TOPICS:
        _search(topic, name, form)
        return
    chosen = TOPICS[topic]
    if name is None:
        _print(show.list_json(chosen) if form == "json" else show.list_text(chosen))
        return
    row = chosen.find(name)
    if row is None:
        matches = " or ".join(chosen.id(match) for match in show.matching(chosen, name))
        listing = f"run clustergen catalogue {topic} for all names"
        elsewhere = next((other.name for other in TOPICS.values() if other.find(name) is not None), None)
        if elsewhere:
            listing = f"run clustergen catalogue {elsewhere} {name}"
        hint = f"use {matches}" if matches else did_you_mean(name, chosen.names()) or listing
        raise ClustergenError(f"the catalogue has no '{name}' among its {topic}", hint=hint, exit_code=2)
    _print(show.row_json(chosen, row) if form == "json" else show.row_text(chosen, row) + _variants(topic, name))


def _variants(topic: str, name: str) -> str:
    """Other GPUs that the name may mean, as a line of their own."""
    from clustergen.catalogue.hardware import gpu_variants

    others = ", ".join(other.title for other in gpu_variants(name)) if topic == "gpus" else ""
    return f"\n  {quote(name)} can also mean {others}\n" if others else ""


def _search(words: str, name: str | None, form: str) -> None:
    """The rows of all topics that match; a misspelt topic is no text to search for."""
    from clustergen.catalogue import show
    from clustergen.catalogue.topics import TOPICS
    from clustergen.diagnostics import did_you_mean

    guess = did_you_mean(words, TOPICS)
    text = "" if guess or name is not None else show.search_text(words)
    if not text:
        hint = guess or "run clustergen catalogue for the topics"
        what = f"no topic {quote(words)}" if guess or name is not None else f"nothing that matches {quote(words)}"
        raise ClustergenError(f"the catalogue has {what}", hint=hint, exit_code=2)
    _print(show.search_json(words) if form == "json" else text)


def _print(document: str | dict[str, Any]) -> None:
    click.echo(document if isinstance(document, str) else json_document(document), nl=False)
