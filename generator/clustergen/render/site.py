"""A site's own files: `site/<group>/…` beside the manifest, as on the node; plain, or `.j2` fed by the cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Finding, did_you_mean
from clustergen.render.effects import DAEMON_RELOAD, NONE, RECONFIGURE, SYSCTL, Effect
from clustergen.render.engine import print_site_template
from clustergen.render.formats import RenderError, format_of
from clustergen.render.tree import RenderedFile

_LIMIT = 4 << 20


def effect_of(target: str) -> Effect:
    """What a site's file takes, guessed from its place; none where the place says nothing."""
    if target.startswith("/etc/slurm/"):
        return RECONFIGURE
    if target.startswith("/etc/systemd/system/"):
        return DAEMON_RELOAD
    return SYSCTL if target.startswith("/etc/sysctl.d/") else NONE


def site_files(folder: Path, cluster: Cluster, groups: set[str]) -> Iterator[RenderedFile | Finding]:
    """The files of the site, and what is wrong with them."""
    if not folder.is_dir():
        return
    for group_folder in sorted(folder.iterdir()):
        group = group_folder.name
        if not group_folder.is_dir() or group.startswith("."):
            continue
        if group not in groups:
            yield Finding(
                "site-group-unknown",
                (),
                f"{group_folder} is for a group that no node is in",
                did_you_mean(group, groups),
            )
            continue
        for root, folders, names in os.walk(group_folder):
            folders.sort()
            for name in sorted(names):
                yield from _one(Path(root) / name, group_folder, group, cluster)


def _one(place: Path, group_folder: Path, group: str, cluster: Cluster) -> Iterator[RenderedFile | Finding]:
    target = place.relative_to(group_folder).as_posix()
    try:
        if not place.is_file() or place.stat().st_size > _LIMIT:
            yield Finding("site-file-unreadable", (), f"{place} is no file of at most {_LIMIT >> 20} MiB")
            return
        content = place.read_bytes()
    except OSError as err:
        yield Finding("site-file-unreadable", (), f"{place}: {err.strerror}")
        return
    if target.endswith(".j2"):
        target = target[:-3]
        try:
            content = print_site_template(place, group_folder, format_of(target), {"cluster": cluster}).encode()
        except RenderError as err:
            yield Finding("site-template-fails", (), f"{place}: {err}")
            return
    mode = 0o755 if os.access(place, os.X_OK) else 0o644
    yield RenderedFile(
        f"overlays/{group}/{target}",
        content,
        group,
        "/" + target,
        mode,
        effect=effect_of("/" + target),
        source=f"site/{group}/{place.relative_to(group_folder).as_posix()}",
    )
