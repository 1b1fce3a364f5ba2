"""Shell completion: names of codes, fields, checks and rows of the catalogue, each with a description."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
_FILE = "file"


def _matching(names: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    described = {name: text for name, text in names if name.startswith(incomplete)}
    return [CompletionItem(name, help=text or None) for name, text in described.items()]


def files(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """For arguments that are no `click.Path`, as they may be something else too."""
    return [CompletionItem(incomplete, type=_FILE)]


def codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Diagnostic codes."""
    from clustergen.diagnostics import CODES

    return _matching(((entry.code, entry.title) for entry in CODES.values()), incomplete)


def separated(complete: Completer) -> Completer:
    """Several names with commas between them; the last one is completed."""

    def last(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, name = incomplete.rpartition(",")
        return [CompletionItem(f"{before}{comma}{item.value}", help=item.help) for item in complete(ctx, param, name)]

    return last


code_list = separated(codes)


def explained(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Completion of the arguments of `clustergen explain`: a code, a field or a manifest; after a manifest, a field or
    a file.
    """
    from clustergen.diagnostics import CODES
    from clustergen.explain.about import field_names
    from clustergen.hardware.drift.kinds import KINDS

    names = _matching(field_names(), incomplete)
    if not ctx.params.get("arguments"):
        kinds = _matching(((name, f"drift: {kind.cause}") for name, kind in KINDS.items()), incomplete)
        topics = {row.page: f"{row.topic}: its diagnostics" for row in CODES.values() if row.page}
        names = [*codes(ctx, param, incomplete), *_matching(topics.items(), incomplete), *kinds, *names]
    return names or files(ctx, param, incomplete)


def checks(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Checks of `clustergen verify`, as one word each, and components."""
    from clustergen.verify.checks import CHECKS, COMPONENTS

    names = [(check.name.replace(" ", "-"), check.what) for check in CHECKS]
    several = [(name, f"{len(checks)} checks") for name, checks in COMPONENTS.items() if len(checks) > 1]
    return _matching([*names, *several], incomplete)


check_list = separated(checks)


def rows(topic: str) -> Completer:
    """Ids of one topic of the catalogue."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return _rows(topic, incomplete)

    return complete


def topics(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Topics of the catalogue."""
    from clustergen.catalogue.topics import TOPICS

    return _matching(((topic.name, topic.summary) for topic in TOPICS.values()), incomplete)


def names_of_topic(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the topic that stands before."""
    return _rows(ctx.params.get("topic") or "", incomplete)


def suites(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Debian releases of `clustergen setup parsers`."""
    from clustergen.setup.parsers import SUITES

    return _matching(((suite, "") for suite in SUITES), incomplete)


def _rows(name: str, incomplete: str) -> list[CompletionItem]:
    from clustergen.catalogue.topics import TOPICS

    topic = TOPICS.get(name)
    return _matching(((topic.id(row), topic.title(row)) for row in topic.rows()), incomplete) if topic else []
