"""The built site is whole: no dead link, nothing from the network, and generated pages with all of their tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from clustergen.diagnostics import CODES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from site_pages import live_changes, manifest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


@cache
def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_bytes(), "html.parser")


@cache
def identifiers(path: Path) -> frozenset[str]:
    return frozenset(tag["id"] for tag in soup(path).find_all(id=True))


@cache
def pages(site: Path) -> list[Path]:
    """All pages, without the theme's own files."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def references(site: Path) -> Iterator[tuple[Path, str]]:
    """Every address that a page names, with the page."""
    for page in pages(site):
        for attribute in ("href", "src"):
            for tag in soup(page).find_all(attrs={attribute: True}):
                yield page, tag[attribute]


def dead(page: Path, address: str, site: Path) -> bool:
    """Whether a link leads to no file of the site, or to no place in it."""
    parts = urlsplit(address)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file() or not target.is_relative_to(site):
        return True
    return bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in identifiers(target)


def test_no_link_is_dead(site: Path) -> None:
    checked = {
        (page, address)
        for page, address in references(site)
        if not urlsplit(address).scheme and page.name not in ("genindex.html", "search.html")
    }
    assert len(checked) > 5000
    assert (
        sorted(f"{page.relative_to(site)}: {address}" for page, address in checked if dead(page, address, site)) == []
    )


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = [
        tag.get("src") or tag.get("href")
        for page in pages(site)
        for tag in soup(page).find_all(["script", "img", "link", "iframe"])
    ]
    assert [address for address in loaded if address and urlsplit(address).scheme not in ("", "data")] == []


def test_every_code_is_in_the_index_with_its_severity(site: Path) -> None:
    rows = {}
    for row in soup(site / "codes.html").select("article tbody tr"):
        code, severity, title = (cell.get_text(strip=True) for cell in row.find_all("td"))
        rows[code] = severity, title
    assert set(rows) == set(CODES)
    assert {code for code, (severity, _) in rows.items() if severity != CODES[code].severity} == set()


def test_every_code_has_a_topic() -> None:
    assert [code.code for code in CODES.values() if not code.topic] == []


def test_every_page_is_in_the_navigation(site: Path) -> None:
    """From the first page, all pages can be reached by the links of the navigation and of the index of codes."""
    reached, todo = set(), [site / "index.html"]
    while todo:
        page = todo.pop()
        if page not in reached and page.suffix == ".html" and page.is_file():
            reached.add(page)
            todo += [(page.parent / urlsplit(tag["href"]).path).resolve() for tag in soup(page).select("a[href]")]
    made = {site / "genindex.html", site / "search.html"}
    assert set(pages(site)) - reached - made == set()


def test_the_committed_reference_of_the_manifest_has_todays_fields() -> None:
    """Its examples may differ: they follow the guides and the inventories."""

    def tables(page: str) -> list[str]:
        return [line for line in page.splitlines() if line.startswith(("#", "|"))]

    committed = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    assert tables(committed) == tables(manifest.page()), "tools/update-manifest-reference writes it"


def test_a_field_has_an_anchor_and_an_index_entry(site: Path) -> None:
    path = "slurm.partitions.NAME.max_time"
    assert path in identifiers(site / "manifest.html")
    assert '"slurm.partitions.max_time"' in (site / "searchindex.js").read_text(encoding="utf-8")


def test_what_may_be_changed_live_has_the_answers_of_the_effects() -> None:
    rows = [line for line in live_changes.page().splitlines() if line.startswith("| ")]
    keys = [row for row in rows if "<br>`AuthType` |" in row]
    assert len(keys) == 2  # of slurm.conf and slurmdbd.conf
    assert all("**idle cluster**" in row for row in keys)
    (limit,) = (row for row in rows if "partitions.NAME.max_time" in row)
    assert "**live**" in limit
    assert "`PartitionTimeLimit`" in limit
