"""Runs git for `REV:path`: no transport, no lazy fetch, no replaced object; objects are read as they are stored."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Thread

from clustergen import log
from clustergen.diagnostics import ClustergenError
from clustergen.records import record

_TIMEOUT = 60
_READING = 300  # seconds for all objects of one argument
_SILENCE = 20  # seconds until the next answer: a pipe in the place of an object gives none
_CHUNK = 1 << 20
_AT_ONCE = 500  # requests; with ids of 64 characters they fit into a pipe of 64 KiB
_SHA1 = 40
_TREE_LIMIT = 1 << 26  # bytes of one directory
_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0]*)\0")
_ENVIRONMENT = {
    "GIT_NO_LAZY_FETCH": "1",  # git 2.39.4 and newer
    "GIT_ALLOW_PROTOCOL": "",  # no transport at all, whatever protocol.allow says; older ones fetch lazily in vain
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
}


class UnreadableError(Exception):
    """The repository does not have the object, or another content or kind of object under its id."""


@record
class TreeEntry:
    """One line of a directory in a commit. `name` may be anything that has no NUL, a slash included."""

    name: str
    mode: int
    sha: str


def git(*words: str, may_fail: bool = False) -> bytes:
    """The output of git; empty where it fails quietly."""
    try:
        done = subprocess.run(
            _command(*words), capture_output=True, timeout=_TIMEOUT, check=False, env=os.environ | _ENVIRONMENT
        )
    except FileNotFoundError:
        raise _not_installed() from None
    except subprocess.TimeoutExpired:
        raise ClustergenError(f"git {words[0]} did not answer within {_TIMEOUT} s") from None
    if done.returncode and not may_fail and "--quiet" not in words:
        messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ClustergenError(f"git {words[0]}: {messages[-1] if messages else done.returncode}")
    return b"" if done.returncode else done.stdout


def _command(*words: str) -> list[str]:
    log.debug(__name__, "git %s", " ".join(words))
    return ["git", "--no-pager", *words]


def _not_installed() -> ClustergenError:
    return ClustergenError("git is not installed; it is needed to read REV:path")


class _Program:
    """A running `git cat-file`. Requests that fit into a pipe may be sent before the first answer is read."""

    def __init__(self, mode: str) -> None:
        try:
            self.process = subprocess.Popen(
                _command("cat-file", mode),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | _ENVIRONMENT,
            )
        except FileNotFoundError:
            raise _not_installed() from None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.questions, self.answers = self.process.stdin, self.process.stdout


class Objects(AbstractContextManager["Objects"]):
    """The objects of the repository, by id. Each is compared with its id, so that a commit is what was reviewed."""

    def __init__(self) -> None:
        self.exceeded = 0
        """Seconds after which git was stopped; 0 where it answers."""
        self._programs: list[_Program] = []
        self._waiting_since: float | None = None
        self._is_done = Event()
        Thread(target=self._watch, daemon=True).start()
        try:
            # Two programs, since only the first can tell the size of an object without reading it.
            for mode in ("--batch-check", "--batch"):
                self._programs.append(_Program(mode))
        except BaseException:
            self.__exit__()
            raise
        self._sizes, self._contents = self._programs

    def _watch(self) -> None:
        start = time.monotonic()
        while not self._is_done.wait(0.25):
            since = self._waiting_since
            if since is not None and time.monotonic() - since > _SILENCE:
                self.exceeded = _SILENCE
            elif time.monotonic() - start > _READING:
                self.exceeded = _READING
            if self.exceeded:
                self._kill()
                return

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self._waiting_since = time.monotonic()
        yield
        self._waiting_since = None

    def _kill(self) -> None:
        for program in self._programs:
            program.process.kill()

    def __exit__(self, *_: object) -> None:
        self._is_done.set()
        self._kill()
        for program in self._programs:
            program.process.communicate()

    def sizes(self, kind: str, shas: Sequence[str]) -> Iterator[int]:
        """Bytes of each object. Raises UnreadableError where there is none of this kind."""
        yield from self._answers(self._sizes, kind, shas)

    def contents(self, kind: str, shas: Sequence[str]) -> Iterator[Iterator[bytes]]:
        """The content of each object in pieces, all of which have to be read before the next object.

        Raises UnreadableError where there is none of this kind, or at the end where it does not match its id.
        """
        for sha, size in zip(shas, self._answers(self._contents, kind, shas), strict=True):
            yield self._pieces(sha, kind, size)

    def _pieces(self, sha: str, kind: str, size: int) -> Iterator[bytes]:
        digest = hashlib.new("sha1" if len(sha) == _SHA1 else "sha256", usedforsecurity=False)
        digest.update(f"{kind} {size}\0".encode())
        left = size
        while left:
            with self._waiting():
                piece = self._contents.answers.read(min(_CHUNK, left))
            if not piece:
                raise UnreadableError
            left -= len(piece)
            digest.update(piece)
            yield piece
        self._contents.answers.read(1)  # the line's end
        if digest.hexdigest() != sha:
            raise UnreadableError

    def whole(self, sha: str, kind: str, limit: int) -> bytes:
        """The content of an object of at most `limit` bytes; a larger one counts as unreadable."""
        if next(self.sizes(kind, [sha])) > limit:
            raise UnreadableError
        return b"".join(next(self.contents(kind, [sha])))

    def directory(self, sha: str) -> Iterator[TreeEntry]:
        """The lines of a tree object, as they are. Raises UnreadableError where it is none, or malformed."""
        content = self.whole(sha, "tree", _TREE_LIMIT)
        pos = 0
        while pos < len(content):
            match = _ENTRY.match(content, pos)
            if match is None:
                raise UnreadableError
            pos = match.end() + len(sha) // 2
            if pos > len(content):
                raise UnreadableError
            name = match[2].decode("utf-8", "surrogateescape")
            yield TreeEntry(name, int(match[1], 8), content[match.end() : pos].hex())

    def _answers(self, program: _Program, kind: str, shas: Sequence[str]) -> Iterator[int]:
        """The sizes that git answers with. It ends, or says `missing`, where it has no such object."""
        for first in range(0, len(shas), _AT_ONCE):
            batch = shas[first : first + _AT_ONCE]
            try:
                program.questions.write("".join(f"{sha}\n" for sha in batch).encode())
                program.questions.flush()
            except BrokenPipeError:
                raise UnreadableError from None
            for _ in batch:
                with self._waiting():
                    answer = program.answers.readline().split()
                if len(answer) != 3 or answer[1] != kind.encode() or not answer[2].isdigit():
                    raise UnreadableError
                yield int(answer[2])
