"""plugstack.conf: the SPANK plugins that srun and slurmd load."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.lint.found import Found
from clustergen.lint.site import Site, Spot
from clustergen.slurmconf.grammar import Span

_WORD = re.compile(r"\S+")
_DEEPEST = 20


def stack(site: Site) -> Iterator[Found]:
    named = site.setting("PlugStackConfig")
    name = named.text.rpartition("/")[2] if named else "plugstack.conf"
    yield from _file(site, name, ())
    if named and site.folder.text(name) is None:
        yield site.note("conf-include", named, f"'{name}' is not in this folder: what it says is not looked at")


def _file(site: Site, name: str, above: tuple[str, ...]) -> Iterator[Found]:
    text = site.folder.text(name)
    if text is None:
        return
    for number, raw in enumerate(text.split("\n"), 1):
        words = [(match.group(), match.start() + 1) for match in _WORD.finditer(raw.partition("#")[0])]
        if not words:
            continue
        verb, column = words[0]
        spot = Spot(name, Span(number, column, column + len(verb)))
        if verb.lower() == "include":
            yield from _include(site, name, number, words, above)
        elif verb.lower() not in ("required", "optional"):
            yield site.warning(
                "plugstack-line",
                spot,
                f"no line begins with '{verb}', but with required, optional or include; Slurm skips it",
                "required /usr/lib/…/plugin.so",
            )
        elif len(words) < 2:
            yield site.warning(
                "plugstack-line",
                spot,
                f"no plugin follows '{verb}'; Slurm skips the line, and logs an error",
                f"{verb} /usr/lib/…/plugin.so",
            )
        elif not words[1][0].endswith(".so"):
            plugin, at = words[1]
            yield site.warning(
                "plugstack-line",
                Spot(name, Span(number, at, at + len(plugin))),
                f"'{plugin}' is no plugin: their names end in .so",
            )


def _include(
    site: Site, name: str, number: int, words: list[tuple[str, int]], above: tuple[str, ...]
) -> Iterator[Found]:
    verb, column = words[0]
    if len(words) < 2:
        yield site.warning(
            "plugstack-line", Spot(name, Span(number, column, column + len(verb))), "include names no file"
        )
        return
    pattern, at = words[1]
    spot = Spot(name, Span(number, at, at + len(pattern)))
    inside = re.sub(r"^/etc/slurm/", "", pattern)
    if inside.startswith("/") or ".." in inside:
        yield site.note("conf-include", spot, f"'{pattern}' lies outside the folder: what it says is not looked at")
        return
    files = [
        str(path.relative_to(site.folder.path)) for path in sorted(site.folder.path.glob(inside)) if path.is_file()
    ]
    if not files and "*" not in pattern:
        yield site.warning("conf-include", spot, f"'{pattern}' is not there; Slurm logs an error")
    for file in files:
        if file in (*above, name) or len(above) > _DEEPEST:
            yield site.warning("conf-include", spot, f"'{file}' includes itself")
        else:
            yield from _file(site, file, (*above, name))


CHECKS = (stack,)
