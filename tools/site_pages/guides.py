"""The table of docs/guides.md: every thing that five public guides name, and the part of clustergen that serves it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clustergen.diagnostics import CODES
from site_pages import manifest

CHECKOUT = Path(__file__).resolve().parents[2]
TABLE = CHECKOUT / "tools" / "guides.tsv"
COLLECTION = CHECKOUT / "playbooks" / "ansible_collections" / "clustergen" / "cluster"
STATES = {"yes": "●", "part": "◐", "no": "○", "refused": "refused"}
_PLACE = re.compile(r"(<!-- guides: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reference:
    """A part of clustergen, such as `field:slurm.partitions` or `test:tests/nodes/test_jobs.py`."""

    kind: str
    name: str

    def __str__(self) -> str:
        """The reference as Markdown."""
        return KINDS[self.kind][1](self.name)


@dataclass(frozen=True, slots=True)
class Row:
    """A thing that a guide names."""

    guide: int
    lines: str
    thing: str
    state: str
    where: tuple[Reference, ...]
    proof: tuple[Reference, ...]
    note: str
    instead: str

    @property
    def place(self) -> str:
        return f"{self.guide}:{self.lines}"


def rows() -> list[Row]:
    """The rows of the table in its order."""
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    items = []
    for line in lines[1:]:
        guide, places, thing, state, where, proof, note, instead = line.split("\t")
        items.append(Row(int(guide), places, thing, state, _references(where), _references(proof), note, instead))
    return items


def _references(cell: str) -> tuple[Reference, ...]:
    pairs = (part.partition(":") for part in cell.split("; ") if part)
    return tuple(Reference(kind, name) for kind, _, name in pairs)


def missing(row: Row) -> Iterator[str]:
    """References of a row to things that do not exist."""
    for reference in (*row.where, *row.proof):
        if reference.kind not in KINDS or not KINDS[reference.kind][0](reference.name):
            yield f"{row.place} {reference.kind}:{reference.name}"


def filled(text: str) -> str:
    """A page's text with the tables between `<!-- guides: NAME -->` and `<!-- end -->` as the rows are today."""
    return _PLACE.sub(lambda match: f"{match[1]}\n{_PARTS[match[2]]()}\n{match[3]}", text)


def _counts() -> str:
    count = Counter(row.state for row in rows())
    return (
        f"Of {count.total()} things, {count['yes']} work (●), {count['part']} work in part (◐), {count['no']} are"
        f" missing (○) and {count['refused']} are refused.\n"
    )


def _things() -> str:
    cells = [
        (row.place, row.thing, STATES[row.state], _listed(row.where), _listed(row.proof), row.note)
        for row in rows()
        if row.state != "refused"
    ]
    return _table(("guide:line", "thing", "", "in clustergen", "read or tested by", "lacking"), cells)


def _refusals() -> str:
    cells = [(row.place, row.thing, row.note, row.instead) for row in rows() if row.state == "refused"]
    return _table(("guide:line", "thing", "why not", "use instead"), cells)


def _listed(references: tuple[Reference, ...]) -> str:
    return ", ".join(map(str, references))


def _table(head: tuple[str, ...], cells: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(row) + " |\n" for row in (head, *cells)]
    return "".join([lines[0], "|" + "---|" * len(head) + "\n", *lines[1:]])


_PARTS: dict[str, Callable[[], str]] = {"counts": _counts, "things": _things, "refused": _refusals}


def _code(name: str) -> str:
    return f"`{name}`"


def _is_verb(name: str) -> bool:
    import click

    from clustergen.cli import group

    command: click.Command | None = group
    for word in name.split():
        if not isinstance(command, click.Group):
            return False
        command = command.get_command(click.Context(command), word)
    return command is not None


def _is_page(name: str) -> bool:
    file, _, anchor = name.partition("#")
    path = CHECKOUT / "docs" / file
    return path.is_file() and (not anchor or anchor in _headings(path))


def _headings(path: Path) -> set[str]:
    """Anchors of a page's headings."""
    return {_slug(title) for title in re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)}


def _slug(title: str) -> str:
    """The anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@cache
def _fields() -> dict[str, str]:
    """Field of the manifest → anchor of its section in the reference."""
    return {
        section.anchor(name): _slug(section.title)
        for section in manifest.Schema().sections
        for name in section.model.get("properties", ())
    }


@cache
def _text(*names: str) -> str:
    return "".join((CHECKOUT / name).read_text(encoding="utf-8") for name in names)


def _is_in(*names: str) -> Callable[[str], bool]:
    """True for a name that stands as a word in one of the files."""
    return lambda name: re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", _text(*names)) is not None


def _is_row(table: str) -> Callable[[str], bool]:
    path = f"generator/clustergen/catalogue/data/{table}.tsv"
    return lambda name: re.search(rf"^{re.escape(name)}(\t|$)", _text(path), re.MULTILINE) is not None


KINDS: dict[str, tuple[Callable[[str], bool], Callable[[str], str]]] = {
    "field": (lambda name: name in _fields(), lambda name: f"[`{name}`](manifest.md#{_fields()[name]})"),
    "verb": (_is_verb, lambda name: f"`clustergen {name}`"),
    "page": (_is_page, lambda name: f"[{name.partition('#')[0]}]({name})"),
    "code": (lambda name: name in CODES, lambda name: f"[{name}](codes/{CODES[name].page}.md#{name})"),
    "file": (lambda name: (CHECKOUT / name).is_file(), _code),
    "test": (lambda name: (CHECKOUT / name).exists(), _code),
    "example": (lambda name: (CHECKOUT / "inventories" / name / "manifest.yaml").is_file(), "inventories/{}".format),
    "playbook": (lambda name: (COLLECTION / "playbooks" / f"{name}.yml").is_file(), "playbook `{}`".format),
    "role": (lambda name: (COLLECTION / "roles" / name).is_dir(), "role `{}`".format),
    "alert": (_is_in("docs/failures.md"), _code),
    "catalogue": (_is_in("docs/catalogue.md"), _code),
    "gate": (_is_row("acceptance_gates"), "gate `{}`".format),
    "job": (_is_row("job_templates"), "`jobs/{}.sh`".format),
    "verify": (lambda name: re.search(rf"(\| |; ){re.escape(name)} ", _text("docs/proof.md")) is not None, str),
}
"""Kind of reference: the check that it exists, and its form on the page."""
