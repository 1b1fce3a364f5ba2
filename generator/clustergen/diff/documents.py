"""Files of another grammar than Slurm's: YAML, plugstack.conf, scripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import Change, changed, folded
from clustergen.render.effects import NONE
from clustergen.slurmconf.scalars import hosts_of

_NAMES = ("topology", "switch", "block", "ring", "name", "id")
"""Keys by whose value an item of a list is known."""
_HOSTS = ("nodes", "children")


def yaml_file(file: str, old: str, new: str, release: SlurmRelease) -> Iterator[Change]:
    """topology.yaml, namespace.yaml: by path in the document."""
    before, after = _flat(old), _flat(new)
    if before is None or after is None:
        yield whole_file(file, old, new, release)
        return
    for path in {**before, **after}:
        previous, current = before.get(path), after.get(path)
        if previous != current:
            texts = [None if side is None else _text(side) for side in (previous, current)]
            nodes = None
            if path.rpartition(".")[2] == "nodes":
                nodes = folded(set(previous or ()) ^ set(current or ())) or None
            yield changed(release, file, "", path, *texts, nodes=nodes)


def _flat(text: str) -> dict[str, Any] | None:
    """Path → value; None for what is no YAML."""
    import yaml

    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    values: dict[str, Any] = {}

    def walk(path: str, value: Any, depth: int) -> None:
        if isinstance(value, dict) and value and depth < 50:
            for key, inner in value.items():
                walk(f"{path}.{key}" if path else str(key), inner, depth + 1)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value) and depth < 50:
            for index, item in enumerate(value):
                name = next((str(item[key]) for key in _NAMES if key in item), str(index))
                walk(f"{path}[{name}]", item, depth + 1)
        elif path.rpartition(".")[2] in _HOSTS and isinstance(value, str):
            values[path] = frozenset(hosts_of(value))
        else:
            values[path] = value

    walk("", document, 0)
    return values


def _text(value: Any) -> str:
    if isinstance(value, frozenset):
        return folded(value)
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def plugins(file: str, old: str, new: str, release: SlurmRelease) -> Iterator[Change]:
    """plugstack.conf and what it includes: `required PLUGIN ARGUMENTS`, in order."""
    before, after = _stack(old), _stack(new)
    for path in {**before, **after}:
        if before.get(path) != after.get(path):
            name = path.rpartition("/")[2]
            texts = before.get(path), after.get(path)
            yield changed(release, _stack_file(file), "", "", *texts, kind="plugin", name=name)
    orders = [[path for path in side if path in other] for side, other in ((before, after), (after, before))]
    if orders[0] != orders[1]:
        texts = ",".join(orders[0]), ",".join(orders[1])
        yield changed(release, _stack_file(file), "", "order", *texts, kind="plugin")


def _stack_file(file: str) -> str:
    """An included file takes what plugstack.conf takes."""
    directory, separator, _ = file.partition("/plugstack.conf.d/")
    return f"{directory}/plugstack.conf" if separator else file


def _stack(text: str) -> dict[str, str]:
    plugin_lines: dict[str, str] = {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            plugin_lines[words[1] if len(words) > 1 else words[0]] = " ".join(words)
    return plugin_lines


def whole_file(file: str, old: str | None, new: str | None, release: SlurmRelease, *, what: str = "") -> Change:
    """A file that is compared as it stands."""
    texts = [None if side is None else _size(side) for side in (old, new)]
    return changed(release, file, "", "", *texts, kind="file", what=(what,))


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{lines} lines"


def scripts(files: Mapping[str, tuple[str | None, str | None]]) -> Iterator[Change]:
    """Scripts of Slurm's directory: prolog, epilog, job_submit.lua …; each is read when it runs."""
    for file, (old, new) in files.items():
        previous, current = (None if side is None else _size(side) for side in (old, new))
        yield Change(file, "file", (NONE,), "read when it runs", old=previous, new=current)
