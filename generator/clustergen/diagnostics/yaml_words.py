"""The likely meaning of a YAML parser's complaint, in words for readers who do not know YAML's grammar.

libyaml says where it gave up, which is often behind the mistake. Each function here looks at the text around that point
for the usual mistakes: a tab, no space after a colon, an open quote or bracket, a value that needs quotes, indentation
that fits nothing.
"""

from __future__ import annotations

import re

from clustergen.diagnostics.model import Problem
from clustergen.diagnostics.words import counted, cut, quote
from clustergen.records import record

_KEY = re.compile(r"\s([A-Za-z_]\w*)$")
_VALUE = re.compile(r":[ ]+((?:[^\s,:{}\[\]\"']|:(?=\S))+)$")
_SECOND_COLON, _QUOTES = "a second ': ' in one value", "put the whole value in quotes"
_LONGEST_HINT, _LONGEST_LINE = 60, 100
_TYPOGRAPHIC = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"  # quotes as word processors and web pages have them
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?= |$)", re.MULTILINE)
_LINE_END = re.compile(r"[\n\r]|$")
_LONGEST_KEY = 1024  # libyaml gives up on the colon after that


@record
class Complaint:
    """A complaint of a parser, in `words`, at `at`; `context` is the start of the construct that it was reading.

    `last` is (start, end, style) of the last value that it read well. Positions count characters from the start.
    """

    text: str
    at: int
    words: str
    context: int | None = None
    last: tuple[int, int, str] | None = None

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def after_last(self, styles: str) -> bool:
        """True if the parser stopped right behind a value of one of these styles."""
        return bool(
            self.last
            and self.last[2]
            and self.last[2] in styles
            and 0 <= self.at - self.last[1] <= 1
            and not self.text[self.last[1] : self.at].strip(" ")
        )


def explain_error(complaint: Complaint) -> Problem:
    """The mistake that is most likely behind a parser's complaint."""
    for explain in (
        _conflict,
        _tab,
        _first_character,
        _sign,
        _escape,
        _quote,
        _flow,
        _bracket,
        _no_colon,
        _two_colons,
        _misplaced,
        _indentation,
    ):
        problem = explain(complaint)
        if problem:
            return problem
    return _problem(complaint.at, 1, f"this is not valid YAML: {complaint.words.lstrip(': ')}")


def _problem(start: int, length: int, message: str, hint: str | None = None, code: str = "yaml-syntax") -> Problem:
    return Problem(code, start, length, message, hint)


def _conflict(complaint: Complaint) -> Problem | None:
    """Markers of a merge anywhere above, since the parser may give up on a later line."""
    text = complaint.text
    markers = list(_CONFLICT.finditer(text))
    if not markers or markers[0].start() > _line_around(text, complaint.at)[1]:
        return None
    first, last = markers[0], next((one for one in markers if one[0][0] == ">"), markers[-1])
    lines = f"lines {_line_number(text, first.start())}-{_line_number(text, last.start())}"
    hint = f"resolve the conflict of {lines}, then run clustergen render"
    return _problem(first.start(), 7, "this line is a conflict marker of a git merge", hint)


def _tab(complaint: Complaint) -> Problem | None:
    text = complaint.text
    for index in (complaint.at, complaint.context):
        if index is None:
            continue
        start = _line_around(text, index)[0]
        indent = re.compile(r"[ \t]*").match(text, start)
        tab = text.find("\t", start, indent.end() if indent else start)
        if tab >= 0:
            return _problem(tab, 1, "a line is indented with a tab", "use spaces", "yaml-tab")
    if complaint.char == "\t":
        return _problem(complaint.at, 1, "a tab is not allowed here", "use spaces", "yaml-tab")
    return None


def _first_character(complaint: Complaint) -> Problem | None:
    if "cannot start any token" not in complaint.words and not (complaint.char == "," and _expected(complaint)):
        return None
    hint = f"put it in quotes: {_rest_in_quotes(complaint.text, complaint.at)}"
    return _problem(complaint.at, 1, f"a value cannot begin with {quote(complaint.char)}", hint)


def _sign(complaint: Complaint) -> Problem | None:
    """`*`, `&`, `!`, `|` and `>` at the start of what was meant as text."""
    words = complaint.words
    begin = complaint.at if complaint.context is None else complaint.context
    sign, code = quote(complaint.text[begin : begin + 1]), "yaml-syntax"
    if "scanning an alias" in words:
        message = f"{sign} begins an alias, but no name follows"
    elif "scanning an anchor" in words:
        message = f"{sign} begins an anchor, but no name follows"
    elif "scanning a tag" in words or "undefined tag" in words:
        message, code = "'!' begins a tag, but this is not a valid one", "yaml-tag"
    elif "scanning a block scalar" in words:
        message = f"{sign} starts a block of text lines, so nothing else may follow on this line"
    elif "directive" in words or "incompatible YAML document" in words:
        start, end = _line_around(complaint.text, complaint.at)
        return _problem(start, end - start, "this YAML directive is not supported", "remove the line")
    else:
        return None
    return _problem(
        begin, 1, message, f"put it in quotes if it is meant as text: {_rest_in_quotes(complaint.text, begin)}", code
    )


def _escape(complaint: Complaint) -> Problem | None:
    if "escape" not in complaint.words and "hexadecimal" not in complaint.words:
        return None
    slash = complaint.text.rfind("\\", 0, complaint.at + 1)
    begin = slash if slash >= 0 and complaint.at - slash < 12 else complaint.at
    sequence = quote(complaint.text[begin : begin + 2])
    return _problem(
        begin, 2, f"{sequence} is not an escape sequence in double quotes", "use single quotes, which keep backslashes"
    )


def _quote(complaint: Complaint) -> Problem | None:
    text, context = complaint.text, complaint.context
    if "quoted scalar" in complaint.words and context is not None:
        sign = text[context : context + 1]
        return _problem(context, 1, f"the quote {sign} opened here is never closed", f"add {sign} behind the text")
    if not complaint.after_last("'\"") or complaint.last is None:
        return None
    start, end, mark = complaint.last
    if "\n" in text[start:end]:
        line = _line_number(text, start)
        message = f"the quote {mark} ends here, but was opened on line {line}"
        return _problem(end - 1, 1, message, f"close the quote on line {line}")
    inside = "''" if mark == "'" else '\\"'
    hint = f"put the whole value in quotes, and write {inside} for a quote inside"
    return _problem(end - 1, 1, f"the quote {mark} ends the value here, but more follows", hint)


def _flow(complaint: Complaint) -> Problem | None:
    """Between `[` and `]`, or `{` and `}`."""
    text, at, context = complaint.text, complaint.at, complaint.context
    if "parsing a flow" not in complaint.words or context is None:
        return None
    if text[context : context + 1] not in ("[", "{"):
        context = max(text.rfind("[", 0, at), text.rfind("{", 0, at), 0)
    opened = text[context]
    closing = "}" if opened == "{" else "]"
    if complaint.char in ("[", "{") and at > context + 1 and not text[at - 1].isspace():
        word = re.compile(r"[^\s,{}\[\]]*$").search(text, context + 1, at)
        start = word.start() if word else at
        whole = re.compile(r"(?:\[[^\]\n:\"'{}\[]*\]|\{[^}\n]*\}|[^\s,{}\[\]])+").match(text, start)
        end = whole.end() if whole else at + 1
        if text[end : end + 1] == "[":
            return _problem(end, 1, f"{quote('[')} opened here is never closed", "add ']', and put the text in quotes")
        plain = text[start:end].strip(_TYPOGRAPHIC)
        hint = f'write "{plain}"' if end - start < _LONGEST_HINT else None
        if plain != text[start:end]:
            return _problem(start, end - start, "typographic quotes are text in YAML", hint)
        problem = _problem(start, end - start, f"brackets inside {opened} {closing} require quotes", hint)
        return problem._replace(lacks_quotes=True)
    if complaint.char in ("]", "}") and complaint.char != closing:
        return _problem(at, 1, f"{quote(complaint.char)} does not match {quote(opened)}", f"write {quote(closing)}")
    if "\n" in text[context:at] or at >= len(text) - 1:
        return _problem(context, 1, f"{quote(opened)} opened here is never closed", f"add {quote(closing)}")
    message = f"a comma or {quote(closing)} is missing here"
    if opened == "{" and complaint.char == ":" and (value := _VALUE.search(text, context, at)):
        return _problem(at, 1, _SECOND_COLON, _with_quotes(text, value.start(1)))
    if opened == "{" and complaint.char == ":" and (key := _KEY.search(text, context, at)):
        return _problem(key.start(1), len(key[1]), "a comma is missing before this key", _with_comma(text, key))
    return _problem(at, 1, message, "put text that contains , : [ ] { or } in quotes")


def _with_quotes(text: str, start: int) -> str:
    """The hint with the whole line, where it is short and the value ends with a bracket or a comma: `{a: "b: c"}`."""
    begin, end = _line_around(text, start)
    value = re.compile(r"[^,{}\[\]\"'#\n\r\\]*(?=[,}])").match(text, start, end)
    line = f'{text[begin:start]}"{value[0].rstrip()}"{text[value.end() : end].split(" #")[0].rstrip()}' if value else ""
    return f"write {line.lstrip(' -')}" if 0 < len(line) <= _LONGEST_LINE else _QUOTES


def _with_comma(text: str, key: re.Match[str]) -> str:
    """The hint with the whole line, where it is short."""
    start, end = _line_around(text, key.start(1))
    line = f"{text[start : key.start()].rstrip(' ;')}, {text[key.start(1) : end].split(' #')[0].rstrip()}".lstrip(" -")
    return f"write {line}" if len(line) <= _LONGEST_LINE else f"write , {key[1]}: …"


def _bracket(complaint: Complaint) -> Problem | None:
    """A bracket that closes nothing, or one whose value goes on behind it: `[01-08].example`."""
    text, at = complaint.text, complaint.at
    if complaint.char in ("]", "}"):
        return _problem(at, 1, f"{quote(complaint.char)} closes nothing", "put it in quotes if it is meant as text")
    if not complaint.after_last("[{") or complaint.last is None:
        return None
    start, _, opened = complaint.last
    whole = text[start : _line_around(text, at)[1]].split(" #")[0].rstrip()
    message = f"{quote('}' if opened == '{' else ']')} ends the value here, but more follows"
    if text.startswith("{{", start):
        message = "'{{' opens a mapping in YAML"
    quoted = _rest_in_quotes(text, start)
    problem = _problem(start, len(whole), message, f"put the whole value in quotes: {quoted}")
    return problem._replace(lacks_quotes=True)


def _no_colon(complaint: Complaint) -> Problem | None:
    if "simple key" not in complaint.words or complaint.context is None:
        return None
    begin = complaint.context
    line = complaint.text[begin : _line_around(complaint.text, begin)[1]]
    if len(line) >= _LONGEST_KEY:
        return _problem(begin, 1, f"a key can have at most {_LONGEST_KEY:,} characters")
    glued = re.match(r"""["']?([\w.-]+)["']?:(?=\S)""", line)
    if glued:
        colon = begin + glued.end() - 1
        key, value = glued.group(1), line[glued.end() :].split(" #")[0].strip()
        return _problem(
            colon, 1, f"the space after the colon of {quote(key)} is missing", f"write {key}: {cut(value, 60)}"
        )
    return _no_pair(begin, line.split(" #")[0].rstrip())


def _no_pair(start: int, shown: str) -> Problem:
    if (at := shown.find("\u00a0")) >= 0:  # as copied from a web page or a word processor
        return _problem(start + at, 1, "this is a no-break space, not a space", "replace it with a space")
    glued = re.match(r"([\w.-]+):(?=\S)", shown)
    pair = re.fullmatch(r"([\w.-]+)(?: | ?= ?)([^\s=]+)", shown)  # `os debian-13`, `os = debian-13`
    missing = f"write {pair[1]}: {pair[2]}" if pair else "add the missing colon"
    hint = f"add a space after the colon of {quote(glued[1])}" if glued else missing
    return _problem(start, len(shown), f"{quote(shown)} is not 'key: value'", hint)


def _two_colons(complaint: Complaint) -> Problem | None:
    if "mapping values are not allowed" not in complaint.words:
        return None
    text, at = complaint.text, complaint.at
    start = _line_around(text, at)[0]
    key = re.compile(r"""[ ]*(["']?)([\w.@/-]+)\1(?=:)""").match(text, start, at + 1)
    last = complaint.last
    if not key or key.end() != at or last is None:
        if lacks := re.compile(r"[ -]*([\w.-]+)(?= [{\[])").match(text, start, at):
            name = lacks[1]
            return _problem(lacks.start(1), len(name), f"the colon after {quote(name)} is missing", f"write {name}:")
        if item := re.compile(r" *-(?=[\w{])").match(text, start, at):
            return _problem(item.end() - 1, 1, "the space after '-' is missing", "write '- '")
        return _problem(at, 1, _SECOND_COLON, _QUOTES)
    line = _line_number(text, last[0])
    if last[0] - _line_around(text, last[0])[0] == len(key.group()) - len(key.group().lstrip(" ")):
        shown = text[last[0] : _line_around(text, last[0])[1]].split(" #")[0].rstrip()
        return _no_pair(last[0], shown)
    begin = start + len(key.group()) - len(key.group().lstrip())
    if outside := _to_the_left(text, start, begin - start):
        return outside
    message = f"{quote(key.group(2))} is indented as part of the value on line {line}"
    return _problem(begin, at - begin, message, f"indent it like the key on line {line}")


def _misplaced(complaint: Complaint) -> Problem | None:
    if "sequence entries are not allowed" in complaint.words:
        return _problem(complaint.at, 1, "a list item cannot begin here", "begin each '- ' on a separate line")
    if "document start" in complaint.words:
        return _problem(complaint.at, 1, "the manifest ends before this line", "remove the line '...'")
    if "node content" in complaint.words:
        return _problem(complaint.at, 1, f"a value cannot begin with {quote(complaint.char)}", "put it in quotes")
    return None


def _indentation(complaint: Complaint) -> Problem | None:
    text, at, context = complaint.text, complaint.at, complaint.context
    if context is None or not _expected(complaint) or "block" not in complaint.words:
        return None
    start, end = _line_around(text, at)
    if text[start:at].strip(" "):
        return None
    if complaint.char == ":":
        return _problem(at, 1, "a key is empty")
    width, column = at - start, context - _line_around(text, context)[0]
    above = _line_number(text, context)
    shown = text[at:end].split(" #")[0].rstrip()
    items = re.findall(r"^( *)- ", text[_line_around(text, context)[0] : start], re.MULTILINE)
    if items and width != len(items[-1]) and re.compile(r"-(?=\s)").match(text, at):
        expected = counted(len(items[-1]), "space")
        message = f"this list item is indented by {counted(width, 'space')}, the one above by {expected}"
        return _problem(at, 1, message, f"indent it by {expected}")
    if width == column and re.compile(r"-(?=\s)").match(text, at):
        hint = f"write '- ' before the key on line {above} as well, or remove it here"
        return _problem(at, 1, f"a list item is among the keys that begin on line {above}", hint)
    if width == column and re.compile(r"-(?=\s)").match(text, context):
        hint = f"remove the '- ' on line {above}, or write one here"
        return _problem(at, len(shown), f"a key is among the list items that begin on line {above}", hint)
    previous = _line_around(text, start - 1)[0] if start else 0
    glued = re.compile(r" *([\w-]+):[\"'\w\[{]").match(text, previous, start)
    if glued and width > column and len(glued[0]) - len(glued[0].lstrip()) == width:
        message = f"{quote(glued[1])} has no space after its colon, so this line is no key"
        return _problem(glued.start(1), len(glued[1]), message, f"add a space after the colon of {quote(glued[1])}")
    if outside := _to_the_left(text, start, width):
        return outside
    message = f"nothing above is indented by {counted(width, 'space')}"
    return _problem(at, len(shown), message, f"indent it by {counted(column, 'space')}, as line {above}")


def _to_the_left(text: str, start: int, width: int) -> Problem | None:
    """The key on the line above that at `start`, if its neighbours on both sides are keys further to the right."""
    previous = _line_around(text, start - 1)[0] if start else 0
    before = _line_around(text, previous - 1)[0] if previous else 0
    key = re.compile(r"( *)([\w-]+):").match(text, previous, start)
    if not key or len(key[1]) >= width or not re.compile(rf" {{{width}}}[\w-]+:").match(text, before, previous):
        return None
    around = counted(width, "space")
    message = f"{quote(key[2])} is indented by {counted(len(key[1]), 'space')}, the lines around it by {around}"
    return _problem(key.start(2), len(key[2]), message, f"indent it by {around}")


def _expected(complaint: Complaint) -> bool:
    return "expected" in complaint.words


def _line_number(text: str, at: int) -> int:
    """The number of the line around an index."""
    return (text.count("\n", 0, at) or text.count("\r", 0, at)) + 1


def _line_around(text: str, at: int) -> tuple[int, int]:
    """Start and end of the line around an index."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    end = _LINE_END.search(text, at)
    return start, end.start() if end else len(text)


def _rest_in_quotes(text: str, at: int) -> str:
    """The rest of a line as it would look in quotes, for a hint."""
    rest = text[at : _line_around(text, at)[1]].split(" #")[0].rstrip()
    if not rest or len(rest) > _LONGEST_HINT or "'" in rest or "\\" in rest:
        return '"…"'
    return f"'{rest}'" if '"' in rest else f'"{rest}"'
