"""The hashes of what clustergen makes of clusters with unusual options and of small files, and of all that it prints of
itself. A case has many names: a file of a tree, or a command.

`hashes` runs a case, `expected` reads what was reviewed; `tools/compare-trees` and the commands show the difference.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import click

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.cluster import contributions
from clustergen.cluster.document import document
from clustergen.diagnostics import CODES
from clustergen.diff.plan import plan
from clustergen.diff.show_json import as_json
from clustergen.diff.show_markdown import markdown
from clustergen.diff.show_text import text
from clustergen.diff.snapshot import Snapshot, of_tree
from clustergen.manifest.source import load
from clustergen.records import fields
from clustergen.slurmrules.field_table import FIELDS, MORE
from clustergen.verify.checks import CHECKS
from strategies import (
    diffs,
    machines,
    odd_manifests,
    reviewed_changes,
    reviewed_commands,
    reviewed_imports,
    reviewed_variations,
)
from strategies.findings import changed
from strategies.pages import ROOT
from strategies.unusual import FIXTURES, MANIFESTS, Outputs, compiled, run

TABLE = FIXTURES / "reviewed" / "outputs.txt"


def _of_cluster(name: str) -> Outputs:
    """The files of its tree, the sections of its resolved form, and what features contribute to files of others."""
    result, tree = compiled(name)
    assert result.cluster is not None
    for file in tree:
        yield file.path, file.content
    for section, value in document(result.cluster).items():
        yield f"resolve --section {section}", json.dumps(value)
    for kind in vars(contributions).values():
        if isinstance(kind, type) and kind.__module__ == contributions.__name__:
            items = result.cluster.needs(kind)
            lines = [f"{name}: {_shown(getattr(item, name))}" for item in items for name in fields(kind)]
            yield f"contributions {kind.__name__}", "\n".join(lines)


def _shown(value: object) -> str:
    """Numbers and texts as they are, also those of mappings, others as their type."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_shown(each)}" for name, each in value.items())
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join(str(part) if isinstance(part, str | int | float) else type(part).__name__ for part in parts)


def _of_odd_clusters() -> Outputs:
    """Small clusters with options that no other one has."""
    place = Path("/nowhere/manifest.yaml")
    for name, manifest in odd_manifests.RENDERED.items():
        made = compiler.validate(place, raw=manifest.encode())
        tree, _ = compiler.render(made, place)
        assert tree is not None
        yield name, b"".join(file.path.encode() + file.content for file in tree)


def _of_help(command: click.Command = group, words: tuple[str, ...] = ()) -> Outputs:
    yield run(*words, "--help")
    if isinstance(command, click.Group):
        for name in command.list_commands(context := click.Context(command)):
            if (child := command.get_command(context, name)) is not None:
                yield from _of_help(child, (*words, name))


def _of_itself() -> Outputs:
    yield from (run("completion", shell) for shell in ("bash", "zsh", "fish"))
    yield run("schema")
    yield from (run("features", "--format", each) for each in ("text", "json"))
    for topic in ("systems", "gpus", "nics", "switches", "rates", "mig", "os", "slurm"):
        yield from (run("catalogue", topic, "--format", each) for each in ("text", "json"))
    yield run("explain")


def _of_the_resolved_schema() -> Outputs:
    yield run("schema", "--resolved")


def _of_codes() -> Outputs:
    yield from (run("explain", code) for code in CODES)


def _of_slurm_files() -> Outputs:
    """`lint` and `import` of the files that a tree has for Slurm, and of those that someone wrote."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        for source in (FIXTURES / "hand_written", *sorted((ROOT / "tests/importer/directories").iterdir())):
            shutil.copytree(source, source.name)
        for name in ("planned", "rocky"):
            Path(name).mkdir()
            for file in compiled(name)[1]:
                if file.target is not None and file.target.startswith("/etc/slurm/"):
                    (Path(name) / Path(file.target).name).write_bytes(file.content)
        for path in sorted(Path().iterdir()):
            yield run("lint", path.name)
            yield run("import", path.name, "--format", "json")
        yield from _of_accounts()


def _of_accounts() -> Outputs:
    """`import` of what sacctmgr prints, in the current directory."""
    from importer import test_accounts as books

    Path("books").mkdir()
    contents = {"slurm.conf": books.CONF, "slurmdbd.conf": books.DBD, "hall.dump": books.DUMP, "qos.txt": books.QOS}
    for name, content in contents.items():
        (Path("books") / name).write_text(content, encoding="utf-8")
    yield run("import", "books", "--accounts", "books/hall.dump", "--accounts", "books/qos.txt")


def _of_changes() -> Outputs:
    """The difference of trees that have little in common."""
    sides = [_side(name) for name in MANIFESTS]
    for old, new in zip(sides, [*sides[1:], sides[0]], strict=True):
        difference = plan(old, new)
        words = f"diff {old.name} {new.name}"
        yield words, text(difference)
        yield f"{words} --format json", as_json([difference], [], [])
        yield f"{words} --format markdown", markdown([difference], [], [])
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        Path("old.yaml").write_text(diffs.MANIFEST, encoding="utf-8")
        Path("new.yaml").write_text(changed(diffs.MANIFEST, *_EDITS), encoding="utf-8")
        yield run("diff", "old.yaml", "new.yaml")


_EDITS = (
    ("c[1-4]", "c[1-5]"),
    ("10.0.0.[1-4]", "10.0.0.[1-5]"),
    ("max_time: 30", "max_time: 60"),
    ("memory: 1TiB", "memory: 2TiB"),
    ("slurm:", "storage:\n  home: {type: nfs, server: 10.0.255.9, path: /export/home, mount: /home}\nslurm:"),
)


def _side(name: str) -> Snapshot:
    """A tree without its manifest: the search for the values that cause a change takes seconds."""
    result, tree = compiled(name)
    assert result.cluster is not None
    return replace(of_tree(name, tree, result.cluster, load(MANIFESTS[name])), source=None)


def _of_machines() -> Outputs:
    """Four nodes, each with many faults of the table of tests; what a fault hides is seen in another round."""
    from drift.test_drift import FAULTS

    kinds = [kind for kind in FAULTS if kind not in ("node-unreachable", "node-unfit")]
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        Path("manifest.yaml").write_text(machines.MANIFEST, encoding="utf-8")
        for number in range(4):
            faults: dict[str, dict[str, str | None]] = defaultdict(dict)
            for place, kind in enumerate(kinds):
                faults[machines.NODES[(place + number * (place // 4)) % 4]] |= FAULTS[kind][0]
            facts = machines.record(Path(f"facts{number}"), **faults)
            yield run("drift", "--facts", str(facts))
            yield run("drift", "--facts", str(facts), "--format", "json")
            yield run("discover", "--facts", str(facts))


def _of_rooms() -> Outputs:
    manifest, other = (str(MANIFESTS[name].relative_to(ROOT)) for name in ("planned", "roce"))
    for each in ("text", "json", "markdown"):
        yield run("facility", "compare", manifest, other, "--format", each)
        yield run("facility", "estimate", manifest, "--format", each)
        yield run("facility", "refresh", manifest, "--on", "2031-06-30", "--format", each)


def _of_findings() -> Outputs:
    """The warnings of the clusters, in each format."""
    for manifest in MANIFESTS.values():
        yield run("validate", str(manifest.relative_to(ROOT)))
    for each in ("json", "github", "sarif"):
        yield run("validate", str(MANIFESTS["planned"].relative_to(ROOT)), "--format", each)


def _of_checks() -> Outputs:
    """The files that each check of `verify` reads, and what it proves."""
    files = [file for name in MANIFESTS for file in compiled(name)[1]]
    yield run("verify", "--list")
    for check in CHECKS:
        places = {
            file.target or file.path
            for file in files
            if check.reads(file.target or file.path, file.content[:999].decode(errors="replace"))
        }
        asked = [str(text) for text in getattr(check.ask, "__dict__", {}).values() if isinstance(text, str | bool)]
        yield (
            f"verify --only {check.name}",
            "\n".join((check.what, check.parser, check.proves, *asked, *sorted(places))),
        )


def _of_keys() -> Outputs:
    """The fields that set each key of Slurm's files."""
    keys = {key for table in (FIELDS, MORE) for rows in table.values() for key in rows}
    yield from (run("explain", key) for key in sorted(keys))


def _of_explanations() -> Outputs:
    """Lines of files, fields and values of a small cluster."""
    with tempfile.TemporaryDirectory() as directory, chdir(directory):
        Path("manifest.yaml").write_text(diffs.MANIFEST, encoding="utf-8")
        yield run("explain", "manifest.yaml", "/etc/slurm/gres.conf")
        yield run("explain", "manifest.yaml", "/etc/slurm/slurm.conf:90-140")
        yield run("explain", "manifest.yaml", "slurm.partitions.debug.max_time")
        yield run("explain", "manifest.yaml", "/etc/hosts:8-12", "--format", "json")
        yield run("explain", "slurm.partitions.max_time")
        yield run("explain", "node_types", "--format", "json")


CASES: dict[str, Callable[[], Outputs]] = {
    **{name: partial(_of_cluster, name) for name in MANIFESTS},
    "odd clusters": _of_odd_clusters,
    "help": _of_help,
    "itself": _of_itself,
    "resolved schema": _of_the_resolved_schema,  # with the comments of the sources, which `tools/mutate --record` drops
    "codes": _of_codes,
    "keys": _of_keys,
    "explanations": _of_explanations,
    "slurm files": _of_slurm_files,
    "changes": _of_changes,
    "machines": _of_machines,
    "rooms": _of_rooms,
    "findings": _of_findings,
    "checks": _of_checks,
    **reviewed_variations.CASES,
    **reviewed_changes.CASES,
    "imports": reviewed_imports.of_imports,
    **reviewed_commands.CASES,
}


def hashes(case: str) -> dict[str, str]:
    """File or command → the first digits of the SHA-256 of what it has."""
    with chdir(ROOT), patch.dict(os.environ, {"NO_COLOR": "1"}):
        outputs = dict(CASES[case]())
    return {
        name: sha256(value.encode() if isinstance(value, str) else value).hexdigest()[:12]
        for name, value in outputs.items()
    }


@cache
def expected() -> dict[str, dict[str, str]]:
    """Case → the same."""
    result: dict[str, dict[str, str]] = defaultdict(dict)
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        name, digest, *cases = line.split("\t")
        for case in cases:
            result[case][name] = digest
    return result


def write() -> None:
    """A line per name and hash, with the cases that have it."""
    cases: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case in CASES:
        for entry in hashes(case).items():
            cases[entry].append(case)
    lines = ["\t".join((*entry, *names)) for entry, names in sorted(cases.items())]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
