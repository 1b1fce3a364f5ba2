"""Explain a diagnostic code, a manifest field or a line of a rendered file."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from clustergen import compile as compiler
from clustergen.cli import output
from clustergen.cli.arguments import STDIN, manifest_path
from clustergen.cli.common import refuse, valid
from clustergen.cli.complete import explained
from clustergen.cli.exit_codes import exit_codes
from clustergen.diagnostics import CODES, ClustergenError, Code
from clustergen.diagnostics.document import json_document
from clustergen.diagnostics.pages import codes_of, first_sentence, page, without_links
from clustergen.diagnostics.words import counted, one_of
from clustergen.hardware.drift.kinds import KINDS, Kind
from clustergen.manifest import MANIFEST
from clustergen.render.tree import LOCK, RENDERED, RenderedFile, Tree

_ALL = "`clustergen explain` lists all codes"
_LINES = re.compile(r"(.+?):(\d+)(?:-(\d+))?")
_FILE = re.compile(r"\.(?:conf|ya?ml|ini|cfg|service|mount|rules|csv|xml|sh|md)$")
_MOST = 200
_WIDTH = 100
_MANY = 10  # lines that take several seconds
_SCREEN = 16  # lines shown at once


@exit_codes("explained", "", "no such code, field, key or line; MANIFEST is invalid", "a file cannot be read")
@click.command("explain")
@click.argument(
    "arguments",
    metavar="[CODE | TOPIC | FIELD | KEY | MANIFEST FIELD | MANIFEST FILE[:LINE[-LINE]]]",
    nargs=-1,
    shell_complete=explained,
)
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True)
def command(arguments: tuple[str, ...], form: str) -> None:
    """Explain a diagnostic code, a manifest field or a line of a rendered file.

    CODE is a diagnostic or a kind of drift; without any argument, all diagnostics are listed. TOPIC is the name of a
    page of docs/codes such as nodes-and-names: its diagnostics are listed; monitoring.md is a topic, too, where
    monitoring is a field. FIELD is a path such
    as slurm.partitions.max_time; with a MANIFEST, the files of its tree that change with it are shown, without one
    those of ./manifest.yaml, or of the starter manifest. KEY is a key of Slurm's files such as MaxTime, a setting of
    sacctmgr, or a variable of NCCL, UCX or DCGM: the fields that set it are shown. FILE is a rendered file, by its
    path on disk, in the tree or on the node; without a MANIFEST it is one of ./manifest.yaml, or of the tree on disk
    that it is in. Its lines are traced to values of the manifest, defaults and rows of the catalogue by rendering it
    again with one of these changed.
    """
    if not arguments:
        _list_codes(form)
    elif len(arguments) == 1:
        _code_or_field(arguments[0], form)
    elif len(arguments) == 2:
        _in_manifest(manifest_path(Path(arguments[0])), arguments[1], form)
    else:
        raise click.UsageError("one CODE or FIELD, or a MANIFEST and a FILE or FIELD")


def _list_codes(form: str) -> None:
    if form == "json":
        rows = [{"code": row.code, "severity": str(row.severity), "title": row.title} for row in CODES.values()]
        click.echo(json_document({"codes": rows}), nl=False)
        return
    for entry in CODES.values():
        click.echo(f"{entry.code:28} {entry.severity:8} {entry.title}")


def _manifest_of(word: str) -> Path | None:
    """The manifest of a file with a path or a line number: that of its tree on disk, or the one in this directory."""
    file = Path(lines[1] if (lines := _LINES.fullmatch(word)) else word)
    for directory in file.absolute().parents if file.is_file() else ():
        manifest = directory.parent / MANIFEST
        if (directory / LOCK).is_file() and manifest.is_file():
            return manifest if file.is_absolute() else Path(os.path.relpath(manifest))
    return Path(MANIFEST) if ("/" in word or ":" in word) and Path(MANIFEST).exists() else None


def _code_or_field(word: str, form: str) -> None:
    if word in CODES:
        _code(word, form)
        return
    if word in KINDS:
        _kind_of_drift(word, KINDS[word], form)
        return
    from clustergen.explain.guess import did_you_mean_any, fields_called
    from clustergen.explain.keys import places as is_key

    codes = codes_of(word)
    if codes and (word.endswith(".md") or not (_is_known(word) or len(fields_called(word)) == 1 or is_key(word))):
        _topic(codes, form)
        return
    if _is_key(word, form):
        return
    if manifest := _manifest_of(word):
        _in_manifest(manifest, word, form)
        return
    if (word.isupper() and _is_known(word.lower())) or fields_called(word):
        word = word.lower()
    if Path(word).name == LOCK:
        message = f"{LOCK} lists the rendered files, and is not one of them"
        raise ClustergenError(message, hint="explain a file that it lists: clustergen explain slurm.conf", exit_code=2)
    if word[:1].isupper() and _FILE.search(word) and Path(MANIFEST).exists():
        _in_manifest(Path(MANIFEST), word, form)
        return
    if not re.fullmatch(r"[a-z][\w.\[\]-]*", word):
        hint = did_you_mean_any(word) or "a file needs its manifest: clustergen explain MANIFEST FILE:LINE"
        raise ClustergenError(f"'{word}' is not a diagnostic, a field or a key of Slurm", hint=hint, exit_code=2)
    if not _is_known(word) and _FILE.search(word):
        if Path(MANIFEST).exists():
            _in_manifest(Path(MANIFEST), word, form)
            return
        hint = f"a file requires its manifest: clustergen explain MANIFEST {word}"
        raise ClustergenError(f"no {MANIFEST} in this directory", hint=hint, exit_code=2)
    if (path := _field_path(word)) is None:
        hint = did_you_mean_any(word) or _ALL
        what = "field or rendered file" if "." in word else "diagnostic, field or key of Slurm"
        raise ClustergenError(f"there is no {what} '{word}'", hint=hint, exit_code=2)
    _field(_manifests_here(), path, form)


def _is_key(word: str, form: str) -> bool:
    """True if a word is a key of Slurm and no field: then it is explained."""
    from clustergen.explain.keys import json_of_key, places, text_of_key

    set_at = places(word) if word[:1].isupper() or not _is_known(word) else ()
    if set_at:
        click.echo((json_of_key if form == "json" else text_of_key)(set_at), nl=False)
    return bool(set_at)


def _field_path(word: str) -> str | None:
    """The path of a field, which may be named by its last part alone if no other field ends in it."""
    from clustergen.explain.guess import fields_called

    if _is_known(word):
        return word
    paths = fields_called(word)
    if paths[1:]:
        hint = f"run clustergen explain {paths[0]}, or name {one_of(paths[1:])}"
        raise ClustergenError(f"'{word}' is a key of several sections", hint=hint, exit_code=2)
    return paths[0] if paths else None


def _manifests_here() -> Iterator[tuple[compiler.Compiled, str]]:
    """./manifest.yaml where it is valid, then the starter, each with what the answer calls it."""
    from clustergen.cli.init import STARTER

    compiled = compiler.validate(Path(MANIFEST)) if Path(MANIFEST).is_file() else None
    if compiled is not None and compiled.ok:
        yield compiled, MANIFEST
    has_errors = compiled is not None and not compiled.ok
    yield valid(STARTER), "the starter manifest" + (f" ({MANIFEST} has errors)" if has_errors else " (clustergen init)")


def _is_known(word: str) -> bool:
    """True if a word in lower case is a field, which goes before a key of Slurm of the same name."""
    from clustergen.explain.about import about

    return not isinstance(about(word), str)


def _code(code: str, form: str) -> None:
    text = page(code)
    if text is None:
        hint = f"install clustergen again, or add it to codes/{CODES[code].page}.md of its extension"
        raise ClustergenError(f"the page of '{code}' is missing", hint=hint)
    if form == "json":
        entry = CODES[code]
        fields = {"code": code, "severity": str(entry.severity), "title": entry.title, "page": text}
        click.echo(json_document(fields), nl=False)
    else:
        click.echo(without_links(text), nl=False)


def _topic(codes: Sequence[Code], form: str) -> None:
    if form == "json":
        rows = [
            {"code": row.code, "severity": str(row.severity), "title": row.title, "why": first_sentence(row.code)}
            for row in codes
        ]
        click.echo(json_document({"topic": codes[0].topic, "codes": rows}), nl=False)
        return
    click.echo(f"{codes[0].topic}: {counted(len(codes), 'diagnostic')}, each with its page: clustergen explain CODE")
    for row in codes:
        click.echo(f"\n{row.code:28} {row.severity:8} {row.title}")
        click.echo(textwrap.indent(textwrap.fill(first_sentence(row.code), _WIDTH), "    "))


def _kind_of_drift(name: str, kind: Kind, form: str) -> None:
    step = kind.step.replace("{nodes}", "NODES").replace("{limit}", "NODES")
    if form == "json":
        fields = {"kind": name, "severity": kind.severity, "topic": kind.topic, "cause": kind.cause, "next": step}
        click.echo(json_document(fields), nl=False)
    else:
        click.echo(f"{name}: {kind.severity} of clustergen drift ({kind.topic})")
        click.echo(f"   cause: {kind.cause}\n   next:  {step}")


def _field(manifests: Iterable[tuple[compiler.Compiled, str]], word: str, form: str) -> None:
    """Prints what the first of the manifests answers that has the field, or a file that changes with it; else what the
    first one does.
    """
    from clustergen.explain.about import about, reach
    from clustergen.explain.show import json_of_field, text_of_field

    answer = about(word)
    assert not isinstance(answer, str)
    tried = []
    for compiled, shown in manifests:
        tried.append(reach(compiled, answer.steps, Path(compiled.source.name).name, shown))
        if tried[-1].stated or tried[-1].files or tried[-1].added:
            break
    reached = next((each for each in tried if each.stated or each.files or each.added), tried[0])
    click.echo((json_of_field if form == "json" else text_of_field)(answer, reached), nl=False)
    if form == "text" and (codes := codes_of(word)):
        click.echo(f"diagnostics: clustergen explain {codes[0].page}.md lists {len(codes)} of this topic")


def _in_manifest(manifest: Path, query: str, form: str) -> None:
    if "/" not in query and ":" not in query:
        if _is_key(query, form):
            return
        if field := _field_path(query):
            _field([(valid(manifest), str(manifest))], field, form)
            return
    from clustergen.explain.lines import explain
    from clustergen.explain.locate import find_alone
    from clustergen.explain.show import heading, json_of_lines, origin, summaries, text_of_lines

    match = _LINES.fullmatch(query)
    path, first, last = (match[1], int(match[2]), int(match[3] or match[2])) if match else (query, 0, 0)
    if match is None and (odd := re.fullmatch(r"([^:]+):([^/:]*)", query)):
        message = f"'{odd[2]}' is neither the number of a line nor a range"
        raise ClustergenError(message, hint=f"write {odd[1]}:20 or {odd[1]}:20-25", exit_code=2)
    if first > last or last - first >= _MOST:
        hint = (
            f"write {path}:{last}-{first}"
            if first > last
            else f"name at most {_MOST} lines: {path}:{first}-{first + _MOST - 1}"
        )
        raise ClustergenError(f"{first}-{last} is not a valid range", hint=hint, exit_code=2)
    numbers = range(first, last + 1) if match else ()
    compiled = valid(manifest)
    assert compiled.cluster is not None
    if manifest == STDIN:  # its tree and its site's files are where a manifest.yaml would have them
        manifest = Path(MANIFEST)
    tree, file = find_alone(compiled.cluster, manifest, path) or _in_whole_tree(compiled, manifest, path)
    if _is_awaited(file, numbers, form):
        click.echo(heading(file.path, file.target), nl=False)
        opening = explain(compiled, tree, file, manifest.parent, range(1, _SCREEN + 1))
        click.echo(summaries(opening.lines), nl=False)
        with _progress(file.path, len(numbers)):
            explained = explain(compiled, tree, file, manifest.parent)
        click.echo(summaries(explained.lines[_SCREEN:]) + origin(explained), nl=False)
        return
    with _progress(file.path, len(numbers)):
        explained = explain(compiled, tree, file, manifest.parent, numbers)
    text = json_of_lines(explained) if form == "json" else text_of_lines(explained, whole=not match)
    click.echo(text, nl=False)


def _is_awaited(file: RenderedFile, numbers: Sequence[int], form: str) -> bool:
    """True if somebody waits at a terminal for all lines of a long file: they depend on the same trials, and are ready
    together, so the first ones are explained on their own before.
    """
    return not numbers and form == "text" and sys.stdout.isatty() and file.content.count(b"\n") > 2 * _SCREEN


@contextmanager
def _progress(path: str, lines: int) -> Iterator[None]:
    """Announces what takes seconds, a whole file or many lines, on a terminal."""
    if 0 < lines < _MANY or not sys.stderr.isatty():
        yield
        return
    from clustergen.cli.durations import timed

    with timed(f"explain {path}") as estimate:
        output.remark(f"explaining {f'{lines} lines' if lines else 'all lines'} of {path}{estimate}")
        yield


def _in_whole_tree(compiled: compiler.Compiled, manifest: Path, path: str) -> tuple[Tree, RenderedFile]:
    from clustergen.explain.locate import find

    tree, diagnostics = compiler.render(compiled, manifest)
    if tree is None:
        refuse(compiled, diagnostics)
    return tree, find(tree, path, manifest.parent / RENDERED)
