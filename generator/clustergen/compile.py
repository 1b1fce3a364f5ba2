"""Manifest path → Cluster, diagnostics, Tree: the one way in, which every verb calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clustergen import log
from clustergen.diagnostics import Diagnostic, Finding, ManifestPath, Place, Severity, in_file_order
from clustergen.diagnostics.words import forget_guesses
from clustergen.manifest.source import Source, load
from clustergen.records import record
from clustergen.render.tree import RenderedFile, Tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic import ValidationError

    from clustergen.cluster.model import Cluster
    from clustergen.manifest.model import Manifest


@record
class Compiled:
    """A manifest with what was found in it; `cluster` is None where its shape is wrong."""

    source: Source
    cluster: Cluster | None
    diagnostics: tuple[Diagnostic, ...]
    is_partial: bool = False
    """True: mistakes of its shape kept the rules from judging it; once they are corrected, there may be more."""
    meant: Cluster | None = None
    """With mistakes of its shape: the cluster that was probably meant."""
    remainder: Cluster | None = None
    """Where that is open: the cluster without the values at `left_out`."""
    left_out: tuple[ManifestPath, ...] = ()

    @property
    def ok(self) -> bool:
        return self.cluster is not None and not any(
            diagnostic.severity is Severity.ERROR for diagnostic in self.diagnostics
        )


def validate(path: Path, name: str | None = None, raw: bytes | None = None, site: Path | None = None) -> Compiled:
    """All that is wrong with a manifest, in file order. Never raises for the contents of the file.

    `name` is what diagnostics call the file, by default the path as given; `raw` is the text where no file has it.
    `site` is the directory of the site's files, as for `render`.
    """
    from pydantic import ValidationError

    from clustergen.manifest.bounds import too_many_names
    from clustergen.manifest.model import Manifest
    from clustergen.rules.slurm_hints import hint_for_key
    from clustergen.rules.slurm_meaning import plugin_files

    forget_guesses()
    log.info(__name__, "load %s", path)
    source = load(path, name) if raw is None else Source(name or str(path), raw, path=path)
    diagnostics = list(source.diagnostics)
    if any(item.severity is Severity.ERROR for item in diagnostics) and source.data is None:
        return Compiled(source, None, tuple(diagnostics))
    try:
        manifest = Manifest.model_validate(frozen(source.data))
    except ValidationError as err:
        more = source.from_validation_error(err, Manifest, hint_for_key, _merged)
        if not more and not diagnostics:  # fail closed: what nobody could put into words is an error all the same
            more = [Diagnostic.of("type-wrong", source.place(item["loc"]), item["msg"]) for item in err.errors()]
        meant, hidden = _hidden_by(err, source)
        remainder, left_out, of_types = _of_node_types(err, source) if hidden is None else (None, (), [])
        rejected = {item.place for item in hidden or () if item.severity is Severity.ERROR}
        more = [item for item in more if item.code != "type-wrong" or item.place not in rejected]
        listed = tuple(in_file_order([*diagnostics, *more, *(hidden or of_types)]))
        return Compiled(
            source=source,
            cluster=None,
            diagnostics=listed,
            is_partial=hidden is None,
            meant=meant,
            remainder=remainder,
            left_out=left_out,
        )
    if excess := too_many_names(manifest):
        return Compiled(source, None, tuple(in_file_order([*diagnostics, *source.diagnose([excess])])))
    cluster, findings = _judged(manifest)
    places = {finding.path for finding in findings}
    lacking = plugin_files(cluster, _site_files(site or path.parent / "site"))
    findings += [finding for finding in lacking if finding.path not in places]
    return Compiled(source, cluster, tuple(in_file_order([*diagnostics, *source.diagnose(findings)])))


def _merged(findings: list[Finding], data: Any) -> list[Finding]:
    """The findings on the manifest's shape, with one of a feature in place of several on one of its values."""
    from clustergen.feature import modules

    for module in modules("shapes"):
        findings = module.merged(findings, data)
    return findings


def _site_files(site: Path) -> Callable[[str], bool]:
    """True for a file of /etc/slurm, or its template, in some group of the site."""
    return lambda name: any(True for suffix in ("", ".j2") for _ in site.glob(f"*/etc/slurm/{name}{suffix}"))


def _judged(manifest: Manifest) -> tuple[Cluster, list[Finding]]:
    from clustergen.cluster.resolve import resolve
    from clustergen.rules import check

    log.info(__name__, "resolve cluster %s", manifest.name)
    findings: list[Finding] = []
    cluster = resolve(manifest, findings.append)
    log.info(__name__, "check the rules")
    findings += check(cluster, manifest, tuple(findings))
    return cluster, findings


def _hidden_by(err: ValidationError, source: Source) -> tuple[Cluster | None, list[Diagnostic] | None]:
    """The cluster after the mistakes of `err` are put right as was probably meant, and what the rules find in it; None
    where that is open.
    """
    from pydantic import ValidationError

    from clustergen.manifest.bounds import too_many_names
    from clustergen.manifest.model import Manifest
    from clustergen.manifest.repair import repaired
    from clustergen.rules.slurm_hints import hint_for_key

    repair = repaired(err, Manifest, source.data or {}, source.text_of, hint_for_key)
    try:
        manifest = Manifest.model_validate(frozen(repair.data)) if repair is not None else None
    except ValidationError:
        return None, None
    if repair is None or manifest is None or too_many_names(manifest):
        return None, None
    cluster, findings = _judged(manifest)
    return cluster, source.diagnose(repair.certain(findings))


def _of_node_types(
    err: ValidationError, source: Source
) -> tuple[Cluster | None, tuple[ManifestPath, ...], list[Diagnostic]]:
    """The cluster without the mistakes of `err`, their places, and diagnostics on the hardware of its node types."""
    from clustergen.cluster.resolve import resolve
    from clustergen.manifest.bounds import too_many_names
    from clustergen.manifest.model import Manifest
    from clustergen.manifest.partial import rest_of

    rest = rest_of(err, Manifest, source.data or {}, frozen)
    manifest = Manifest.model_validate(frozen(rest.data)) if rest is not None else None
    if rest is None or manifest is None or too_many_names(manifest):
        return None, (), []
    findings: list[Finding] = []
    cluster = resolve(manifest, findings.append)
    places = tuple(sorted(rest.removed, key=str))
    return cluster, places, source.diagnose(rest.certain(findings))


def frozen(data: Any) -> Any:
    """Lists as tuples, which is what the frozen models hold."""
    if isinstance(data, dict):
        return {key: frozen(value) for key, value in data.items()}
    return tuple(map(frozen, data)) if isinstance(data, list) else data


def render(compiled: Compiled, path: Path, site: Path | None = None) -> tuple[Tree | None, tuple[Diagnostic, ...]]:
    """The tree of a valid manifest, its site's files included; None where they do not fit together.

    `site` is the directory of these files, by default site/ beside the manifest.
    """
    from clustergen.diagnostics.redaction import redacted
    from clustergen.feature import Attributed, modules
    from clustergen.render.build import Builder
    from clustergen.render.formats import RenderError
    from clustergen.render.node_hardware import hardware
    from clustergen.render.site import clashes_of, take_site_files
    from clustergen.render.tree import Tree

    assert compiled.cluster is not None
    cluster = compiled.cluster
    builder = Builder(cluster, path.name)
    site = site or path.parent / "site"
    log.info(__name__, "render %s", path)
    try:
        files = builder.build()
        problems = take_site_files(site, cluster, files, builder.members)
        builder.finish()
    except RenderError as err:
        return None, (Diagnostic.of("value-unprintable", Place(compiled.source.name), redacted(str(err))),)
    problems += clashes_of(site, files, builder.members)
    for module in modules("tree"):
        with Attributed(module.__name__):
            problems += module.problems(site, cluster, files, builder.members)
    findings = [item for item in problems if isinstance(item, Finding)]
    diagnostics = [item for item in problems if isinstance(item, Diagnostic)]
    diagnostics = in_file_order([*diagnostics, *compiled.source.diagnose(findings)])
    if any(item.severity is Severity.ERROR for item in diagnostics):
        return None, tuple(diagnostics)
    ordered = dict(sorted(files.items()))
    hosts = {name: tuple(h for g in members for h in g.hosts) for name, members in builder.members.items()}
    meaning = compiled.source.meaning
    return Tree(
        files=ordered,
        groups=hosts,
        manifest_name=path.name,
        manifest_meaning=meaning,
        hardware=hardware(cluster),
        extensions=_extensions(cluster, files),
    ), tuple(diagnostics)


def _extensions(cluster: Cluster, rendered: Mapping[str, RenderedFile]) -> dict[str, str]:
    """Extensions of which the tree has something, in files of theirs or of others. Name → package and version."""
    from clustergen.cluster.extensions import used_extensions
    from clustergen.cluster.model import with_records
    from clustergen.cluster.monitoring import Prometheus
    from clustergen.feature import extension_of, extensions, modules
    from clustergen.render.registry import files
    from clustergen.render.views.dashboards import has_panels, site

    if not extensions():
        return {}
    sources = {file.source.removeprefix("templates/") for file in rendered.values()}
    owners = [row.module for row in files() if row.module and row.origin.removeprefix("templates/") in sources]
    if cluster.has(Prometheus):
        owners += [module.__name__ for module in modules("alerts") if with_records(module.topic)(cluster)]
    if site(cluster):
        owners += [module.__name__ for module in modules("dashboards") if has_panels(cluster, module)]
    used = {*used_extensions(cluster), *filter(None, map(extension_of, owners))}
    return {each.name: f"{each.distribution} {each.version}" for each in sorted(used)}


def tree_of(data: Any, name: str) -> tuple[Cluster, Tree] | None:
    """The tree of a document that is in no file, without a site's files; None where it is no valid manifest."""
    from pydantic import ValidationError

    from clustergen.cluster.resolve import resolve
    from clustergen.diagnostics import CODES
    from clustergen.manifest.model import Manifest
    from clustergen.render.build import Builder
    from clustergen.render.formats import RenderError
    from clustergen.rules import check

    findings: list[Finding] = []
    try:
        manifest = Manifest.model_validate(frozen(data))
        cluster = resolve(manifest, findings.append)
        findings += check(cluster, manifest)
        if any(CODES[finding.code].severity is Severity.ERROR for finding in findings):
            return None
        builder = Builder(cluster, name)
        files = builder.build()
        builder.finish()
    except (ValidationError, RenderError):
        return None
    hosts = {group: tuple(h for g in members for h in g.hosts) for group, members in builder.members.items()}
    return cluster, Tree(dict(sorted(files.items())), hosts, name, "")
