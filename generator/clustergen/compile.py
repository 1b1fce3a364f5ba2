"""Manifest path → Cluster, diagnostics, Tree: the one way in, which every verb calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clustergen.cluster import Cluster, resolve
from clustergen.diagnostics import Diagnostic, Finding, Place, Severity, in_file_order
from clustergen.manifest.source import Source, load
from clustergen.records import record
from clustergen.render.tree import Tree


@record
class Compiled:
    """A manifest with what was found in it; `cluster` is None where its shape is wrong."""

    source: Source
    cluster: Cluster | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        return self.cluster is not None and not any(found.severity is Severity.ERROR for found in self.diagnostics)


def validate(path: Path) -> Compiled:
    """All that is wrong with a manifest, in file order. Never raises for what stands in the file."""
    from pydantic import ValidationError

    from clustergen.manifest.model import Manifest
    from clustergen.rules import check

    source = load(path)
    found = list(source.diagnostics)
    if any(item.severity is Severity.ERROR for item in found) and source.data is None:
        return Compiled(source, None, tuple(found))
    try:
        manifest = Manifest.model_validate(_frozen(source.data))
    except ValidationError as err:
        told = source.from_validation_error(err, Manifest)
        if not told and not found:  # fail closed: what nobody could put into words is an error all the same
            told = [Diagnostic.of("type-wrong", source.place(item["loc"]), item["msg"]) for item in err.errors()]
        return Compiled(source, None, tuple(in_file_order([*found, *told])))
    findings: list[Finding] = []
    cluster = resolve(manifest, findings.append)
    findings += check(cluster)
    return Compiled(source, cluster, tuple(in_file_order([*found, *source.diagnose(findings)])))


def _frozen(data: Any) -> Any:
    """Lists as tuples, which is what the frozen models hold."""
    if isinstance(data, dict):
        return {key: _frozen(value) for key, value in data.items()}
    return tuple(map(_frozen, data)) if isinstance(data, list) else data


def render(compiled: Compiled, path: Path) -> tuple[Tree | None, tuple[Diagnostic, ...]]:
    """The tree of a valid manifest, its site's files included; None where they do not fit together."""
    from clustergen.render.build import Builder, clashes
    from clustergen.render.formats import RenderError
    from clustergen.render.site import site_files
    from clustergen.render.tree import RenderedFile

    assert compiled.cluster is not None
    cluster = compiled.cluster
    builder = Builder(cluster, path.name)
    try:
        files = builder.build()
    except RenderError as err:
        return None, (Diagnostic.of("value-unprintable", Place(compiled.source.name), str(err)),)
    findings: list[Finding] = []
    replaces = set(cluster.manifest.site.replaces)
    used: set[str] = set()
    for item in site_files(path.parent / "site", cluster, set(builder.members)):
        if isinstance(item, Finding):
            findings.append(item)
            continue
        name = item.path.removeprefix("overlays/")
        if item.path in files and name not in replaces:
            findings.append(
                Finding(
                    "site-file-clash",
                    (),
                    f"{item.source} would take the place of a file of ours",
                    f"where that is meant, add it to the manifest: site: {{replaces: [{name}]}}",
                )
            )
        used.add(name)
        if isinstance(item, RenderedFile):
            files[item.path] = item
    builder.finish()
    for index, name in enumerate(cluster.manifest.site.replaces):
        if name not in used:
            findings.append(
                Finding("site-replaces-nothing", ("site", "replaces", index), f"there is no file site/{name}")
            )
    for target, groups, host in clashes(files, builder.members):
        findings.append(
            Finding(
                "path-in-two-groups",
                ("nodes",),
                f"{host} would get {target} from two groups: {' and '.join(groups)}",
                key=True,
            )
        )
    found = tuple(in_file_order(compiled.source.diagnose(findings)))
    if any(item.severity is Severity.ERROR for item in found):
        return None, found
    ordered = dict(sorted(files.items()))
    hosts = {name: tuple(h for g in members for h in g.hosts) for name, members in builder.members.items()}
    return Tree(ordered, hosts, path.name, compiled.source.sha256), found
