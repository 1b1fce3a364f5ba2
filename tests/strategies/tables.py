"""The catalogue's names as tables of the guides, between `<!-- catalogue: NAME -->` and `<!-- end -->`."""

from __future__ import annotations

import re

from clustergen.catalogue.labels import unconfirmed
from clustergen.catalogue.topics import TOPICS

_PLACE = re.compile(r"(<!-- catalogue: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page's text with its tables as the catalogue has them today."""
    return _PLACE.sub(lambda match: match[1] + "\n" + _table(match[2]) + "\n" + match[3], text)


def _table(topic_name: str) -> str:
    topic = TOPICS[topic_name]
    head = [column.title for column in topic.columns]
    rows = [
        [f"`{text}`" if column.is_code else text for column in topic.columns for text in (column.text(row),)]
        for row in topic.rows()
    ]
    head.append("not confirmed")
    rows = [[*row, unconfirmed(catalogue_row)] for row, catalogue_row in zip(rows, topic.rows(), strict=True)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"
