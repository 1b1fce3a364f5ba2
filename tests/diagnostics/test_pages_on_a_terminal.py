"""Pages of codes on a terminal."""

from __future__ import annotations

import pytest

from clustergen.diagnostics.pages import page, without_links


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("with [a\nname](../site-files.md#x-y), as", "with a\nname (documentation, page site-files), as"),
        ("[`init`](../init.md)", "`init` (documentation, page init)"),
        ("[out](https://example.org)", "[out](https://example.org)"),
    ],
)
def test_a_link_keeps_its_text_and_names_its_page(markdown: str, text: str) -> None:
    assert without_links(markdown) == text


def test_the_sentence_of_a_page_stays_whole() -> None:
    shown = without_links(page("site-template-fails") or "")
    assert "values of the cluster (documentation, page site-files) as its only variable" in shown
