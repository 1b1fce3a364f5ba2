"""File formats: how comments look, and which texts may stand in them unquoted.

A template's `{{ … }}` is refused unless its text cannot leave its place; filters (`sh`, `yaml` …) quote what is
free text and give back `Safe`. So a forgotten filter is an error at render time, never an injection.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable

from clustergen.cluster.environment import unprintable
from clustergen.records import record
from clustergen.slurmconf.printing import quote_value

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


class Safe(str):
    """Text that a filter has made fit for its place."""

    __slots__ = ()


class RenderError(Exception):
    """A template tried to print what cannot stand there: a defect of ours, or a value that needs refusing."""


@record
class Format:
    """A kind of file. `comment`: how a line of comment begins, and ends; None where there are none."""

    name: str
    comment: tuple[str, str] | None
    plain: re.Pattern[str]  # what may be printed without a filter

    def guard(self, value: object) -> str:
        """Jinja's finalize: the text of a printed value, or RenderError."""
        if type(value) is Safe:
            return value
        text = str(value)  # first: an undefined name is callable, and raises its own error
        if isinstance(value, bool) or value is None or callable(value):
            raise RenderError(f"{value!r} printed into a {self.name} file")
        if isinstance(value, int | float):
            return str(finite(value))
        if not self.plain.fullmatch(text):
            raise RenderError(f"{text!r} may not stand unquoted in a {self.name} file")
        return text


def _plain(allowed: str) -> re.Pattern[str]:
    return re.compile(f"[{allowed}]*")


_WORD = r"A-Za-z0-9_./:=,@%+^~\[\]*!() -"
SLURM = Format("Slurm", ("# ", ""), _plain(_WORD + r"|&"))
SHELL = Format("shell", ("# ", ""), _plain(r"A-Za-z0-9_./:=,@%+-"))
PYTHON = Format("Python", ("# ", ""), _plain(r"A-Za-z0-9_./:=,@%+-"))
LUA = Format("Lua", ("-- ", ""), _plain(r"A-Za-z0-9_./:=,@%+-"))
UNIT = Format("systemd", ("# ", ""), _plain(r"A-Za-z0-9_./:=,@+^~\[\]*!() -"))
CONF = Format("configuration", ("# ", ""), _plain(_WORD + r"<>|&;{}?$'"))
_YAML_WORD = r"(?!(?:y|n|yes|no|on|off|true|false|null|~)\Z)[A-Za-z_/][A-Za-z0-9_./@+:-]*(?<!:)|"
YAML = Format("YAML", ("# ", ""), re.compile(_YAML_WORD, re.IGNORECASE))
CSV = Format("CSV", ("# ", ""), _plain(r"A-Za-z0-9_./:;=@%+'()\[\] -"))
TABLE = Format("table", None, _plain(r"A-Za-z0-9_./:;=@%+'()\[\] -"))
"""CSV for programs that know no comments."""
XML = Format("XML", ("<!-- ", " -->"), _plain(r"A-Za-z0-9_./:=,@%+()\[\] -"))
SVG = Format("SVG", XML.comment, XML.plain)
HTML = Format("HTML", XML.comment, XML.plain)
MARKDOWN = Format("Markdown", ("<!-- ", " -->"), _plain(r"A-Za-z0-9_./:=,@%+()~?;'# -"))
JSON = Format("JSON", None, _plain(r"A-Za-z0-9_./:=,@%+-"))
BEEGFS = CONF
BARE = Format("list", None, _plain(_WORD))

_SYSTEMD = re.compile(r"(^|/)(systemd|tmpfiles\.d|sysusers\.d)/")  # percent signs are specifiers in all of them
_BY_SUFFIX = {
    ".sh": SHELL,
    ".lua": LUA,
    ".service": UNIT,
    ".timer": UNIT,
    ".mount": UNIT,
    ".automount": UNIT,
    ".path": UNIT,
    ".link": UNIT,
    ".network": UNIT,
    ".netdev": UNIT,
    ".yml": YAML,
    ".yaml": YAML,
    ".csv": CSV,
    ".xml": XML,
    ".svg": SVG,
    ".html": HTML,
    ".md": MARKDOWN,
    ".json": JSON,
}


def format_of(path: str) -> Format:
    """The format that a file's name says; configuration text where it says nothing."""
    if path.endswith(".conf") and _SYSTEMD.search(path):
        return UNIT
    dot = path.rfind(".")
    return _BY_SUFFIX.get(path[dot:], CONF) if dot > path.rfind("/") else CONF


def finite(value: float) -> float:
    """The number. RenderError for infinity and NaN, which few formats know."""
    if not math.isfinite(value):
        raise RenderError(f"{value} is no number that a file can contain")
    return value


def one_line(text: str) -> str:
    if match := _CONTROL.search(text):
        raise RenderError(f"control character {match.group()!r} in {text!r}")
    return text


def unquoted(name: str, value: str) -> Safe:
    """The value of a line NAME=VALUE without quotes. RenderError for one that such a line cannot hold."""
    if reason := unprintable(one_line(value)):
        raise RenderError(f"{name}: {value!r} cannot be written: {reason}")
    return Safe(value)


def shell_word(value: object) -> Safe:
    """One word of shell, quoted where it needs it."""
    return Safe(shlex.quote(one_line(str(value))))


def shell_text(value: object) -> Safe:
    """A text in quotes in any case: shellcheck warns of the assignment of a command's name, as `login=head`."""
    word = shell_word(value)
    return word if word.startswith("'") else Safe(f"'{word}'")


def slurm_value(value: object) -> Safe:
    """A value of Slurm's own grammar; a text that the grammar cannot hold is refused."""
    try:
        return Safe(quote_value(one_line(str(value))))
    except ValueError as err:
        raise RenderError(str(err)) from None


_JSON = json.JSONEncoder(default=dict, allow_nan=False)  # dict: the mappings that a site's templates see


def _quoted(text: str) -> str:
    """In double quotes as JSON does it; but a sign beyond U+FFFF is one escape: YAML takes JSON's two for two signs."""
    signs = (json.dumps(sign)[1:-1] if sign <= "\uffff" else f"\\U{ord(sign):08x}" for sign in text)
    return '"' + "".join(signs) + '"' if max(text, default="") > "\uffff" else json.dumps(text)


def yaml_scalar(value: object) -> Safe:
    """A YAML scalar: JSON is YAML, and JSON's strings are never taken for anything else."""
    if isinstance(value, str):
        text = str(value)
        return Safe(text) if YAML.plain.fullmatch(text) and text else Safe(_quoted(text))
    try:
        return Safe(_JSON.encode(value))
    except ValueError:
        raise RenderError("infinity or NaN is no number that a file can contain") from None


def yaml_block(value: object, indent: int) -> Safe:
    """The lines of a YAML literal block (`key: |-`), whose first line the template has indented."""
    lines = [one_line(line.rstrip()) for line in str(value).split("\n")]
    if not lines[0] or lines[0][0] == " ":
        raise RenderError(f"a YAML block cannot start with {lines[0]!r}")
    return Safe(("\n" + " " * indent).join(lines))


def yaml_folded(value: object, indent: int, width: int = 110) -> Safe:
    """One paragraph of a YAML folded block (`key: >-`), broken between words."""
    words = one_line(str(value)).split()
    lines, line = [], words[0] if words else ""
    for word in words[1:]:
        if indent + len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line += " " + word
    return Safe(("\n" + " " * indent).join([*lines, line]))


_EVALUATED = re.compile(r"\{[{%#]")


def ansible_scalar(value: object) -> Safe:
    """The same for files that Ansible evaluates: braces of the user's stay braces."""
    if isinstance(value, str) and _EVALUATED.search(value):
        return Safe("!unsafe " + _quoted(value))
    if isinstance(value, dict) and any(isinstance(item, str) and _EVALUATED.search(item) for item in value.values()):
        return Safe("{" + ", ".join(f"{yaml_scalar(key)}: {ansible_scalar(item)}" for key, item in value.items()) + "}")
    return yaml_scalar(value)


def unit_value(value: object) -> Safe:
    """A word in a unit file: percent signs are specifiers there, and dollars are variables."""
    text = one_line(str(value)).replace("\\", "\\\\").replace("%", "%%").replace("$", "$$")
    return Safe('"' + text.replace('"', '\\"') + '"' if re.search(r"[\s\"';]", text) else text)


def xml_text(value: object) -> Safe:
    text = one_line(str(value)).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return Safe(text.replace('"', "&quot;").replace("'", "&#39;"))


def markdown_text(value: object) -> Safe:
    return Safe(re.sub(r"([\\`*_{}\[\]<>|#!])", r"\\\1", one_line(str(value))))


def markdown_code(value: object) -> Safe:
    """Names for machines, in code type; a text that cannot stand in it is escaped instead."""
    text = one_line(str(value))
    return Safe(f"`{text}`") if text and not re.search(r"[`|\\]|^ | $", text) else markdown_text(text)


def markdown_prose(value: object) -> Safe:
    """A sentence in which text between backquotes is code."""
    parts = one_line(str(value)).split("`")
    return Safe(
        "".join(markdown_code(part) if number % 2 else markdown_text(part) for number, part in enumerate(parts))
    )


def html_prose(value: object) -> Safe:
    """The same in HTML."""
    parts = [xml_text(part) for part in one_line(str(value)).split("`")]
    return Safe("".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts)))


def mermaid_label(value: object) -> Safe:
    """A quoted label of a Mermaid diagram; its `<br/>` is the view's own line break."""
    parts = one_line(str(value)).split("<br/>")
    quoted = (re.sub(r"[\"#<>&`;]", lambda match: f"#{ord(match.group())};", part) for part in parts)
    return Safe('"' + "<br/>".join(quoted) + '"')


def rest_of_line(value: object) -> Safe:
    """A value that goes to the end of its line, for readers that take it as it is: no quotes, escapes or comments."""
    return Safe(one_line(str(value)))


def comment_text(value: object) -> Safe:
    """Words for people inside a comment: one line, nothing else matters there."""
    return Safe(one_line(str(value)))


FILTERS: dict[str, Callable[..., Safe]] = {
    "sh": shell_word,
    "sh_text": shell_text,
    "slurm": slurm_value,
    "yaml": yaml_scalar,
    "yaml_block": yaml_block,
    "yaml_folded": yaml_folded,
    "ansible": ansible_scalar,
    "unit": unit_value,
    "xml": xml_text,
    "md": markdown_text,
    "code": markdown_code,
    "prose_md": markdown_prose,
    "prose_html": html_prose,
    "mermaid": mermaid_label,
    "comment": comment_text,
    "rest": rest_of_line,
}
