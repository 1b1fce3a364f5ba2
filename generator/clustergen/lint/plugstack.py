"""plugstack.conf: the SPANK plugins that srun and slurmd load."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site, Spot
from clustergen.regular_file import reason_of
from clustergen.slurmconf.grammar import Span

_WORD = re.compile(r"\S+")
_MOST_FILES = 500


def stack(site: Site) -> Iterator[LintFinding]:
    named = site.setting("PlugStackConfig")
    name = named.text.rpartition("/")[2] if named else "plugstack.conf"
    yield from _file(site, name, set())
    if named and not site.directory.has(name):
        yield site.note("conf-include", named, f"'{name}' is not in this directory and was not checked")


def _file(site: Site, name: str, read: set[str]) -> Iterator[LintFinding]:
    """The lines of one file and of those that it includes; a file that was `read` before is not read again."""
    read.add(name)
    try:
        text = site.directory.text(name)
    except OSError as err:
        yield site.warning("conf-include", name, f"cannot read this file: {reason_of(err)}")
        return
    if text is None:
        return
    for number, raw in enumerate(text.split("\n"), 1):
        words = [(match.group(), match.start() + 1) for match in _WORD.finditer(raw.partition("#")[0])]
        if not words:
            continue
        verb, column = words[0]
        spot = Spot(name, Span(number, column, column + len(verb)))
        if verb.lower() == "include":
            yield from _include(site, name, number, words, read)
        elif verb.lower() not in ("required", "optional"):
            yield site.warning(
                "plugstack-line",
                spot,
                f"a line must begin with required, optional or include, not '{verb}'; Slurm skips it",
                "write required /usr/lib/…/plugin.so",
            )
        elif len(words) < 2:
            yield site.warning(
                "plugstack-line",
                spot,
                f"no plugin follows '{verb}'; Slurm skips the line and logs an error",
                f"write {verb} /usr/lib/…/plugin.so",
            )
        elif not words[1][0].endswith(".so"):
            plugin, at = words[1]
            yield site.warning(
                "plugstack-line",
                Spot(name, Span(number, at, at + len(plugin))),
                f"'{plugin}' is not a plugin: plugin names end in .so",
            )


def _include(site: Site, name: str, number: int, words: list[tuple[str, int]], read: set[str]) -> Iterator[LintFinding]:
    verb, column = words[0]
    if len(words) < 2:
        yield site.warning(
            "plugstack-line", Spot(name, Span(number, column, column + len(verb))), "include has no file name"
        )
        return
    pattern, at = words[1]
    spot = Spot(name, Span(number, at, at + len(pattern)))
    inside = re.sub(r"^/etc/slurm/", "", pattern)
    if inside.startswith("/") or ".." in inside:
        yield site.note("conf-include", spot, f"'{pattern}' is outside the directory and was not read")
        return
    matches = islice(site.directory.path.glob(inside.replace("**", "*")), _MOST_FILES)
    files = [str(path.relative_to(site.directory.path)) for path in sorted(matches) if path.is_file()]
    if not files and "*" not in pattern:
        yield site.warning("conf-include", spot, f"'{pattern}' does not exist; Slurm logs an error")
    for file in files:
        if file == name:
            yield site.warning("conf-include", spot, f"'{file}' includes itself")
        elif file not in read and len(read) < _MOST_FILES:
            yield from _file(site, file, read)
