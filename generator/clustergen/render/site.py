"""A site's own files: `site/<group>/…` beside the manifest, as on the node; plain, or `.j2` fed by the cluster."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.diagnostics import Diagnostic, Finding, Place, did_you_mean
from clustergen.diagnostics.secrets import secret_in_file
from clustergen.records import record
from clustergen.regular_file import reason_of
from clustergen.render.build import clashes
from clustergen.render.effects import DAEMON_RELOAD, NONE, RECONFIGURE, SYSCTL, Effect
from clustergen.render.formats import format_of
from clustergen.render.lock_file import is_gits_directory
from clustergen.render.tree import RenderedFile

_LIMIT = 4 << 20
_NAME = re.compile(r"[A-Za-z0-9_.@+:,%~=-]+(/[A-Za-z0-9_.@+:,%~=-]+)*")
_KEEPER = ".gitkeep"  # how git is made to keep an empty directory


def effect_of(target: str) -> Effect:
    """What a site's file takes, guessed from its place; none where the place says nothing."""
    if target.startswith("/etc/slurm/"):
        return RECONFIGURE
    if target.startswith("/etc/systemd/system/"):
        return DAEMON_RELOAD
    return SYSCTL if target.startswith("/etc/sysctl.d/") else NONE


@record
class _Source:
    """A file of the site that can be used: its path below the directory of its group, and all files of the group."""

    place: Path
    group: str
    name: str
    files: Mapping[str, bytes]

    @property
    def content(self) -> bytes:
        return self.files[self.name]

    @property
    def is_template(self) -> bool:
        return self.name.endswith(".j2")

    @property
    def target(self) -> str:
        """On the node, without the first slash."""
        return self.name.removesuffix(".j2")


def site_files(directory: Path, cluster: Cluster, groups: set[str]) -> Iterator[RenderedFile | Diagnostic]:
    """The files of the site, and what is wrong with them; READMEs and dot files beside the groups are left alone."""
    sources = list(_sources(directory, groups)) if directory.is_dir() else []
    printed = _printed([item for item in sources if isinstance(item, _Source) and item.is_template], cluster)
    for item in sources:
        if isinstance(item, Diagnostic):
            yield item
            continue
        content = next(printed) if item.is_template else item.content
        yield _file(item, content, cluster) if isinstance(content, bytes) else content


def _printed(sources: list[_Source], cluster: Cluster) -> Iterator[bytes | Diagnostic]:
    """The texts of templates, in order."""
    if not sources:
        return
    from clustergen.render.site_template import Failure, SiteTemplate, print_site_templates

    templates = [SiteTemplate(source.name, source.files, format_of(source.target)) for source in sources]
    for source, text in zip(sources, print_site_templates(templates, cluster), strict=True):
        if isinstance(text, Failure):
            place = source.place.parents[source.name.count("/")] / text.name
            line = _line(place, source.files[text.name], text.line)
            yield Diagnostic.of("site-template-fails", line, text.message, text.hint)
        else:
            yield text


def _sources(directory: Path, groups: set[str]) -> Iterator[_Source | Diagnostic]:
    for place in sorted(directory.iterdir()):
        name = place.name
        if name.startswith((".", "README")):
            continue
        if not place.is_dir():
            yield Diagnostic.of(
                "site-group-unknown",
                Place(str(place)),
                f"{name} is not in the directory of a group",
                f"move it to site/GROUP/ with its path on the node, as {directory.name}/all/etc/{name}",
            )
        elif name not in groups:
            yield Diagnostic.of(
                "site-group-unknown",
                Place(str(place)),
                f"no node is in group '{name}'",
                did_you_mean(name, groups) or f"use one of {', '.join(sorted(groups))}",
            )
        else:
            yield from _group(directory, place)


def _group(directory: Path, group_directory: Path) -> Iterator[_Source | Diagnostic]:
    files: dict[str, bytes] = {}
    for root, directories, names in os.walk(group_directory):
        directories.sort()
        for name in directories:
            if (Path(root) / name).is_symlink():
                yield _unreadable(Path(root) / name, "it is a link to a directory, which clustergen does not follow")
        for name in sorted(names):
            place = Path(root) / name
            if name == _KEEPER:
                continue
            if wrong := _refused(directory, place):
                yield _unreadable(place, wrong)
                continue
            path = place.relative_to(group_directory).as_posix()
            try:
                files[path] = place.read_bytes()
            except OSError as err:
                yield _unreadable(place, reason_of(err))
            else:
                yield _Source(place, group_directory.name, path, files)


def _refused(directory: Path, place: Path) -> str | None:
    """Why a file cannot be taken; None where it can."""
    if not _NAME.fullmatch(place.relative_to(directory).as_posix()):
        return "its name has blanks or other characters that not all files of a tree can contain"
    if any(map(is_gits_directory, place.relative_to(directory).as_posix().removesuffix(".j2").split("/"))):
        return "it is in a directory named .git, which no tree contains"
    if place.is_symlink() and not place.exists():
        return f"it is a link to {place.readlink()}, which does not exist"
    if place.is_symlink() and not place.resolve().is_relative_to(directory.resolve()):
        return f"it is a link to {place.readlink()}, outside {directory.name}/"
    if not place.is_file():
        return "it is not a regular file"
    size = place.stat().st_size
    return f"it has {size >> 20} MiB; the maximum is {_LIMIT >> 20}" if size > _LIMIT else None


def _line(place: Path, content: bytes, number: int) -> Place:
    """A line of a file without its indentation; number 0: the file as a whole."""
    lines = content.decode(errors="replace").split("\n")
    if not 0 < number <= len(lines):
        return Place(str(place))
    text = lines[number - 1].rstrip()
    return Place(str(place), number, len(text) - len(text.lstrip()) + 1, len(text) + 1)


def _unreadable(place: Path, why: str) -> Diagnostic:
    return Diagnostic.of("site-file-unreadable", Place(str(place)), f"cannot use this file: {why}")


def _file(source: _Source, content: bytes, cluster: Cluster) -> RenderedFile | Diagnostic:
    name = f"{source.group}/{source.target}"
    if name not in cluster.manifest.site.public and (secret := _secret(source.place, content, name)):
        return secret
    return RenderedFile(
        f"overlays/{name}",
        content,
        source.group,
        "/" + source.target,
        0o755 if os.access(source.place, os.X_OK) else 0o644,
        effect=effect_of("/" + source.target),
        source=f"site/{source.group}/{source.name}",
    )


def _secret(place: Path, content: bytes, name: str) -> Diagnostic | None:
    """What refuses a file that is a secret or has one, without an excerpt; the line is that of the rendered file."""
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
    replaces = cluster.manifest.site.replaces
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
    for index, name in enumerate(cluster.manifest.site.public):
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
