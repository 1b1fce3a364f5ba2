"""The lock file of a tree, read as what it is: input that anybody may have edited.

Everything that reads a tree (render, diff, verify, the playbooks) reads its lock file here.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from clustergen import __version__, regular_file
from clustergen.diagnostics import ClustergenError
from clustergen.regular_file import reason_of
from clustergen.render import effects
from clustergen.render.node_hardware import read_hardware
from clustergen.render.tree import FILE_LIMIT, HEADER, LOCK, LOCK_FORMAT, LOCK_LIMIT, README, STAGING, TOP


class Entry(TypedDict, total=False):
    """A file of the tree. All keys but `sha256` are those of files that go on nodes, which have all of them."""

    sha256: str
    group: str
    target: str
    mode: str
    owner: str
    effect: str
    source: str


class Manifest(TypedDict):
    """`meaning`: as of `Source.meaning`; empty in trees of format 1, which have a hash of the manifest's bytes."""

    name: str
    meaning: str


class LockFile(TypedDict):
    """`hardware`: group of a node type → what `node_hardware` reads. `files`: path in the tree → entry."""

    format: int
    clustergen: str
    manifest: Manifest
    hardware: dict[str, Any]
    extensions: NotRequired[dict[str, str]]  # name → package and version
    files: dict[str, Entry]


MARKERS = "the conflict markers of a git merge"


def has_conflict(content: bytes) -> bool:
    return bool(_CONFLICT.search(content))


class LockFileError(ClustergenError):
    """The lock file exists and cannot be used."""


class ConflictError(ValueError):
    """The lock file is the result of a merge with conflicts."""


class NewerError(ValueError):
    """A later version of clustergen wrote the lock file."""


def read_lock(directory: Path, name: str | None = None) -> LockFile | None:
    """The lock file of a directory; None where it has none.

    `name` is what messages call the directory. Raises LockFileError (exit code 3) for everything that `Tree.lock` does
    not write.
    """
    shown = f"{name or directory}/{LOCK}"
    try:
        return parse_lock(regular_file.read(directory / LOCK, LOCK_LIMIT))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as err:
        reason = reason_of(err)
    except ConflictError as err:
        raise LockFileError(f"{shown}: {err}", "run clustergen render MANIFEST, which writes the tree again") from None
    except NewerError as err:
        hint = "install that version or a later one, or render the tree again elsewhere with -o DIRECTORY"
        raise LockFileError(f"{shown}: {err}", hint) from None
    except ValueError as err:
        reason = str(err)
    hint = f"restore it from git, or remove {name or directory} and render the tree again"
    raise LockFileError(f"{shown} cannot be read: {reason}", hint)


def owned(directory: Path) -> dict[str, str]:
    """Path → SHA-256 of the files that clustergen wrote to a directory, but for the lock file.

    After a merge with conflicts in the lock file: of both sides, where it is a path as trees have it.

    Raises LockFileError as `read_lock`.
    """
    try:
        lock = read_lock(directory)
    except LockFileError:
        entries = _entries_of_both_sides(directory)
        if entries is None:
            raise
        return entries
    return {path: entry["sha256"] for path, entry in lock["files"].items()} if lock else {}


def raw_with_conflicts(directory: Path) -> bytes | None:
    """The bytes of a lock file that is the result of a merge with conflicts; None of another one."""
    try:
        raw = regular_file.read(directory / LOCK, LOCK_LIMIT)
    except OSError:
        return None
    return raw if has_conflict(raw) else None


def _entries_of_both_sides(directory: Path) -> dict[str, str] | None:
    """None where the file has no conflict markers. Of an entry on both sides, the first one counts."""
    raw = raw_with_conflicts(directory)
    if raw is None:
        return None
    files: dict[str, str] = {}
    for line in raw.decode("utf-8", "replace").splitlines():
        try:
            ((path, entry),) = json.loads(f"{{{line.strip().rstrip(',')}}}").items()
            if is_inside(path) and path.partition("/")[0] in TOP:
                _check_entry(path, entry)
                files.setdefault(path, entry["sha256"])
        except (ValueError, RecursionError):
            continue  # a marker, or a line of another section
    return files


def without_lock(directory: Path, name: str | None = None) -> ClustergenError:
    """The error for a directory without a lock file: a tree that lacks it, or no tree."""
    shown = name or directory
    if is_rendered(directory / README):
        hint = f"run git restore {shown}/{LOCK}, or remove {shown} and run clustergen render MANIFEST -o {shown}"
        return LockFileError(f"{shown}/{LOCK} is missing: it lists the files of this rendered tree", hint)
    hint = f"run clustergen render MANIFEST -o {shown}"
    return LockFileError(f"{shown} contains no {LOCK}, so it is not a rendered tree", hint)


def is_rendered(place: Path) -> bool:
    """True if a file begins as rendered ones do."""
    try:
        return HEADER[0].encode() in regular_file.read(place, FILE_LIMIT)[:200]
    except OSError:
        return False


def parse_lock(raw: bytes) -> LockFile:
    """Raises ValueError, with what is wrong."""
    if has_conflict(raw):
        raise ConflictError(f"it has {MARKERS}")
    try:
        document = json.loads(raw)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:  # UnicodeDecodeError and numbers of thousands of digits among them
        raise ValueError("it is not JSON as clustergen writes it") from None
    if not isinstance(document, dict):
        raise ValueError("it is not a mapping")
    if type(document.get("format")) is not int:
        raise ValueError("it has no format number")
    if document["format"] not in (1, LOCK_FORMAT):
        writer = document.get("clustergen")
        if document["format"] > LOCK_FORMAT and isinstance(writer, str) and _PLAIN.fullmatch(writer):
            formats = f"format {document['format']}, and {__version__} reads format {LOCK_FORMAT}"
            raise NewerError(f"clustergen {writer:.40} rendered this tree, which is newer: it has {formats}")
        raise ValueError(f"it has format {document['format']}, this clustergen reads format {LOCK_FORMAT}")
    _text("clustergen", document.get("clustergen"), _PLAIN)
    manifest = _mapping(document, "manifest")
    _text("manifest.name", manifest.get("name"), _NAME)
    if document["format"] == 1:
        document["manifest"] = {"name": manifest["name"], "meaning": ""}
    else:
        _text("manifest.meaning", manifest.get("meaning"), _SHA256)
    document.setdefault("hardware", {})  # trees of older versions have none
    for group, entry in _mapping(document, "hardware").items():
        read_hardware(group, entry)
    for name, origin in _mapping(document, "extensions", absent={}).items():
        _text("extensions", name, _PLAIN)
        _text(f"extensions.{name}", origin, _ORIGIN)
    for path, entry in _mapping(document, "files").items():
        if not is_inside(path):
            raise ValueError(f"{path!a} is outside the tree")
        _check_entry(path, entry)
    return document  # type: ignore[return-value]


_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")  # by HFS+ in names, as git has it
_CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PLAIN = re.compile(r"[!-~]+")
_ORIGIN = re.compile(r"[!-~]+ [!-~]+")
_CHARACTER = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"  # printable, and encodable as UTF-8
_NAME = re.compile(f"(?:(?!/){_CHARACTER})+")
_FORMS = {
    "group": re.compile(r"[A-Za-z0-9_]+"),
    "target": re.compile(r"(/[^/]+)+"),
    "mode": re.compile(r"[0-7]{4}"),
    "owner": re.compile(r"[A-Za-z0-9_.$-]+:[A-Za-z0-9_.$-]+"),
    "effect": re.compile(r"[ -~]+"),
    "source": re.compile(f"{_CHARACTER}*"),
}


def _check_entry(path: str, entry: Any) -> None:
    if not isinstance(entry, dict):
        raise ValueError(f"{path} has no mapping")
    _text(f"{path}: sha256", entry.get("sha256"), _SHA256)
    if "group" in entry:
        for key, form in _FORMS.items():
            _text(f"{path}: {key}", entry.get(key), form)
        effects.read(entry["effect"])
        if not is_inside(entry["target"][1:]):
            raise ValueError(f"{path}: target {entry['target']!a} is outside the tree of a node")
    elif more := sorted(entry.keys() & _FORMS.keys()):
        raise ValueError(f"{path}: {more[0]} without a group")


def _mapping(document: dict[str, Any], name: str, absent: Any = None) -> dict[str, Any]:
    value = document.get(name, absent)
    if not isinstance(value, dict):
        raise ValueError(f"it has no mapping '{name}'")
    return value


def _text(what: str, value: Any, form: re.Pattern[str]) -> None:
    if not isinstance(value, str) or form.fullmatch(value) is None:
        raise ValueError(f"{what} is {value!a:.80}")


def is_inside(path: str) -> bool:
    """True if a path names a file below the directory that it is relative to, in its shortest form and printable. Git's
    directory is outside: a file in it can be a program that git runs.
    """
    parts = path.split("/")
    if not path.isprintable() or path.startswith(STAGING) or {"", ".", ".."}.intersection(parts):
        return False
    return not any(map(is_gits_directory, parts))


@lru_cache(4096)  # a tree has a thousand paths, and their parts few names
def is_gits_directory(name: str) -> bool:
    """True if a file system could take a name for `.git`: also in capitals, as Windows shortens it, or with characters
    that macOS ignores.
    """
    return re.split(r"[:\\]", _IGNORED.sub("", name))[0].rstrip(" .").lower() in (".git", "git~1")
