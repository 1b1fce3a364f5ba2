"""Cluster → Tree: every view, every template, the split of groups, and the check that no two groups write one path."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from clustergen.cluster.groups import ENTRY_SCOPES, all_groups, entry_group, group_name, members_of, membership
from clustergen.cluster.model import Cluster, NodeGroup, asked
from clustergen.diagnostics.words import did_you_mean, one_of
from clustergen.feature import Attributed
from clustergen.records import fields
from clustergen.render.effects import Effect
from clustergen.render.engine import print_template, program_text
from clustergen.render.file import File
from clustergen.render.formats import JSON, RenderError
from clustergen.render.lock_file import is_inside
from clustergen.render.registry import files
from clustergen.render.tree import HEADER, Outline, RenderedFile
from clustergen.render.values import print_json, print_shell

_OS_FIELD = re.compile(r"\{os\.(\w+)\}")
_ACCOUNT = re.compile(r"[A-Za-z0-9_.$-]+")
_ITEM = re.compile(r"\{(\w+)\}")


def header(file: File, manifest_name: str) -> str:
    """The opening comment of a file: its source, and where to edit. A hash, a version or the cluster's name here would
    change every file.
    """
    if file.form.comment is None:
        return ""
    start, end = file.form.comment
    kind, _, source = file.origin.partition("/")
    lines = [
        f"{HEADER[0]} from {manifest_name}. Changes made here are lost:",
        f"{HEADER[1]}." + (f" {kind.capitalize().removesuffix('s')}: {source}" if kind != "values" else ""),
    ]
    if end == " -->":  # two hyphens would end the comment
        lines = [line.replace("--", "- -") for line in lines]
    return "".join(f"{start}{line}{end}\n" for line in lines)


def with_header(text: str, head: str) -> str:
    """Below a `#!` or `<?xml` line where the file has one."""
    first, newline, rest = text.partition("\n")
    if first.startswith(("#!", "<?xml")):
        return first + newline + head + rest
    return head + text


def variables(view: Any) -> dict[str, Any]:
    """The names that a template sees: the fields of its view, or its keys where it is a mapping; none of True."""
    if view is True:
        return {}
    return dict(view) if isinstance(view, Mapping) else {name: getattr(view, name) for name in fields(view)}


class Builder:
    """Prints all files of one cluster."""

    def __init__(self, cluster: Cluster, manifest_name: str) -> None:
        self.cluster = cluster
        self.manifest_name = manifest_name
        self.split: dict[str, tuple[NodeGroup, ...]] = {}  # parts of groups whose texts differ by type
        self.files: dict[str, RenderedFile] = {}

    @property
    def members(self) -> dict[str, tuple[NodeGroup, ...]]:
        """All groups, split ones last."""
        return {**membership(self.cluster), **self.split}

    def build(self, only: File | None = None) -> dict[str, RenderedFile]:
        """The files of all rows of the registry, or of `only` one."""
        for file in (only,) if only is not None else files():
            if file.per != "tree" and self._applies(file):  # made by finish
                with Attributed(file.module, RenderError):
                    self._build(file)
        return self.files

    def _applies(self, file: File) -> bool:
        return self.cluster.meets(file.requires) and self.cluster.manages(file.area)

    def _build(self, file: File) -> None:
        if file.scope == "tree":
            self._tree_file(file, asked(file.view, self.cluster))
        elif file.scope in ENTRY_SCOPES:
            for name, entry in self.cluster.storage.items():
                if file.kind in ("", entry.type):
                    self._group_file(file, entry_group(file.scope, name), entry)
        elif file.scope == "each":
            for name in tuple(self.members):
                self._group_file(file, name, name)
        elif file.module and file.scope not in (names := all_groups(self.cluster)):
            hint = did_you_mean(file.scope, names) or f"write {one_of(sorted(names), len(names))}"
            raise LookupError(f"FILES: {file.template}: there is no group {file.scope!r}: {hint}")
        else:
            self._group_file(file, file.scope)

    def finish(self, only: File | None = None) -> None:
        """Adds the files that tell of all others, or `only` one of these, once the site's own are among them."""
        outline = Outline(self.members, dict(sorted(self.files.items())))
        for file in (only,) if only is not None else files():
            if file.per == "tree" and self._applies(file):
                with Attributed(file.module, RenderError):
                    self._tree_file(file, asked(file.view, self.cluster, outline))

    def _tree_file(self, file: File, view: Any) -> None:
        for path, part in self._items(file.path, view):
            self._add(RenderedFile(path, self._print(file, part), source=file.origin.removeprefix("templates/")))

    def _group_file(self, file: File, scope: str, *entry: object) -> None:
        """Add the files of one row of the registry for the nodes of a group; `entry` is of scopes that stand for
        entries.
        """
        members = membership(self.cluster).get(scope) if self.files else members_of(self.cluster, scope)
        if not members:
            return
        if file.per == "cluster":
            for path, part in self._items(file.path, asked(file.view, self.cluster, *entry)):
                self._node_file(file, scope, path, part)
            return
        keys: dict[str, list[NodeGroup]] = {}
        for group in members:
            keys.setdefault(group.type.os.key if file.per == "os" else group.type.name, []).append(group)
        made: dict[str, list[tuple[str, bytes, Effect]]] = {}
        for key, groups in keys.items():
            node_type = groups[0].type
            view = asked(file.view, self.cluster, *entry, node_type.os if file.per == "os" else node_type)
            path = _OS_FIELD.sub(lambda match, os=node_type.os: os.fact(match[1]).lstrip("/"), file.path)  # type: ignore[misc]
            made[key] = [
                (where, self._print(file, part), self._effect(file, part)) for where, part in self._items(path, view)
            ]
        texts = list(made.values())
        alike = all(text == texts[0] for text in texts)
        for key, results in made.items():
            name = scope if alike else f"{scope}__{group_name(key)}"
            if results and not alike:
                self.split[name] = tuple(keys[key])
            for where, content, effect in results:
                self._add(self._placed(file, name, where, content, effect))
            if alike:
                break

    def _items(self, path: str, view: Any) -> Iterator[tuple[str, Any]]:
        """The paths that one registry row makes, with their views."""
        if view is None or view is False:
            return
        if not (match := _ITEM.search(path)):
            yield path, view
            return
        if not isinstance(view, Mapping):
            raise TypeError(f"the view of {path} is {view!r}, not a mapping")
        for item, part in view.items():
            yield path.replace(match.group(), item), part

    def _node_file(self, file: File, group: str, path: str, view: Any) -> None:
        self._add(self._placed(file, group, path, self._print(file, view), self._effect(file, view)))

    def _placed(self, file: File, group: str, path: str, content: bytes, effect: Effect) -> RenderedFile:
        return RenderedFile(
            path=f"overlays/{group}/{path}",
            content=content,
            group=group,
            target="/" + path,
            mode=file.mode,
            owner=self._account(file.owner),
            owner_group=self._account(file.group),
            effect=effect,
            source=file.origin,
        )

    def _account(self, name: str | Callable[[Cluster], str]) -> str:
        text: Any = name if isinstance(name, str) else name(self.cluster)
        if not isinstance(text, str) or not _ACCOUNT.fullmatch(text):
            raise ValueError(f"the owner of a file is {text!r}, not the name of a user or group")
        return text

    def _effect(self, file: File, view: Any) -> Effect:
        effect = file.effect if isinstance(file.effect, Effect) else file.effect(view)
        if not isinstance(effect, Effect):
            raise TypeError(f"the effect of {file.template} is {effect!r}")
        return effect

    def _print(self, file: File, view: Any) -> bytes:
        if file.program:
            text = program_text(file.program)
        elif file.values:
            text = print_json(view) if file.form is JSON else print_shell(view)
        elif isinstance(view, str):
            text = view
        elif view is not True and not hasattr(view, "__record_fields__") and not isinstance(view, Mapping):
            raise TypeError(f"the view of {file.template} is {view!r}, not a record, a mapping, a text, True or None")
        else:
            text = print_template(file.source or file.template, file.form, variables(view))
        return with_header(text, header(file, self.manifest_name)).encode()

    def _add(self, file: RenderedFile) -> None:
        if not is_inside(file.path) or not is_inside((file.target or "/x")[1:]):
            raise RenderError(f"{file.source} makes {file.path}, which is outside the tree")
        if file.path in self.files:
            raise RenderError(f"{self.files[file.path].source} and {file.source} both make {file.path}")
        self.files[file.path] = file


def clashes(
    files: Mapping[str, RenderedFile], members: Mapping[str, tuple[NodeGroup, ...]]
) -> list[tuple[str, list[str], str]]:
    """Paths that two groups of one node write: (path on the node, groups, a host)."""
    by_group: dict[str, set[str]] = {}
    for file in files.values():
        if file.group is not None and file.target is not None:
            by_group.setdefault(file.group, set()).add(file.target)
    of_node: dict[int, tuple[NodeGroup, list[str]]] = {}
    for name, groups in members.items():
        for group in groups:
            of_node.setdefault(group.index, (group, []))[1].append(name)
    owners: dict[str, tuple[str, list[str], str]] = {}
    for group, names in of_node.values():
        seen: dict[str, str] = {}
        for name in names:
            for target in by_group.get(name, ()):
                if target in seen:
                    owners.setdefault(target, (target, [seen[target], name], group.hosts[0]))
                seen.setdefault(target, name)
    return sorted(owners.values())
