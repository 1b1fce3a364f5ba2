"""The built site is whole: no dead link, nothing from the network, and generated pages with all of their tables."""

from __future__ import annotations

import re
import sys
from functools import cache
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from clustergen.diagnostics import CODES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from site_pages import live_changes, manifest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]


_TAG = re.compile(r"<([a-z]+)\b([^<>\"]*(?:\"[^\"]*\"[^<>\"]*)*)>")
_ATTRIBUTE = re.compile(r'\b(id|href|src)="([^"]*)"')


@cache
def pages(site: Path) -> list[Path]:
    """All pages, without the theme's own files."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


@cache
def tags(path: Path) -> list[tuple[str, str, str]]:
    """Tag, name and value of every ID and address in a page."""
    matches = _TAG.findall(path.read_text(encoding="utf-8"))
    return [(tag, name, unescape(value)) for tag, rest in matches for name, value in _ATTRIBUTE.findall(rest)]


@cache
def identifiers(path: Path) -> frozenset[str]:
    return frozenset(value for _, name, value in tags(path) if name == "id")


@cache
def target_of(directory: Path, path: str) -> Path | None:
    """The file that a link in a page of this directory leads to; the navigation repeats most links on every page."""
    target = (directory / unquote(path)).resolve()
    return target if target.is_file() else None


def dead(page: Path, address: str, site: Path) -> bool:
    """True if a link leads to no file of the site, or to no place in it."""
    parts = urlsplit(address)
    target = target_of(page.parent, parts.path) if parts.path else page
    if target is None or not target.is_relative_to(site):
        return True
    return bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in identifiers(target)


def test_no_link_is_dead(site: Path) -> None:
    links = {
        (page, value)
        for page in pages(site)
        for _, name, value in tags(page)
        if name != "id" and not urlsplit(value).scheme and page.name not in ("genindex.html", "search.html")
    }
    assert len(links) > 5000
    assert sorted(f"{page.relative_to(site)}: {link}" for page, link in links if dead(page, link, site)) == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = {
        value
        for page in pages(site)
        for tag, name, value in tags(page)
        if tag in ("script", "img", "link", "iframe") and name != "id"
    }
    assert len(loaded) > 10
    assert [address for address in sorted(loaded) if urlsplit(address).scheme not in ("", "data")] == []


def test_every_code_is_in_the_index_with_its_severity(site: Path) -> None:
    rows = {}
    page = BeautifulSoup((site / "codes.html").read_bytes(), "html.parser")
    for row in page.select("article tbody tr"):
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
        if page not in reached and page.suffix == ".html":
            reached.add(page)
            links = {urlsplit(value).path for tag, _, value in tags(page) if tag == "a"}
            todo += filter(None, (target_of(page.parent, link) for link in links))
    made = {site / "genindex.html", site / "search.html"}
    assert set(pages(site)) - reached - made == set()


def test_a_field_has_an_anchor_and_an_index_entry(site: Path) -> None:
    path = "slurm.partitions.NAME.max_time"
    assert path in identifiers(site / "manifest.html")
    assert '"slurm.partitions.max_time"' in (site / "searchindex.js").read_text(encoding="utf-8")


def test_an_example_of_servers_is_of_the_file_system_that_the_table_describes() -> None:
    section = (
        manifest.page().partition("### `storage.NAME.servers`\n\nDaemons of the Ceph cluster")[2].partition("###")[0]
    )
    assert "monitors: " in section.partition("```yaml")[2]


def test_the_migration_page_names_fields_of_the_manifest() -> None:
    text = (ROOT / "docs" / "migration.md").read_text(encoding="utf-8").partition("## From DeepOps")[2]
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    paths = {path for row in rows for path in re.findall(r"`([a-z_.A-Z]+)`", row[1])}
    assert len(paths) > 20
    anchors = manifest.anchors()
    assert [path for path in sorted(paths) if not any(f"{anchor}.".startswith(f"{path}.") for anchor in anchors)] == []


def test_the_table_of_live_changes_agrees_with_the_effects() -> None:
    rows = [line for line in live_changes.page().splitlines() if line.startswith("| ")]
    keys = [row for row in rows if "<br>`AuthType` |" in row]
    assert len(keys) == 2  # of slurm.conf and slurmdbd.conf
    assert all("**idle cluster**" in row for row in keys)
    (limit,) = (row for row in rows if "partitions.NAME.max_time" in row)
    assert "**live**" in limit
    assert "`PartitionTimeLimit`" in limit
