"""Files of an older commit: `REV:path`, read from git without touching the work tree."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from clustergen.diagnostics import ClustergenError, did_you_mean
from clustergen.diff.checkout import DIRECTORY, MODULE, Commit, Item
from clustergen.diff.git_objects import Objects, git
from clustergen.manifest import MANIFEST

_MOST_REFS = 6  # that a hint lists


def split(argument: str) -> tuple[str, str] | None:
    """Revision and path; None for what names a file of today."""
    revision, colon, path = argument.partition(":")
    return (revision, path) if colon and revision and not Path(argument).exists() else None


def is_commit(word: str) -> bool:
    """True if git, asked from here, knows a commit of that name."""
    try:
        return bool(git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}"))
    except ClustergenError:  # no git, or one that does not answer
        return False


def short_id(revision: str) -> str:
    """The commit's id in the fewest characters that git takes for unique; empty where there is none."""
    return (
        git("rev-parse", "--short", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        .decode()
        .strip()
    )


def unpack(revision: str, path: str, into: Path) -> Path:
    """Writes the file or directory of that commit below `into`, with what is beside a manifest; returns its path.

    `path` is as git has it: from the top of the repository, or from here with `./`; where the top has no such path, the
    one from here is taken. ClustergenError (exit code 3) where git cannot give it.
    """
    if path.startswith("/"):
        raise ClustergenError(
            f"{revision}:{path}: a path in a commit does not begin with a slash",
            f"write {revision}:inventories from the repository's root, or {revision}:./manifest.yaml from here",
        )
    if not git("rev-parse", "--git-dir", may_fail=True):
        raise ClustergenError(
            f"{revision}:{path}: not a git repository (or git does not trust it)",
            "cd into the repository of the manifest (`git status` shows the cause), or compare files: clustergen diff"
            " OLD NEW",
        )
    commit = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    if not commit and revision in ("HEAD", "@"):
        message, hint = "this repository has no commit yet", "commit the manifest, or name two files to compare"
        raise ClustergenError(message, hint)
    if not commit:
        raise ClustergenError(f"git has no commit {revision!r}", near_commit(revision) or _where_commits_are())
    prefix = git("rev-parse", "--show-prefix").decode().strip()
    places = list(_places(path, prefix))
    with Objects() as objects:
        tree = Commit(objects, commit, f"{revision}:{path}", lambda lost: _where_objects_are(commit, lost, places))
        module = ""
        for place in places:
            item = tree.item(place)
            if item is None:
                continue
            if item.mode == MODULE:
                module = module or item.path
                continue
            tree.write(tree.files(_with_layers(tree, [place, *_beside(tree, place, item)])), into)
            (into / ".git").mkdir()  # where the repository ends for the files that a manifest extends
            if (into / place).exists():
                return into / place
    if module:
        raise ClustergenError(
            f"{revision}:{path}: {module} is a submodule, whose files are in a repository of its own",
            f"cd {module}, and name a commit of that repository",
        )
    raise ClustergenError(
        f"{revision}:{path}: no such file in this commit",
        f"`git ls-tree -r --name-only --full-tree {revision}` lists its files; ./ begins a path from this directory",
    )


def near_commit(revision: str) -> str | None:
    """The branch or tag that was probably meant; that of a remote where only this one exists."""
    refs = _refs()
    remote = next((ref for ref in refs if ref.partition("/")[2] == revision), None)
    return f"did you mean '{remote}'?" if remote else did_you_mean(revision, refs)


def _refs() -> list[str]:
    names = git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes", may_fail=True)
    return names.decode(errors="replace").split()


def _where_commits_are() -> str:
    if git("rev-parse", "--is-shallow-repository").strip() == b"true":
        return "this clone is shallow: `git fetch --unshallow` (fetch-depth: 0 of actions/checkout) fetches the rest"
    listing = "`git log --oneline --all` lists them; `git fetch` brings those of others"
    refs = _refs()
    return f"the branches and tags are {', '.join(refs)}; {listing}" if 0 < len(refs) <= _MOST_REFS else listing


def _where_objects_are(commit: str, path: str, places: list[str]) -> str:
    """The hint for an object of `path` that git does not have."""
    settings = r"^(extensions\.partialclone|remote\..*\.promisor)$"
    if not git("config", "--get-regexp", settings, may_fail=True):
        return "`git fsck` lists what is broken; `git fetch` may restore it"
    directories = [place.rpartition("/")[0] for place in (*places, path)]
    directory = next(directory for directory in directories if not directory or path.startswith(f"{directory}/"))
    return (
        "this clone is partial, and clustergen fetches nothing; this command fetches the missing files:\n"
        f'   git diff --numstat "$(git hash-object -t tree /dev/null)" {shlex.quote(f"{commit[:12]}:{directory}")}'
    )


def _places(path: str, prefix: str) -> Iterator[str]:
    """From the top of the repository; without a leading or closing slash."""
    from_prefix = _normal(f"{prefix}{path}")
    if not path.startswith(("./", "../")) and path not in (".", ".."):
        yield _normal(path)
    yield from_prefix


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in PurePosixPath(path.rstrip("/") or ".").parts:
        if part == "..":
            if not parts:
                raise ClustergenError(
                    f"{path}: outside the repository",
                    "write the path in REV:path from the repository's root, or from this directory with ./",
                )
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _with_layers(tree: Commit, places: list[str]) -> list[str]:
    """These paths, and those of the files that manifests among them extend."""
    texts = {path: item for path, item in tree.files(places).items() if path.endswith((".yaml", ".yml"))}
    manifests = [path for path in texts if path in places or path.endswith(f"/{MANIFEST}") or path == MANIFEST]
    layers: list[str] = []
    while manifests:
        path = manifests.pop()
        link = _extended(tree.text(texts[path])) if path in texts else ""
        layer = os.path.normpath(f"{path.rpartition('/')[0] or '.'}/{link}") if link else ""
        if not layer or layer.startswith(("..", "/")) or layer in layers:
            continue
        if (item := tree.item(layer)) and item.mode not in (DIRECTORY, MODULE):
            layers.append(layer)
            texts[layer] = item
            manifests.append(layer)
    return [*places, *layers]


def _extended(text: str) -> str:
    """The file that a manifest extends, as it names it; empty where there is none."""
    if "extends" not in text:
        return ""
    from clustergen.manifest.yaml_load import parse

    root, _ = parse(text.removeprefix("\ufeff"))
    link = root.child("extends") if root else None
    return link.value if link and isinstance(link.value, str) else ""


def _beside(tree: Commit, place: str, item: Item) -> list[str]:
    """The files that belong to a path of a commit: to a manifest its site files, to a rendered tree its manifest."""
    directory = place.rpartition("/")[0]
    if item.mode != DIRECTORY:
        return [f"{directory}/site".lstrip("/")]
    above = tree.item(directory) if place else None
    names = tree.names(above) if above else []
    return [f"{directory}/{name}".lstrip("/") for name in names if name.endswith(".yaml")]
