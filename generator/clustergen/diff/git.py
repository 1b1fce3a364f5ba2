"""Files of an older commit: `REV:path`, read from git without touching the work tree."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from clustergen import log
from clustergen.diagnostics import ClustergenError, did_you_mean

_TIMEOUT = 60
_MOST_REFS = 6  # that a hint lists
_LINK, _MODULE = "120000", "160000"


def split(argument: str) -> tuple[str, str] | None:
    """Revision and path; None for what names a file of today."""
    revision, colon, path = argument.partition(":")
    return (revision, path) if colon and revision and not Path(argument).exists() else None


def is_commit(word: str) -> bool:
    """Whether git, asked from here, knows a commit of that name."""
    try:
        return bool(_git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}"))
    except ClustergenError:  # no git, or one that does not answer
        return False


def short_id(revision: str) -> str:
    """The commit's id in the fewest characters that git takes for unique; empty where there is none."""
    return (
        _git("rev-parse", "--short", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
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
    if not _git("rev-parse", "--git-dir", may_fail=True):
        raise ClustergenError(
            f"{revision}:{path}: not a git repository (or git does not trust it)",
            "cd into the repository of the manifest (`git status` shows the cause), or compare files: clustergen diff"
            " OLD NEW",
        )
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
    if not commit and revision in ("HEAD", "@"):
        message, hint = "this repository has no commit yet", "commit the manifest, or name two files to compare"
        raise ClustergenError(message, hint)
    if not commit:
        raise ClustergenError(f"git has no commit {revision!r}", near_commit(revision) or _where_commits_are())
    prefix = _git("rev-parse", "--show-prefix").decode().strip()
    for place in _places(path, prefix):
        entries = dict(_listed(commit, place))
        if entries:
            _write(entries, into)
            return into / place
    for place in _places(path, prefix):
        if module := _module(commit, place):
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
    names = _git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes", may_fail=True)
    return names.decode(errors="replace").split()


def _where_commits_are() -> str:
    if _git("rev-parse", "--is-shallow-repository").strip() == b"true":
        return "this clone is shallow: `git fetch --unshallow` (fetch-depth: 0 of actions/checkout) fetches the rest"
    listing = "`git log --oneline --all` lists them; `git fetch` brings those of others"
    refs = _refs()
    return f"the branches and tags are {', '.join(refs)}; {listing}" if 0 < len(refs) <= _MOST_REFS else listing


def _module(commit: str, place: str) -> str | None:
    """The submodule that the path is in, if it is in one."""
    parts = place.split("/")
    for depth in range(1, len(parts) + 1):
        above = "/".join(parts[:depth])
        if _git("ls-tree", "--full-tree", commit, "--", above).startswith(_MODULE.encode()):
            return above
    return None


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


def _listed(commit: str, place: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Path → mode and object: of a directory everything, of a file itself and the directory `site` beside it."""
    paths = [place] if place else []
    kind = _git("cat-file", "-t", f"{commit}:{place}", may_fail=True).decode().strip()
    if not kind:
        return
    directory = place.rpartition("/")[0]
    if kind == "blob":
        paths.append(f"{directory}/site".lstrip("/"))
    elif place and _git("cat-file", "-t", f"{commit}:{directory}", may_fail=True):
        # A tree's manifest stands beside it.
        beside = _git("ls-tree", "-z", "--full-tree", commit, *([f"{directory}/"] if directory else []))
        paths += [path for path, (mode, _) in _entries(beside) if mode.startswith("100") and path.endswith(".yaml")]
    yield from _entries(_git("ls-tree", "-r", "-z", "--full-tree", commit, "--", *paths))


def _entries(listing: bytes) -> Iterator[tuple[str, tuple[str, str]]]:
    for entry in listing.decode("utf-8", "surrogateescape").split("\0"):
        if entry:
            about, _, path = entry.partition("\t")
            mode, kind, sha = about.split()[:3]
            if kind == "blob":
                yield path, (mode, sha)


def _write(entries: dict[str, tuple[str, str]], into: Path) -> None:
    objects = "".join(f"{sha}\n" for _, sha in entries.values()).encode()
    answer = _git("cat-file", "--batch", stdin=objects)
    pos = 0
    for path, (mode, _) in entries.items():
        end = answer.find(b"\n", pos)
        about = answer[pos : max(end, pos)].split()
        if len(about) != 3 or not about[2].isdigit():  # `missing`: a clone without all objects, or a broken one
            raise ClustergenError(
                f"git cannot read {path} of this commit",
                "`git fsck` lists what is broken; `git fetch` may restore it",
            )
        size = int(about[2])
        content = answer[end + 1 : end + 1 + size]
        pos = end + size + 2
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if mode == _LINK:
            link = PurePosixPath(content.decode("utf-8", "surrogateescape"))
            if not link.is_absolute() and ".." not in link.parts:  # nothing outside may be read through it
                target.symlink_to(link)
            continue
        target.write_bytes(content)
        target.chmod(0o755 if mode.endswith("755") else 0o644)


def _git(*words: str, stdin: bytes | None = None, may_fail: bool = False) -> bytes:
    """What git prints; empty where it fails quietly."""
    log.debug(__name__, "git %s", " ".join(words))
    try:
        done = subprocess.run(
            ["git", "--no-pager", "-c", "core.quotepath=off", *words],
            input=stdin,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except FileNotFoundError:
        raise ClustergenError("git is not installed; it is needed to read REV:path") from None
    except subprocess.TimeoutExpired:
        raise ClustergenError(f"git {words[0]} did not answer within {_TIMEOUT} s") from None
    if done.returncode and not may_fail and "--quiet" not in words:
        messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ClustergenError(f"git {words[0]}: {messages[-1] if messages else done.returncode}")
    return b"" if done.returncode else done.stdout
