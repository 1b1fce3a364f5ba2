"""The pages of the diagnostic codes show exactly what the command prints."""

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import CODES
from clustergen.diagnostics.pages import (
    Examples,
    directory,
    examples,
    joined,
    page,
    pages,
    with_header,
    with_output,
    without_links,
)
from clustergen.records import replace

HOME = directory()
assert HOME is not None
PAGES = {
    code: text
    for path in sorted(HOME.glob("*.md"))
    for code, text in sorted(pages(path.read_text(encoding="utf-8")).items())
}
SHOWN = {code: shown for code, text in PAGES.items() if isinstance(shown := examples(text), Examples)}
FIXTURES = {code: shown for code, text in PAGES.items() if isinstance(shown := examples(text), str)}


def run(shown: Examples, document: str, files: Mapping[str, str]) -> Result:
    """Runs the page's command in the current directory, with these files beside the manifest, or the slurm.conf."""
    for path, text in {**files, shown.document: document}.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    return CliRunner().invoke(group, shown.command)


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


PARTS = 12
"""Groups of pages: a test of each page would cost `make quick` seconds."""


@pytest.mark.parametrize("part", range(PARTS))
def test_the_wrong_manifest_gives_the_output_that_the_page_shows(part: int, tmp_path: Path) -> None:
    for code in list(SHOWN)[part::PARTS]:
        (tmp_path / code).mkdir()
        with chdir(tmp_path / code):
            _shows_the_output(code)


def _shows_the_output(code: str) -> None:
    shown = SHOWN[code]
    result = run(shown, shown.wrong, shown.wrong_files)
    assert f"[{code}]" in result.stdout
    assert result.stdout == shown.output, "tools/update-code-pages rewrites the page, unless its manifest is wrong now"
    if CODES[code].severity == "error":
        assert result.exit_code == (1 if shown.verb == "lint" else CODES[code].exit_code)


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("code", SHOWN)
def test_the_right_manifest_does_not_give_the_code(code: str) -> None:
    shown = SHOWN[code]
    result = run(shown, shown.right, shown.right_files)
    assert f"[{code}]" not in result.stdout
    assert "error[" not in result.stdout or code.startswith("yaml-too-"), "what is right has no other error"
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_page_shows_the_severity_and_the_title() -> None:
    stale = [code for code, text in PAGES.items() if text != with_header(text, CODES[code])]
    assert stale == [], "tools/update-code-pages rewrites the pages"


def test_a_page_says_why_in_words() -> None:
    short = []
    for code, text in PAGES.items():
        first, _, rest = text.partition("\n")
        assert first == f"# {code}"
        why = rest.split("## Wrong")[0].split("<!-- fixture")[0].partition("\n\n")[2]
        if len(why.split()) < 20:
            short.append(code)
    assert short == [], "a page explains why, not only what"


def test_a_fixture_is_a_test_of_that_name() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert FIXTURES
    for code, name in FIXTURES.items():
        assert f'"{name}"' in tests, f"no test shows {code}"


def test_pages_are_found_by_their_code() -> None:
    assert (page("key-unknown") or "").startswith("# key-unknown\n")
    assert page("no-such-code") is None


def test_a_page_has_its_headings_one_level_higher_than_in_the_file_of_its_topic() -> None:
    topic = (
        "# Some topic\n\n## a-b\n\nwhy\n\n### Wrong\n\n```yaml\n# x\n```\n\n### Right\n\n```yaml\n## Y\n```\n\n"
        "## c\n\n<!-- fixture: f -->\n"
    )
    apart = {
        "a-b": "# a-b\n\nwhy\n\n## Wrong\n\n```yaml\n# x\n```\n\n## Right\n\n```yaml\n## Y\n```\n",
        "c": "# c\n\n<!-- fixture: f -->\n",
    }
    assert pages(topic) == apart
    assert joined("Some topic", apart.values()) == topic


def test_output_is_replaced_in_the_wrong_section_only() -> None:
    text = "# a\n\nwhy\n\n## Wrong\n\n```yaml\nx\n```\n\n```text\nold\n```\n\n## Right\n\n```yaml\ny\n```\n"
    new = with_output(text, "new \\1\n")
    assert examples(new) == Examples("x\n", "new \\1\n", "y\n")
    assert with_output(new, "old\n") == text


def test_files_beside_the_manifest_are_shown_below_their_path() -> None:
    text = (
        "# a\n\nwhy\n\n## Wrong\n\n```yaml\nx\n```\n\n`site/all/etc/motd`:\n\n```text\nhello\n```\n\n"
        "```text\nold\n```\n\n## Right\n\n```yaml\ny\n```\n\n`site/all/etc/issue`:\n\n```text\nbye\n```\n"
    )
    shown = Examples("x\n", "old\n", "y\n", "render", {"site/all/etc/motd": "hello\n"}, {"site/all/etc/issue": "bye\n"})
    assert examples(text) == shown
    assert examples(with_output(text, "new\n")) == replace(shown, output="new\n")


def test_a_page_without_examples_is_an_error() -> None:
    with pytest.raises(ValueError, match="no yaml block under '## Right'"):
        examples("# a\n\nwhy\n\n## Wrong\n\n```yaml\nx\n```\n\n```text\nold\n```\n")


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


def test_no_page_on_a_terminal_has_a_link_to_another() -> None:
    text = without_links(page("site-template-fails") or "")
    assert "in a sandbox with the\nvalues of the cluster (documentation, page site-files) as its only variable" in text
    assert not [code for code in CODES if "](../" in without_links(page(code) or "")]
