"""Finds what looks like a secret, and masks it: manifests and trees are read by many people and kept in git for ever.

The one detector for manifests, options, site files and imported files. `secret_rules` is the table of forms and files,
`secret_names` has the names; `redaction` keeps what is found out of messages and excerpts.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from operator import itemgetter
from typing import Any

from clustergen.diagnostics.model import Finding, ManifestPath
from clustergen.diagnostics.secret_names import Check, check_of, is_misspelt
from clustergen.diagnostics.secret_rules import BINARY_KEY, FILES, RULES, FileRule, Rule
from clustergen.diagnostics.secret_values import (
    could_be_secret,
    is_mixed,
    is_password_like,
    is_random,
    is_reference,
    is_reference_in_text,
)
from clustergen.diagnostics.words import quote

Spans = list[tuple[int, int]]
_HINT = "keep it in Ansible Vault, or let the playbook generate it on the controller"
# Where a key of the manifest ends in a file that everybody can read, what to do instead.
_HINTS: tuple[tuple[ManifestPath, str], ...] = (
    (
        ("monitoring", "receivers"),
        "write webhook_url_file or slack_url_file, the path of a file on the monitoring node that contains the URL",
    ),
    (
        ("slurm", "accounting"),
        "set slurm.accounting.password: true, and pass the password to Ansible as secrets_given.slurmdbd",
    ),
    (
        ("slurm",),
        "use a plugin that needs no password in slurm.conf, which every user of the cluster can read,"
        " such as accounting by slurmdbd",
    ),
    (("ansible", "variables"), "keep it in Ansible Vault, and pass it with `ansible-playbook -e @secrets.yml`"),
)
# Keys of a mapping below a secret's name that hold the secret itself.
_CONTAINERS = ("content", "data", "default", "literal", "plain", "plaintext", "raw", "string", "text", "value")
_OPENPGP = frozenset((0x98, 0x99, 0x9A, 0x9B, 0xC6))  # first bytes of public keys
# A text without any of these, in lower case, holds no such name.
_STEMS = (
    *("pass", "pw", "psk", "secret", "token", "credential", "bearer", "cookie", "auth", "communit", "contrase", "wort"),
    *("key", "licen", "login", "encrypt", "hmac", "hs256", "jwt", "munge", "ngc", "otp", "seed", "wandb", "wireguard"),
    *("luks", "priv", "shared", "pin", "gossip"),
)
# A name and a value in free text: `password: x`, `TOKEN=x`, `"api_key": "x"`; `--pass x`; `the password is x`, `pw x`;
# `PASSWORD('x')`; `name="password" value="x"`. The text is untrusted: what can overlap with other matches has a limit.
_LONGEST = 200  # characters of a value in which other names and values are looked for
_ASSIGNMENT = (
    r"(?<![\w.@])(?P<name>[A-Za-z_][\w.-]{0,63})(?P<closed>[\"'\]]{0,2})"
    r"(?P<sign>[ \t]{0,3}(?::=|=>|::|:|=)[ \t]{0,3})(?P<quote>[\"']{0,3})"
    rf"(?=(?P<value>[^\s\"'<>,;&|`]{{4,{_LONGEST}}}))"
)
_REST = r"[^\s\"'<>,;&|`]*"
_FLAG = r"(?<!\S)--?(?P<name>[A-Za-z][\w-]{0,63})[ \t]+(?P<quote>[\"']?)(?P<value>[^\s\"'<>;&|`-][^\s\"'<>;&|`]{3,})"
_SPOKEN = (
    r"(?<![\w.@/-])(?P<name>[A-Za-z_][\w-]{0,63})[ \t]+(?P<verb>(?:is|are|ist|lautet|est|es)(?:[ \t]*+:)?[ \t]++)?"
    r"[\"']?(?=(?P<value>[^\s\"'`<>|;,()=]{6,}={0,2})(?![\w=]))"
)
_IN_QUOTES = (
    r"(?<![\w.])(?P<name>[A-Za-z_][\w.]{0,63})\([\"'](?P<value>[^\s\"']{4,})[\"']",
    r"name=\"(?P<name>[\w.-]{1,64})\"[ \t]+value=\"(?P<value>[^\s\"]{4,})\"",
)
_OF_PARSER = re.compile(r"\b(?:unrecogni[sz]ed|unexpected|unknown|undefined|no such) +$", re.IGNORECASE)
_PARSERS_WORD = 20  # characters before a name that say whose it is
_LOOKUP = r"\b(?:lookup|query|q)\([^()]*\)"
LONG_WORD = r"(?<![A-Za-z0-9_])[A-Za-z0-9_][\w.:/@=+-]{25,}"
_CHECKS: dict[str, Callable[[str], bool]] = {"random": is_random, "password": is_password_like, "mixed": is_mixed}


def find_secrets(data: Any, shaped: bool) -> Iterator[Finding]:
    """Every scalar of a manifest that looks like a secret by its key, and where it may be `shaped`, by itself."""
    yield from _walk(data, (), "", shaped)


def _walk(value: Any, path: ManifestPath, key: str, shaped: bool) -> Iterator[Finding]:
    if isinstance(value, dict):
        for name, inner in value.items():
            inherited = key and isinstance(name, str) and _inherits(key, name)
            yield from _walk(inner, (*path, name), key if inherited else str(name), shaped)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*path, index), key, shaped)
    elif _is_named_secret(key, value) or (isinstance(value, str) and could_be_secret(value) and is_misspelt(key)):
        yield Finding("secret-in-manifest", path, f"{quote(key)} looks like a secret", _hint(path), key=True)
    elif shaped and isinstance(value, str) and secret_spans(value):
        yield Finding("secret-in-manifest", path, "this value looks like a secret", _hint(path), key=True)


def _inherits(key: str, name: str) -> bool:
    """True if a key of a mapping below a secret's name holds the secret: its value, or one of several passwords."""
    return check_of(key) == "any" and (name.lower() in _CONTAINERS or check_of(f"password_{name}") == "any")


def _hint(path: ManifestPath) -> str:
    return next((hint for start, hint in _HINTS if path[: len(start)] == start), _HINT)


def is_secret(key: str, text: str) -> bool:
    """True if a setting of a configuration file is one, by its name, also a misspelt one, or by its text."""
    named = _is_named_secret(key, text) or (is_misspelt(key) and not is_reference(text))
    return named or bool(secret_spans(text))


def _is_named_secret(key: str, value: Any) -> bool:
    """True if the name of a key makes its value a secret. Numbers count, booleans and references do not."""
    check = check_of(key) if key else None
    if check is None or isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        counted = key.lower().endswith(("token", "tokens", "pass")) and abs(value) < 1_000_000
        return (check == "digits" and value > 999) or (check == "any" and not counted)
    if not isinstance(value, str):
        return False
    return not is_reference(value) if check == "any" else _fits(check, value)


def _fits(check: Check, value: str) -> bool:
    """True if a value of a doubtful name is a secret."""
    if check == "digits":
        return re.fullmatch(r"\d{4,8}", value) is not None
    return is_random(value) or (check == "password" and is_password_like(value))


def secret_in_file(target: str, content: bytes) -> FileRule | int | None:
    """The rule or line that makes a file of the nodes a secret: a rule for its path, or a line; None if nothing
    does.
    """
    text = content.decode(errors="replace")
    if not text.strip():
        return None
    if rule := next((rule for rule in FILES if re.fullmatch(rule.pattern, target)), None):
        return rule
    if spans := secret_spans(text):
        return text.count("\n", 0, spans[0][0]) + 1
    is_binary = "\ufffd" in text and content[0] not in _OPENPGP
    return BINARY_KEY if is_binary and re.fullmatch(BINARY_KEY.pattern, target) else None


def secret_spans(text: str, *, strict: bool = False) -> Spans:
    """Where a text of any kind holds something that looks like a secret, in order.

    `strict` counts a sentence too, such as "the password: ask the operators".
    """
    lower = text.lower()
    if len(lower) != len(text):
        lower = text  # a few letters change their length; the spans have to fit
    long_words = [match.span() for match in _compiled(LONG_WORD).finditer(text)]
    spans = {span for rule in RULES for span in rule_spans(rule, text, lower, long_words)}
    return sorted({*spans, *_named_values(text, lower, strict)})


def rule_spans(rule: Rule, text: str, lower: str, long_words: Spans) -> Iterator[tuple[int, int]]:
    """Where one rule matches; `lower` is the text in lower case."""
    if not rule.marks:
        places = long_words
    elif not any(mark in lower for mark in rule.marks):
        return
    elif rule.is_multiline:
        places = [(0, len(text))]
    else:
        places = _lines_with(rule.marks, text, lower)
    pattern = _compiled(rule.pattern)
    for start, end in places:
        for match in pattern.finditer(text, start, end):
            value = match.groupdict().get("value") or match[0]
            if not rule.check or _CHECKS[rule.check](value.rstrip(".)]}")):
                yield match.span("value" if match.groupdict().get("value") else 0)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


def _named_values(text: str, lower: str, strict: bool) -> Iterator[tuple[int, int]]:
    """Spans of values that a name before them makes secret."""
    for start, end in _lines_with(_STEMS, text, lower):
        lookups = [match.span() for match in _compiled(_LOOKUP).finditer(text, start, end)]
        for span in _of_line(text, start, end, strict):
            before = bisect_right(lookups, span[0], key=itemgetter(0)) - 1
            if before < 0 or lookups[before][1] <= span[0]:
                yield span


def _of_line(text: str, start: int, end: int, strict: bool) -> Iterator[tuple[int, int]]:
    whole = start
    for pattern in (_ASSIGNMENT, _FLAG):
        for match in _compiled(pattern).finditer(text, start, end):
            check = check_of(match["name"])
            if check and (_fits(check, match["value"]) if check != "any" else _is_value(match, text, strict)):
                first, last = match.span("value")
                yield first, last
                if last - first == _LONGEST and first >= whole:  # once for all values that end together
                    rest = _compiled(_REST).match(text, last, end)
                    whole = rest.end() if rest else last
                    yield first, whole
    for match in _compiled(_SPOKEN).finditer(text, start, end):
        value = match["value"].rstrip(".)]}")
        if (check_of(match["name"]) == "any" or match["name"] == "community") and (
            is_random(value)
            or (is_mixed(value) and not is_reference_in_text(value) if match["verb"] else is_password_like(value))
        ):
            yield match.span("value")
    for pattern in _IN_QUOTES:
        for match in _compiled(pattern).finditer(text, start, end):
            if check_of(match["name"]) == "any" and is_mixed(match["value"]):
                yield match.span("value")


def _is_value(match: re.Match[str], text: str, strict: bool) -> bool:
    """True if what stands behind a secret's name and a sign is the secret: no reference, no sentence."""
    value = match["value"].rstrip("]})")
    if _OF_PARSER.search(text, max(match.start() - _PARSERS_WORD, 0), match.start("name")):
        return could_be_secret(value)
    amount = value.isdigit() and len(value) < 7 and match["name"].lower().endswith(("token", "tokens"))
    return strict or not (amount or is_reference_in_text(value) or _is_sentence(match, text))


def _lines_with(marks: Iterable[str], text: str, lower: str) -> Spans:
    """Spans of the lines with one of the marks, in order."""
    spans = set()
    for mark in marks:
        at = lower.find(mark)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            spans.add((text.rfind("\n", 0, at) + 1, end))
            at = lower.find(mark, end)
    return sorted(spans)


def _is_sentence(match: re.Match[str], text: str) -> bool:
    """True if `name: value` is part of a sentence: the value is a plain word, and another word follows it."""
    groups = match.groupdict()
    if groups["quote"] or ":" not in groups.get("sign", "") or not groups["value"].rstrip(",.").isalpha():
        return False
    return re.match(r"[,.]? +\w", text[match.end("value") : match.end("value") + 8]) is not None
