"""YAML text → plain data with marks: PyYAML's events, and bounds on everything.

Built on events and not on PyYAML's constructor, so that one pass makes data and marks, nothing recurses, and a document
that nests or multiplies without end is refused before anything grows. What is refused: tags beyond the core schema,
merge keys, a key twice in one mapping, keys that are not scalars, a second document.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from clustergen.diagnostics import Problem, quote
from clustergen.manifest.yaml_nodes import Frame, Key, Node
from clustergen.manifest.yaml_scalars import CONSTANTS, CORE, is_core, plain_value, tagged_value

_REMOVE = "remove one of them"
MAX_DEPTH = 50
MAX_VALUES = 300_000
MAX_ALIASED = 100_000
MAX_PROBLEMS = 1000
MAX_UNQUOTED = 50
MAX_READ_AGAIN = 2_000_000  # characters, however often

# Patterns stay text until one is needed: compiling them all would slow every run.
_TAB_INDENT = r"\n *\t[ \t]*[^\s#]"
_TAG_DIRECTIVE = r"(?:[ \t]*+(?:#[^\n\r]*+)?[\n\r]|%YAML[^\n\r]*+[\n\r])*+(%(?!YAML)[^\n\r]*)"
_ODD_SPACE = r"(?<=[:,{\[-])[ \xa0]*\xa0|^[ \xa0]*\xa0|\xa0[ \xa0]*(?=#|$)"
_AFTER_DOCUMENT = r"(?:\s++|#[^\n\r]*+|\.\.\.(?=\s|$))*+"


class _RefusedError(Exception):
    """Reading cannot go on."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def parse(text: str) -> tuple[Node | None, list[Problem]]:
    """The document's root and all that is wrong with it; no root when it is empty or could not be read to its end.

    Never raises for any text. Duplicate keys (the first counts), merge keys (left out) and tags do not end the reading,
    nor do brackets that lack quotes: what is behind them is read as if they had them. No-break spaces around values are
    read as spaces.
    """
    text, odd = _without_odd_spaces(text)
    root, problems, refusal = _read(text)
    problems += odd
    if refusal is None:
        return root, problems
    unquoted: list[Problem] = []
    while refusal and refusal.lacks_quotes and len(unquoted) < min(MAX_UNQUOTED, MAX_READ_AGAIN // len(text)):
        end = refusal.start + refusal.length
        plain = text[: refusal.start] + re.sub(r"[][{},:]", "_", text[refusal.start : end]) + text[end:]
        if plain == text:
            break
        unquoted.append(refusal)
        text = plain
        _, problems, refusal = _read(text)
        problems += odd
    if refusal and (not unquoted or "\n" in text[unquoted[-1].start : refusal.start]):  # on one line it may follow
        problems.append(refusal)
    return None, [*problems, *unquoted]


def _without_odd_spaces(text: str) -> tuple[str, list[Problem]]:
    """The text with spaces in place of no-break spaces around values, and a problem for each. Those in quotes stay."""
    if "\xa0" not in text:
        return text, []
    spans = [match.span() for match in re.finditer(_ODD_SPACE, text, re.MULTILINE)]
    root = _read(re.sub(_ODD_SPACE, _blanks, text, flags=re.MULTILINE))[0]
    problems = []
    for start, end in spans[:MAX_PROBLEMS]:
        if not (root is not None and root.has_scalar_at(start, styles="'\"|>")) and not _is_comment(text, start, root):
            text = text[:start] + " " * (end - start) + text[end:]
            message = "this is a no-break space, not a space"
            problems.append(Problem("yaml-syntax", start, end - start, message, "replace it with a space"))
    return text, problems


def _is_comment(text: str, offset: int, root: Node | None) -> bool:
    """True if a comment begins before an offset, on its line."""
    line = text.rfind("\n", 0, offset) + 1
    signs = (line + match.start() for match in re.finditer(r"(?<![^\s\xa0])#", text[line:offset]))
    return any(root is None or not root.has_scalar_at(sign) for sign in signs)


def _blanks(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _read(text: str) -> tuple[Node | None, list[Problem], Problem | None]:
    """The root, the problems that do not end the reading, and the one that does."""
    composer = _Composer(text)
    try:
        return composer.document(), composer.problems, None
    except _RefusedError as refused:
        return None, composer.problems, refused.problem
    except yaml.MarkedYAMLError as err:
        from clustergen.diagnostics.yaml_words import Complaint, explain_error

        mark, context = err.problem_mark or err.context_mark, err.context_mark
        node = composer.last
        last = (node.start, node.end, node.style) if node else None
        words = f"{err.context or ''}: {err.problem or ''}"
        complaint = Complaint(text, mark.index if mark else 0, words, context.index if context else None, last)
        return None, composer.problems, explain_error(complaint)
    except yaml.YAMLError as err:
        return None, composer.problems, Problem("yaml-syntax", 0, 0, f"this cannot be read as YAML: {err}")


class _Composer:
    """Makes nodes of one document's events. `problems` collects what does not end the reading."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.problems: list[Problem] = []
        self.last: Node | None = None
        self._anchors: dict[str, tuple[Node, int] | None] = {}
        self._aliased = 0
        self._tab_indent = re.compile(_TAB_INDENT) if "\t" in text else None

    def document(self) -> Node | None:
        """Reads to the end of the first document; raises _RefusedError or a YAMLError where it cannot."""
        directive = re.match(_TAG_DIRECTIVE, self.text) if "%" in self.text else None
        if directive:
            start, end = directive.span(1)
            raise _RefusedError(Problem("yaml-tag", start, end - start, "YAML directives are not supported"))
        next_event = _events(self.text)
        root: Node | None = None
        frames: list[Frame] = []
        top: Frame | None = None
        count = 0
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                if top is not None and top.mapping and top.key is None:
                    top.key = self._key(event, top.node)
                    continue
                child = self.last = self._scalar(event)
                count += 1
                if event.anchor is not None:
                    self._anchors[event.anchor] = (child, 1)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                frame = frames.pop()
                top = frames[-1] if frames else None
                child = self.last = frame.node
                child.end = event.end_mark.index
                if frame.anchor is not None:
                    self._anchors[frame.anchor] = (child, count - frame.before)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                top = self._opened(event, kind is MappingStartEvent, top, len(frames), count)
                frames.append(top)
                count += 1
                continue
            elif kind is AliasEvent:
                child, size = self._alias(event, top, len(frames))
                count += size
            elif kind is DocumentEndEvent:
                self._check_rest(event.start_mark.index, next_event)
                return root
            elif kind is StreamEndEvent:
                return root
            else:
                continue
            if len(self.problems) >= MAX_PROBLEMS:
                message = f"{MAX_PROBLEMS:,} errors; clustergen stops reading here"
                raise _RefusedError(Problem("yaml-syntax", child.start, 0, message))
            if count > MAX_VALUES:
                raise _RefusedError(Problem("file-too-large", child.start, 0, f"more than {MAX_VALUES:,} values"))
            if top is None:
                root = child
            else:
                top.add(child)

    def _key(self, event: Any, node: Node) -> Key:
        """The key's text and span; no text where its value is to be left out."""
        text, start, end = event.value, event.start_mark.index, event.end_mark.index
        size = end - start
        if event.tag is not None or event.anchor is not None:
            self.problems.append(Problem("yaml-tag", start, size, "a key cannot have a tag or an anchor"))
        elif not text or (event.implicit[0] and text in CONSTANTS and CONSTANTS[text] is None):
            self.problems.append(Problem("yaml-syntax", start, size, "a key is empty"))
        elif text == "<<":
            hint = "write like: NAME in a node type to take over another's values, or extends: FILE for whole sections"
            self.problems.append(Problem("yaml-merge-key", start, size, "merge keys (<<) are not supported", hint))
            node.is_incomplete = True
        elif text in node.keys:
            first = node.keys[text]
            self.problems.append(
                Problem("yaml-duplicate-key", start, size, f"key {quote(text)} is listed twice", _REMOVE, other=first)
            )
            return text, start, end
        else:
            return text, start, end
        return None, start, end

    def _scalar(self, event: Any) -> Node:
        text, start, end = event.value, event.start_mark.index, event.end_mark.index
        if event.tag is not None and event.tag != "!":
            return Node(start, end, self._tagged(event, start), event.style or "")
        if not event.implicit[0]:
            return Node(start, end, text, event.style or "")
        if self._tab_indent and (tab := self._tab_indent.search(self.text, start, end)):
            at = self.text.index("\t", tab.start())
            self.problems.append(Problem("yaml-tab", at, 1, "a line is indented with a tab", "use spaces"))
        return Node(start, end, plain_value(text))

    def _tagged(self, event: Any, start: int) -> Any:
        """The value of a scalar with a tag: `!!str 5` is text."""
        try:
            return tagged_value(event.tag, event.value, plain=not event.style)
        except ValueError:
            from clustergen.diagnostics.yaml_refusals import explain_tag

            self.problems.append(explain_tag(self.text, start, event.value if is_core(event.tag) else None))
        return event.value

    def _opened(self, event: Any, mapping: bool, top: Frame | None, depth: int, count: int) -> Frame:
        start = event.start_mark.index
        if top is not None and top.mapping and top.key is None:
            raise _no_key(self.text, start)
        if depth >= MAX_DEPTH:
            raise _too_deep(start)
        if event.tag not in (None, "!", CORE + ("map" if mapping else "seq")):
            from clustergen.diagnostics.yaml_refusals import explain_tag

            self.problems.append(explain_tag(self.text, start))
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        style = ("{" if mapping else "[") if event.flow_style else ""
        node = Node(start, start, {} if mapping else [], style)
        node.children = {} if mapping else []
        node.height = 1
        return Frame(node, event.anchor, count)

    def _alias(self, event: Any, top: Frame | None, depth: int) -> tuple[Node, int]:
        """The node that an alias stands for, and how many values that adds."""
        start, end, name = event.start_mark.index, event.end_mark.index, event.anchor
        if top is not None and top.mapping and top.key is None:
            raise _no_key(self.text, start)
        if name not in self._anchors:
            from clustergen.diagnostics.yaml_refusals import explain_alias

            raise _RefusedError(explain_alias(start, end, name, self._anchors))
        anchor = self._anchors[name]
        if anchor is None:
            raise _RefusedError(
                Problem("yaml-too-many-aliases", start, end - start, f"{quote('*' + name)} contains itself")
            )
        node, size = anchor
        self._aliased += size
        if self._aliased > MAX_ALIASED:
            message = f"aliases expand to more than {MAX_ALIASED:,} values"
            raise _RefusedError(Problem("yaml-too-many-aliases", start, end - start, message))
        if depth + node.height > MAX_DEPTH:
            raise _too_deep(start)
        if node.children is None:
            node = Node(start, end, node.value, "*")
        return node, size

    def _check_rest(self, end: int, next_event: Callable[[], Any]) -> None:
        """Refuses a second document without reading it; asks the parser what is wrong with anything else."""
        if end == len(self.text):
            return
        rest = re.compile(_AFTER_DOCUMENT).match(self.text, end)
        at = rest.end() if rest else end
        if self.text.startswith(("---", "%"), at):
            hint = "move the second document to a separate file: one file describes one cluster"
            raise _RefusedError(Problem("yaml-many-documents", at, 3, "a second document begins here", hint))
        if at < len(self.text):
            next_event()
            raise _RefusedError(Problem("yaml-syntax", at, 1, "the manifest ends before this line"))


def _no_key(text: str, start: int) -> _RefusedError:
    from clustergen.diagnostics.yaml_refusals import explain_key

    return _RefusedError(explain_key(text, start))


def _too_deep(start: int) -> _RefusedError:
    return _RefusedError(Problem("yaml-too-deep", start, 1, f"more than {MAX_DEPTH} nested levels"))


def _events(text: str) -> Callable[[], Any]:
    """A function that gives the next event; libyaml's parser where PyYAML has it, else the slower one in Python."""
    if yaml.__with_libyaml__:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]  # the stubs leave it out

        return CParser(text).get_event

    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class PythonParser(Reader, Scanner, Parser):
        def __init__(self) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)

    return PythonParser().get_event
