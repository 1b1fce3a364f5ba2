"""The record of a check, and the commonest one: a program in a sandbox reads a node's files, and its output is
judged.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from clustergen.records import record
from clustergen.verify.files import Entry, TreeDirectory
from clustergen.verify.node_roots import NodeRoot
from clustergen.verify.programs import Answer, NotHere, Program, ask, find
from clustergen.verify.rows import Row, Status

PROGRAM_VERSION = "$program --version | head -1"

_MOST_WORDS = 25
_SETTING = re.compile(r"^(\w+)\s*=+\s*(.*?)\s*$")


@record
class Trial:
    """A tree with its nodes laid out; `scratch` is a directory for what a check makes."""

    tree: TreeDirectory
    nodes: tuple[NodeRoot, ...]
    scratch: Path


@record
class Check:
    """A kind of file, and who reads it.

    `reads` says of a place and the text there whether it is of this kind; the place is the path on the node, or in the
    tree (without a leading slash) for files that go on no node. `proves` is for docs/proof.md: what "passed" means and
    no more, or why nobody can be asked. `ask` may raise NotHere where no file can be read on this machine.
    """

    name: str
    what: str
    parser: str
    proves: str
    reads: Callable[[str, str], bool]
    ask: Callable[[Check, Trial, Sequence[Entry]], Iterable[Row]]

    def row(self, status: Status, entries: Iterable[Entry], words: Iterable[str] = (), version: str = "") -> Row:
        files = tuple(dict.fromkeys(entry.path for entry in entries))
        return Row(
            check=self.name,
            what=self.what,
            parser=self.parser,
            status=status,
            files=files,
            version=version,
            words=_cut(words),
        )

    def judged(self, entries: Iterable[Entry], complaints: Sequence[str], notes: Iterable[str], version: str) -> Row:
        """A row of what a parser said: passed where it complains of nothing."""
        return self.row("failed" if complaints else "passed", entries, complaints or notes, version)


def _cut(words: Iterable[str]) -> tuple[str, ...]:
    lines = tuple(dict.fromkeys(words))
    if len(lines) <= _MOST_WORDS:
        return lines
    return (*lines[:_MOST_WORDS], f"and {len(lines) - _MOST_WORDS} more lines")


def place_of(entry: Entry) -> str:
    return entry.target or entry.path


def effective_lines(question: Question) -> Iterator[str]:
    """Lines that are neither empty nor a comment, with single blanks."""
    for entry in question.entries:
        for line in entry.text.splitlines():
            if words := line.partition("#")[0].split():
                yield " ".join(words)


def paths(*patterns: str) -> Callable[[str, str], bool]:
    """Files whose place matches one of these; `*` takes slashes as well."""
    matches = re.compile("|".join(map(fnmatch.translate, patterns))).match
    return lambda place, _text: matches(place) is not None


def no_parser(check: Check, _trial: Trial, entries: Sequence[Entry]) -> list[Row]:
    """The `ask` of files that no program can read here: reported and counted."""
    return [check.row("no parser", entries, [check.proves])]


def unreadable(name: str, what: str, parser: str, why: str, *patterns: str) -> Check:
    return Check(name=name, what=what, parser=parser, proves=why, reads=paths(*patterns), ask=no_parser)


def settings(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    """Names and values of the lines NAME=VALUE of files."""
    lines = [line for entry in entries for line in entry.text.splitlines() if not line.startswith("#")]
    return [match.groups() for line in lines if (match := _SETTING.match(line))]  # type: ignore[misc]


def failure(answer: Answer) -> list[str]:
    """The output of a program with an exit status other than 0."""
    if answer.code == 0:
        return []
    if answer.code is None:
        return ["no answer in time", *answer.lines]
    return answer.lines or [f"exit status {answer.code} without a message"]


def any_word(answer: Answer) -> list[str]:
    """The same for a program that says on stderr what its exit status keeps back."""
    return failure(answer) or [line for line in answer.err.splitlines() if line.strip()]


@record
class Question:
    """A node with its files of one kind, and the program that is to read them."""

    trial: Trial
    node: NodeRoot
    entries: tuple[Entry, ...]
    program: Program

    @property
    def targets(self) -> list[str]:
        return [place_of(entry) for entry in self.entries]


@record
class Reader:
    """A program that reads files in their places on the node; the `ask` of most checks.

    `script` runs with the files' paths as its arguments. `complaints` picks what is wrong out of the answer; `notes`
    what should be known of a pass; both may raise NotHere where the answer shows that nothing was read. `newest`: of
    the newest system whatever the node's is; `since`: the first major version that can be asked. `whole`: nodes differ
    even if their files of this kind do not, because the program looks at others as well. `is_one_user`: it changes to
    no other user.
    """

    program: str
    version: str
    script: str
    complaints: Callable[[Answer, Question], Iterable[str]] = lambda answer, _question: failure(answer)
    notes: Callable[[Answer, Question], Iterable[str]] = lambda _answer, _question: ()
    stand_ins: Callable[[Question, Path], Iterable[tuple[Path, str]]] = lambda _question, _directory: ()
    arguments: Callable[[Question], Sequence[str]] = lambda question: question.targets
    since: int = 0
    newest: bool = False
    whole: bool = False
    is_one_user: bool = True

    def __call__(self, check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        asked = set()
        for number, node in enumerate(trial.nodes):
            mine = tuple(entry for entry in entries if node.files.get(entry.target or "") is entry)
            if not mine:
                continue
            try:
                program = find(self.program, "" if self.newest else node.system)
                key = (program, number if self.whole else frozenset(entry.path for entry in mine))
                if key in asked:
                    continue
                asked.add(key)
                question = Question(trial, node, mine, program)
                directory = trial.scratch / check.name.replace(" ", "-") / str(number)
                answer = ask(
                    program,
                    self.script,
                    version=self.version,
                    node=node,
                    arguments=self.arguments(question),
                    stand_ins=tuple(self.stand_ins(question, directory)),
                    is_one_user=self.is_one_user,
                )
                if int((re.findall(r"^\d+", answer.version) or ["0"])[0]) < self.since:
                    raise NotHere(
                        f"{self.program} {answer.version} is too old for this check, which requires {self.since} or"
                        " newer"
                    )
                complaints = list(self.complaints(answer, question))
                yield check.judged(mine, complaints, self.notes(answer, question), answer.version)
            except NotHere as reason:
                yield check.row("not run", mine, [str(reason)])
