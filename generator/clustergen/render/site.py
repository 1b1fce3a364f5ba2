"""A site's own files: `site/<group>/…` beside the manifest, as on the node; plain, or `.j2` fed by the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.site import SiteFiles
from clustergen.diagnostics import Diagnostic, Finding, Place, did_you_mean
from clustergen.diagnostics.redaction import Redaction, redacted
from clustergen.diagnostics.secrets import secret_in_file, secret_spans
from clustergen.render.build import clashes
from clustergen.render.effects import DAEMON_RELOAD, NONE, RECONFIGURE, SYSCTL, Effect
from clustergen.render.formats import format_of
from clustergen.render.site_source import Source, sources
from clustergen.render.tree import RenderedFile


def effect_of(target: str) -> Effect:
    """The effect of a site's file, guessed from its place; none where the place does not decide it."""
    if target.startswith("/etc/slurm/"):
        return RECONFIGURE
    if target.startswith("/etc/systemd/system/"):
        return DAEMON_RELOAD
    return SYSCTL if target.startswith("/etc/sysctl.d/") else NONE


def site_files(directory: Path, cluster: Cluster, groups: set[str]) -> Iterator[RenderedFile | Diagnostic]:
    """The files of the site, and what is wrong with them; READMEs and dot files beside the groups are left alone."""
    read = list(sources(directory, groups))
    printed = _printed([item for item in read if isinstance(item, Source) and item.is_template], cluster)
    for item in read:
        if isinstance(item, Diagnostic):
            yield item
            continue
        content = next(printed) if item.is_template else item.content
        yield _file(item, content, cluster) if isinstance(content, bytes) else content


def _printed(templates: list[Source], cluster: Cluster) -> Iterator[bytes | Diagnostic]:
    """The texts of templates, in order."""
    if not templates:
        return
    from clustergen.render.site_template import Failure, SiteTemplate, print_site_templates

    programs = [SiteTemplate(source.name, source.files, format_of(source.target)) for source in templates]
    for source, text in zip(templates, print_site_templates(programs, cluster), strict=True):
        if isinstance(text, Failure):
            place = source.place.parents[source.name.count("/")] / text.name
            line = _line(place, source.files[text.name], text.line)
            message, hint = redacted(text.message), text.hint and redacted(text.hint)
            diagnostic = Diagnostic.of("site-template-fails", line, message, hint)
            for name in {source.name, text.name}:  # a value may come from the template that includes this one
                diagnostic = _redaction(source.files[name]).diagnostic(diagnostic)
            yield diagnostic
        else:
            yield text


def _redaction(content: bytes) -> Redaction:
    """The hidden parts of a template: messages repeat its output."""
    text = content.decode(errors="replace")
    return Redaction(text, secret_spans(text))


def _line(place: Path, content: bytes, number: int) -> Place:
    """A line of a file without its indentation; number 0: the file as a whole."""
    lines = content.decode(errors="replace").split("\n")
    if not 0 < number <= len(lines):
        return Place(str(place))
    text = lines[number - 1].rstrip()
    return Place(str(place), number, len(text) - len(text.lstrip()) + 1, len(text) + 1)


def _file(source: Source, content: bytes, cluster: Cluster) -> RenderedFile | Diagnostic:
    name = f"{source.group}/{source.target}"
    if name not in cluster.of(SiteFiles).public and (secret := _secret(source.place, content, name)):
        return secret
    return RenderedFile(
        f"overlays/{name}",
        content,
        source.group,
        "/" + source.target,
        0o755 if source.is_executable else 0o644,
        effect=effect_of("/" + source.target),
        source=f"site/{source.group}/{source.name}",
    )


def _secret(place: Path, content: bytes, name: str) -> Diagnostic | None:
    """The diagnostic that refuses a file with a secret, without an excerpt; the line is that of the rendered file."""
    secret = secret_in_file("/" + name.partition("/")[2], content)
    if secret is None:
        return None
    if isinstance(secret, int):
        message, hint = f"line {secret} of this file looks like a secret", "install it from Ansible Vault"
    else:
        message, hint = f"by its name, this file contains {secret.what}", secret.instead
    hint = f"{hint}; if it contains no secret, add site: {{public: [{name}]}}"
    return Diagnostic.of("site-file-secret", Place(str(place)), message, hint)


def take_site_files(
    directory: Path, cluster: Cluster, files: dict[str, RenderedFile], members: Mapping[str, tuple[NodeGroup, ...]]
) -> list[Diagnostic | Finding]:
    """Puts the site's files among ours, and tells what is wrong with them and with the manifest's `site.replaces`."""
    problems: list[Diagnostic | Finding] = []
    replaces = cluster.of(SiteFiles).replaces
    taken: dict[str, bool] = {}
    for item in site_files(directory, cluster, set(members)):
        if isinstance(item, Diagnostic):
            problems.append(item)
            continue
        name = item.path.removeprefix("overlays/")
        other = files.get(item.path)
        if other is not None and name in taken:
            problems.append(
                _clash(directory, item, f"it and {other.source} would be the same file on the node", "keep one")
            )
        elif other is not None and name not in replaces:
            problems.append(
                _clash(
                    directory,
                    item,
                    "it would replace a file that clustergen renders",
                    f"set site: {{replaces: [{name}]}} in the manifest if this is intended",
                )
            )
        taken[name] = other is not None
        files[item.path] = item
    for index, name in enumerate(cluster.of(SiteFiles).public):
        if name not in taken:
            path = ("site", "public", index)
            hint = _or_remove(name, taken, "site.public")
            problems.append(Finding("site-replaces-nothing", path, f"there is no file {directory.name}/{name}", hint))
    for index, name in enumerate(replaces):
        path = ("site", "replaces", index)
        if name not in taken:
            problems.append(
                Finding(
                    "site-replaces-nothing",
                    path,
                    f"there is no file {directory.name}/{name}",
                    _or_remove(name, [other for other in taken if taken[other]], "site.replaces"),
                )
            )
        elif not taken[name]:
            ours = [file.removeprefix("overlays/") for file in files if file.startswith("overlays/")]
            problems.append(
                Finding(
                    "site-replaces-nothing",
                    path,
                    f"clustergen does not render {name}, so there is nothing to replace",
                    did_you_mean(name, [other for other in ours if other not in taken])
                    or "remove it from site.replaces",
                )
            )
    return problems


def _or_remove(name: str, candidates: Iterable[str], section: str) -> str:
    """Of a name whose file may be gone on purpose."""
    guess = did_you_mean(name, candidates)
    return f"{guess} Otherwise remove it from {section}" if guess else f"remove it from {section}"


def _clash(directory: Path, item: RenderedFile, message: str, hint: str) -> Diagnostic:
    return Diagnostic.of("site-file-clash", Place(str(directory.parent / item.source)), message, hint)


def clashes_of(
    directory: Path, files: Mapping[str, RenderedFile], members: Mapping[str, tuple[NodeGroup, ...]]
) -> list[Diagnostic | Finding]:
    """Paths that a node would get from two groups, told at the site's file where one is among them."""
    problems: list[Diagnostic | Finding] = []
    for target, groups, host in clashes(files, members):
        both = " and ".join(groups)
        message = f"{host} would get {target} from two groups: {both}"
        site = [
            file
            for file in files.values()
            if file.target == target and file.group in groups and "site/" in file.source[:5]
        ]
        if site:
            hint = "move it to one group, or to groups that have no node in common"
            problems.append(
                Diagnostic.of("path-in-two-groups", Place(str(directory.parent / site[-1].source)), message, hint)
            )
        else:
            problems.append(Finding("path-in-two-groups", ("nodes",), message, key=True))
    return problems
