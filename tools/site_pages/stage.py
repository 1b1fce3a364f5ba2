"""Copies docs/ to where Sphinx reads it, with the navigation of docs/index.md and the pages that follow from tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from clustergen.diagnostics import CODES
from clustergen.diagnostics.pages import pages as codes_of
from site_pages import codes, live_changes, manifest

# Where a forge shows a directory or a table, the site has a page.
PAGES_OF_TABLES = {
    "codes/": "codes.md",
    "../generator/clustergen/catalogue/data/slurm_effects.tsv": "live-changes.md",
}
# Documents beside docs/ that are pages of the site as well.
DOCUMENTS = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "SECURITY.md": "security-policy.md",
}

_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]\n]*(?:\n[^\]\n]+)?)\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^(?P<mark>```+)[^\n]*\n.*?^(?P=mark)$\n?", re.MULTILINE | re.DOTALL)
_SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the navigation: a heading of docs/index.md with a list of pages below it."""

    title: str
    body: str
    entries: tuple[str, ...]
    """The pages as a table of contents has them: `Slurm packages <slurm-packages>`."""

    @property
    def name(self) -> str:
        """The name of its own page."""
        return self.title.lower().replace(" ", "-")


def sections(index: str, pages: Iterable[str] = ()) -> list[Section]:
    """The navigation that the staged index.md states; pages that it does not list follow in the last section."""
    parts = []
    for match in _SECTION.finditer(index):
        listed = re.findall(r"^- \[([^\]]*)\]\(([^)#]+)\.md\)", match["body"], re.MULTILINE)
        if listed:
            parts.append(Section(match["title"], match["body"], tuple(f"{text} <{name}>" for text, name in listed)))
    entries = {entry.rpartition("<")[2].rstrip(">") for part in parts for entry in part.entries} | {"index"}
    if parts:
        last = parts.pop()
        parts.append(replace(last, entries=(*last.entries, *sorted(set(pages) - entries))))
    return parts


def stage(checkout: Path, target: Path) -> None:
    """Writes the Markdown that Sphinx reads into `target`; unchanged files stay, so that Sphinx builds less."""
    docs = checkout / "docs"
    files = {path: text.encode() for path, text in pages(checkout).items()}
    files |= {str(path.relative_to(docs)): path.read_bytes() for path in docs.rglob("*.svg")}
    for path in sorted(target.rglob("*")):
        if path.is_file() and str(path.relative_to(target)) not in files:
            path.unlink()
    for name, content in sorted(files.items()):
        path = target / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def pages(checkout: Path) -> dict[str, str]:
    """Path in the site's source → Markdown."""
    docs = checkout / "docs"
    staged = {
        str(path.relative_to(docs)): linked(path, path.read_text(encoding="utf-8"), checkout)
        for path in sorted(docs.glob("*.md"))
    }
    for name, place in DOCUMENTS.items():
        staged[place] = linked(docs / name, _as_in_docs((checkout / name).read_text(encoding="utf-8")), checkout)
    staged["manifest.md"] = manifest.page()
    for path in (docs / "codes").glob("*.md"):
        for code, text in codes_of(linked(path, path.read_text(encoding="utf-8"), checkout)).items():
            staged[f"codes/{code}.md"] = codes.with_facts(text, CODES[code])
    staged["codes.md"] = codes.index()
    staged["live-changes.md"] = live_changes.page()
    parts = sections(staged["index.md"], [name.removesuffix(".md") for name in staged if "/" not in name])
    for part in parts:
        staged[f"{part.name}.md"] = f"# {part.title}\n\n{part.body}\n{_toctree(part.entries)}"
    staged["index.md"] += "\n" + _toctree(tuple(part.name for part in parts))
    return staged


def linked(page: Path, text: str, checkout: Path) -> str:
    """The text with links that lead somewhere on the site: to its pages, or no link where a forge has the only page."""
    pieces, end = [], 0
    for fence in _FENCE.finditer(text):
        pieces += [_relinked(page, text[end : fence.start()], checkout), fence[0]]
        end = fence.end()
    return "".join([*pieces, _relinked(page, text[end:], checkout)])


def _relinked(page: Path, prose: str, checkout: Path) -> str:
    return _LINK.sub(lambda match: _target(page, match, checkout), prose)


def _target(page: Path, match: re.Match[str], checkout: Path) -> str:
    target, docs = match["target"], checkout / "docs"
    name, _, anchor = target.partition("#")
    if "://" in target or not name:
        return match[0]
    if name in PAGES_OF_TABLES:
        return f"[{match['text']}]({PAGES_OF_TABLES[name]})"
    place = (page.parent / name).resolve()
    if place.parent == docs / "codes":  # each code has a page, and each topic a table on that of all codes
        staged = docs / "codes" / f"{anchor}.md" if anchor else docs / f"codes.md#{place.stem}"
        return f"[{match['text']}]({os.path.relpath(staged, page.parent)})"
    if place.is_relative_to(docs) and place.suffix in (".md", ".svg"):
        return match[0]
    if place.parent == checkout and place.name in DOCUMENTS:
        return f"[{match['text']}]({DOCUMENTS[place.name]}{'#' + anchor if anchor else ''})"
    if place == checkout / "README.md":
        return f"[{match['text']}](index.md{'#' + anchor if anchor else ''})"
    return match["text"]


def _as_in_docs(text: str) -> str:
    """A document of the checkout's top with its links as docs/ would write them."""
    return re.sub(r"\]\((?!\w+://|#)([^)]+)\)", lambda m: f"]({_from_docs(m[1])})", text)


def _from_docs(target: str) -> str:
    return target.removeprefix("docs/") if target.startswith("docs/") else f"../{target}"


def _toctree(names: tuple[str, ...]) -> str:
    return "\n".join(("```{toctree}", ":hidden:", "", *names, "```", ""))
