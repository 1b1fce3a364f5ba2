"""The page of a code: the why, a wrong example, a right one. Those of a topic are in one file, shipped in the wheel.

`docs/codes/<topic>.md` has a section `## code` for each code of the topic, with `### Wrong` and `### Right`. By itself,
a page has its headings one level higher: `# code` and `## Wrong`. An extension has such files in its `codes/`.

A page is documentation and a test at once: the output that it shows for its wrong manifest is compared with the real
one (`tools/update-code-pages` writes it). A block below a line that is nothing but a path, as "`site/all/etc/motd`:",
is a file beside the manifest; a page with such files, or that names the command, shows what `clustergen render` says.
The examples of `clustergen lint` are blocks of the kind `conf`, a slurm.conf each. Where neither can show a code, a
comment `<!-- fixture: NAME -->` names the test that does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from clustergen.diagnostics.codes import CODES, Code
from clustergen.feature import Attributed, extensions
from clustergen.records import record

_PACKAGE = Path(__file__).resolve().parents[1]
# A wheel carries the pages inside the package; in a checkout they lie beside the source root.
_DIRECTORIES = (_PACKAGE / "_codes", _PACKAGE.parents[1] / "docs" / "codes")
_PAGE = re.compile(r"^#(?P<page># (?P<code>[a-z][a-z0-9-]*)\n.*?)\n*(?=^## [a-z]|\Z)", re.MULTILINE | re.DOTALL)
_PART = re.compile(r"^#?(## (?:Wrong|Right)\n)", re.MULTILINE)
_SECTION = re.compile(r"^## (?P<title>\w+)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^(?:`(?P<path>[^`\n]+)`:\n\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_RENDER = "clustergen render manifest.yaml"  # a page that names it shows it
_OPTIONS = {
    "lint": ("--slurm-version", "24.11"),
    # The examples are small: that their hardware is assumed is not what a page is about.
    "validate": ("--ignore", "hardware-unconfirmed,slurm-packages-lacking"),
}
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\(\.\./(?P<name>[\w-]+)\.md(?:#[\w-]+)?\)")
_FIXTURE = re.compile(r"^<!-- fixture: (?P<name>[\w-]+) -->$", re.MULTILINE)


@record
class Examples:
    """The examples of a page: a manifest, the command's output for it, and a right manifest, each with files
    beside it.
    """

    wrong: str
    output: str
    right: str
    verb: str = "validate"  # the command is `clustergen VERB manifest.yaml`; with `_OPTIONS`
    wrong_files: Mapping[str, str] = MappingProxyType({})  # path beside the manifest → text
    right_files: Mapping[str, str] = MappingProxyType({})

    @property
    def document(self) -> str:
        """The file that the examples are."""
        return "slurm.conf" if self.verb == "lint" else "manifest.yaml"

    @property
    def command(self) -> list[str]:
        """The words behind `clustergen`."""
        return [self.verb, self.document, *_OPTIONS.get(self.verb, ())]


def directory() -> Path | None:
    """Where the pages lie, or None in an installation without them."""
    return next((place for place in _DIRECTORIES if place.is_dir()), None)


def page(code: str) -> str | None:
    """The page of one code as Markdown; None when there is none."""
    homes = [("", directory()), *((extension.package, extension.directory / "codes") for extension in extensions())]
    for package, home in homes if code in CODES else ():
        if home and (path := home / f"{CODES[code].page}.md").is_file():
            with Attributed(package):
                if text := pages(path.read_text(encoding="utf-8")).get(code):
                    return text
    return None


def codes_of(topic: str) -> list[Code]:
    """The codes of a topic by the name of its page, `nodes-and-names` or `nodes-and-names.md`, or by its title."""
    name = topic.removesuffix(".md").rpartition("/")[2].lower().replace(" ", "-")
    return [code for code in CODES.values() if name and name in (code.page, code.topic.lower().replace(" ", "-"))]


def first_sentence(code: str) -> str:
    """The first sentence of a code's page, in plain text; its title where there is no page."""
    paragraphs = (page(code) or "").split("\n\n")[2:3]
    text = " ".join(without_links(paragraphs[0] if paragraphs else "").replace("`", "").split())
    return re.split(r"(?<=[\w)\"]\.)\s", text)[0] or CODES[code].title


def pages(text: str) -> dict[str, str]:
    """The pages in the file of a topic, by code."""
    return {match["code"]: _PART.sub(r"\1", match["page"]) + "\n" for match in _PAGE.finditer(text)}


def joined(topic: str, texts: Iterable[str]) -> str:
    """The file of a topic that has these pages."""
    return "\n".join((f"# {topic}\n", *("#" + _PART.sub(r"#\1", text) for text in texts)))


def without_links(markdown: str) -> str:
    """A page for a terminal: links to the documentation beside it, which an installation lacks, name their page."""
    return _LINK.sub(lambda match: f"{match['text']} (documentation, page {match['name']})", markdown)


def examples(markdown: str) -> Examples | str:
    """The examples of a page, or the name of its fixture. Raises ValueError for a page with neither."""
    fixture = _FIXTURE.search(markdown)
    if fixture:
        return fixture["name"]
    blocks: dict[tuple[str, str], str] = {}
    files: dict[str, dict[str, str]] = {"Wrong": {}, "Right": {}}
    for section in _SECTION.finditer(markdown):
        for block in _BLOCK.finditer(section["body"]):
            if block["path"]:
                files[section["title"]][block["path"]] = block["text"]
            else:
                blocks[section["title"], block["kind"]] = block["text"]
    kind = "conf" if ("Wrong", "conf") in blocks else "yaml"
    verb = "lint" if kind == "conf" else "validate"
    if verb == "validate" and (any(files.values()) or f"`{_RENDER}`" in markdown):
        verb = "render"
    try:
        wrong, output, right = blocks["Wrong", kind], blocks["Wrong", "text"], blocks["Right", kind]
    except KeyError as err:
        raise ValueError(f"the page has no {err.args[0][1]} block under '## {err.args[0][0]}'") from None
    return Examples(
        wrong=wrong, output=output, right=right, verb=verb, wrong_files=files["Wrong"], right_files=files["Right"]
    )


def with_header(markdown: str, code: Code) -> str:
    """The page with the severity and the title of its code below its heading."""
    heading, _, rest = markdown.partition("\n\n")
    if rest.startswith("**"):
        rest = rest.partition("\n\n")[2]
    return f"{heading}\n\n**{code.severity}** · {code.title}\n\n{rest}"


def with_output(markdown: str, output: str) -> str:
    """The page with another output in the place of the one that it shows."""
    head, wrong, rest = markdown.partition("## Wrong\n")
    block = next(match for match in _BLOCK.finditer(rest) if match["kind"] == "text" and not match["path"])
    return head + wrong + rest[: block.start("text")] + output + rest[block.end("text") :]
