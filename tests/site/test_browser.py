"""The site in a browser: the search finds, no errors on the console, readable on a telephone and in the dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.real, pytest.mark.slow]

PHONE = {"width": 375, "height": 812}
DESKTOP = {"width": 1280, "height": 900}
CODES = ("key-unknown", "slurm-key-unknown", "gres-mismatch")  # their pages stand for those of all codes

# Elements with text of their own whose contrast with what is behind them is less than WCAG's AA asks.
FAINT = """() => {
  const parse = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('.bd-article *, .bd-sidebar-primary *, .bd-header *')]
    .filter(e => !e.closest('svg') && e.checkVisibility())
    .filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
    .filter(e => {
      const style = getComputedStyle(e), size = parseFloat(style.fontSize);
      const [a, b] = [light(parse(style.color)), light(behind(e))];
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < (large ? 3 : 4.5);
    })
    .map(e => `${e.tagName} ${e.className} ${e.textContent.trim().slice(0, 40)}`);
}"""


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    """A page that fails its test for an error on the console, and for a request to anything but files of the site.

    Files come from the disk: over a network, requests fail when containers of other tests start.
    """
    address = f"{site.as_uri()}/"
    context = browser.new_context(viewport=DESKTOP, base_url=address)
    page = context.new_page()
    page.set_default_timeout(300_000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(address) else complaints.append(request.url))
    yield page
    context.close()
    assert complaints == []


def guides(site: Path) -> list[str]:
    """All pages but those of the codes, of which a few are enough."""
    pages = sorted(path.name for path in site.glob("*.html") if path.name != "genindex.html")
    return [*pages, *(f"codes/{code}.html" for code in CODES)]


@pytest.mark.many
@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("node-type-unknown", "codes/node-type-unknown.html"),
        ("AuthType", "live-changes.html"),
        ("slurm.partitions.max_time", "manifest.html#slurm.partitions.NAME.max_time"),
        ("max_time", "manifest.html#slurm.partitions.NAME.max_time"),
        ("drain", "lifecycle.html"),
    ],
)
def test_the_search_finds(page: Page, words: str, target: str) -> None:
    page.goto("index.html")
    page.keyboard.press("Control+k")
    field = page.locator("dialog input[type=search]")
    field.fill(words)
    field.press("Enter")
    page.wait_for_url("**/search.html?*")
    page.locator(f'#search-results a[href*="{target.partition("#")[0]}"]').first.wait_for()
    result = page.locator("#search-results li a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    assert [link for link in result if target in link], result[:10]


def test_no_page_scrolls_sideways_on_a_telephone(page: Page, site: Path) -> None:
    page.set_viewport_size(PHONE)
    wide = []
    for name in guides(site):
        page.goto(name, wait_until="load")
        if page.evaluate("document.documentElement.scrollWidth") > PHONE["width"]:
            wide.append(name)
    assert wide == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(page: Page, site: Path, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    faint = {}
    for name in (
        "index.html",
        "manifest.html",
        "codes.html",
        "live-changes.html",
        "slurm.html",
        "codes/key-unknown.html",
    ):
        page.goto(name, wait_until="load")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        faint[name] = page.evaluate(FAINT)
    assert {name: texts[:5] for name, texts in faint.items() if texts} == {}


def test_a_diagram_is_drawn_in_the_theme_of_the_page(page: Page) -> None:
    for scheme, shown in (("light", "only-light"), ("dark", "only-dark")):
        page.emulate_media(color_scheme=scheme)
        page.goto("architecture.html")
        visible = page.locator(".diagram").filter(visible=True)
        classes = [visible.nth(place).get_attribute("class") or "" for place in range(visible.count())]
        assert [shown in each for each in classes] == [True, True]


def test_the_first_page_shows_the_installation(page: Page) -> None:
    page.goto("index.html")
    block = page.locator("#install pre").first
    assert len([line for line in block.inner_text().splitlines() if line.startswith("$ ")]) == 3
    box = block.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < DESKTOP["height"]
