"""pydantic's errors → findings in a user's words: unknown and missing keys, wrong types, values out of bounds.

A PydanticCustomError of a model keeps its own words: its type is the code where `CODES` has it, and its context may
hold `hint`, `offset` and `length` of the span that is meant inside a scalar, and `absent`: keys beside it whose absence
is part of the same mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from clustergen.diagnostics.codes import CODES
from clustergen.diagnostics.forms import form_of, odd_character, sample_of, text_hint
from clustergen.diagnostics.literals import (
    addition_hint,
    bare_of,
    beginning_hint,
    choice_hint,
    duration_hint,
    example_hint,
    is_list_of_scalars,
    literal_hint,
    name_hint,
    number_in,
    range_hint,
)
from clustergen.diagnostics.misplaced import misplaced_sections
from clustergen.diagnostics.model import Finding, ManifestPath
from clustergen.diagnostics.model_path import (
    Located,
    choices_of,
    follow,
    has_switch,
    keys_of,
    models_of,
    places_for,
    section_of,
    tags_of,
    tags_with,
    takes_switch,
)
from clustergen.diagnostics.proposals import (
    in_one_section,
    inner_key_hint,
    list_item_hint,
    named_value_hint,
    of_user,
    other_names_hint,
    source_hint,
    swapped,
)
from clustergen.diagnostics.shapes import counted_keys, refusal
from clustergen.diagnostics.words import did_you_mean, on_one_line, one_of, quote, suggest, where
from clustergen.records import replace

TextOf: TypeAlias = Callable[[ManifestPath], str | None]
Hint: TypeAlias = Callable[[ManifestPath], str | None]
Refine: TypeAlias = Callable[[list[Finding], Any], list[Finding]]
_Error: TypeAlias = Mapping[str, Any]

# What was wanted, by pydantic's error type.
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "iterable_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "left empty",
}
# What a value must be, by pydantic's error type; the names are those of the error's context.
_BOUNDS = {
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "finite_number": "must be a finite number",
    "int_parsing_size": "must be a smaller number",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
}
_MOST_ERRORS = 1000
_MOST_KEYS = 15
_OF_A_PACKAGE = "the package that adds it may be missing (clustergen features)"


def findings_of(
    err: ValidationError,
    model: type[BaseModel],
    data: Any,
    text_of: TextOf,
    hint: Hint | None = None,
    refine: Refine | None = None,
) -> list[Finding]:
    """A finding for every mistake behind a ValidationError of `model` for `data`.

    `text_of` gives a scalar as it stands in the file; `hint` says what to write for an unknown key, before any guess by
    spelling. Where a plain union fails, only its nearest branch speaks. `refine` may replace findings by
    better ones.
    """
    findings = _Translator(model, data, text_of, hint).translate(err.errors(include_url=False))
    return refine(findings, data) if refine else findings


class _Translator:
    def __init__(self, model: type[BaseModel], data: Any, text_of: TextOf, hint: Hint | None) -> None:
        self.hint = hint
        self.model = model
        self.data = data
        self.text_of = text_of

    def translate(self, errors: list[Any]) -> list[Finding]:
        findings: list[Finding] = []
        unions: dict[ManifestPath, dict[str, list[tuple[_Error, Located]]]] = {}
        meant: set[ManifestPath] = set()  # keys that are missing only because they are misspelt
        for error in errors[:_MOST_ERRORS]:
            at = follow(self.model, error["loc"])
            if at.branch:
                unions.setdefault(at.branch[0], {}).setdefault(at.branch[1], []).append((error, at))
            elif not self._is_echo(error, at):
                findings.append(finding := self._finding(error, at))
                meant |= self._meant(error, at, finding)
        for path, branches in unions.items():
            findings += self._union(path, branches)
        if len(errors) > _MOST_ERRORS:
            rest = follow(self.model, errors[_MOST_ERRORS]["loc"])
            message = f"{_MOST_ERRORS:,} mistakes; validation stops here"
            findings.append(Finding("file-too-large", rest.path, message, key=True))
        findings = swapped(misplaced_sections(findings, self.model, self.data), self.model, self.data)
        findings = in_one_section(findings, self.model, self.data)
        return [item for item in findings if item.code != "key-missing" or item.path not in meant]

    def _is_echo(self, error: _Error, at: Located) -> bool:
        """A list that is too short only because pydantic does not count the entries that are wrong themselves."""
        value = self._value(at.path)
        return error["type"] == "too_short" and isinstance(value, Sized) and len(value) >= error["ctx"]["min_length"]

    def _finding(self, error: _Error, at: Located) -> Finding:
        kind, context = error["type"], error.get("ctx", {})
        if kind == "extra_forbidden":
            return self._unknown(at)
        if kind == "missing":
            return self._missing(at.path, addition_hint(str(at.path[-1]), at.declared, self.data))
        if kind == "union_tag_not_found":
            tag = context["discriminator"].strip("'")
            if kinds := tags_with(at.declared, tag, str(at.path[-1])):
                instead = f"move it to an entry with {tag}: {' or '.join(kinds)}, which has a key {quote(at.path[-1])}"
                return self._missing((*at.path, tag), instead)
            section, kinds = self._value(at.path), tags_of(at.declared, tag)
            if isinstance(section, Mapping):
                if len(section) == 1 and (key := next(iter(section))) in kinds and isinstance(section[key], Mapping):
                    return self._missing((*at.path, tag), f"write {on_one_line({tag: key, **section[key]})}")
                likely = tags_with(at.declared, tag, *section)
                kinds = likely if len(likely) == 1 else kinds
            return self._missing((*at.path, tag), f"add {tag}: {kinds[0] if len(kinds) == 1 else one_of(kinds)}")
        if kind == "union_tag_invalid":
            allowed = re.findall(r"'([^']*)'", context["expected_tags"])
            return self._no_kind((*at.path, context["discriminator"].strip("'")), context["tag"], allowed)
        if kind in ("literal_error", "enum"):
            allowed = list(choices_of(at.kind)) or re.findall(r"'([^']*)'", context["expected"])
            if at.is_key:
                message = f"{self._where(at.path[:-1])} has no key {quote(at.path[-1])}"
                return Finding("key-unknown", at.path, message, choice_hint(str(at.path[-1]), allowed), key=True)
            return self._not_allowed(at.path, error["input"], allowed, takes_switch(at.declared))
        if kind in _EXPECTED:
            finding = self._wrong_type(at.path, [_EXPECTED[kind]], error["input"], at.declared, has_switch(at.kind))
            if not isinstance(error["input"], str) or not at.path:
                return finding
            meant = other_names_hint(str(at.path[-1]), self._value(at.path[:-1]), at.owner)
            meant = meant or source_hint(error["input"], models_of(at.declared))
            return replace(finding, hint=meant) if meant else finding
        if kind in _BOUNDS:
            return self._out_of_bounds(at, error)
        if kind == "string_pattern_mismatch":
            return self._malformed(at, error["input"], context["pattern"])
        return self._other(at, error)

    def _where(self, path: ManifestPath) -> str:
        return where(path, self.data) or "the manifest"

    def _subject(self, at: Located) -> str:
        return f"{self._where(at.path[:-1])}: the key {quote(at.path[-1])}" if at.is_key else self._where(at.path)

    def _unknown(self, at: Located) -> Finding:
        key, section = str(at.path[-1]), self._where(at.path[:-1])
        message = f"{section} has no key {quote(key)}"
        keys = keys_of(at.owner) if at.owner else []
        present = self._value(at.path[:-1])
        nearby = [*keys, *getattr(at.owner, "OVERRIDES", ())]
        unused = [name for name in nearby if not (isinstance(present, Mapping) and name in present)]
        of_values = getattr(at.owner, "KEY_HINT", None)
        by_values = of_values(key, present) if of_values and isinstance(present, Mapping) else None
        hint = by_values or other_names_hint(key, present, at.owner) or (self.hint and self.hint(at.path))
        hint = hint or (None if f"{key}s" in unused else self._at_the_top(at)) or inner_key_hint(key, at.owner)
        hint = hint and of_user(hint, at.path, self._value(at.path))
        hint = hint or did_you_mean(key, unused) or beginning_hint(key, unused)
        if hint is None and at.owner and isinstance(present, Mapping) and (meant := counted_keys(present, at.owner)):
            hint = f"write {at.path[-2]}: {meant}"
        hint = hint or list_item_hint(key, present, at.owner)
        hint = hint or named_value_hint(key, self._value(at.path), at.owner)
        kinds = tags_with(follow(self.model, at.path[:-1]).declared, "type", key) if hint is None else ()
        if kinds:
            hint = self._of_other_kind(kinds, at, present)
        elif hint is None:
            sections = self.data if isinstance(self.data, Mapping) else ()
            places = places_for(self.model, at.path, sections)
            if places:
                places = [of_user(place, at.path) for place in places]
                hint = f"move {quote(key)} to {' or '.join(places)}{self._converted(at, places)}"
            elif 0 < len(keys) <= _MOST_KEYS or len(at.path) == 1:
                hint = f"use one of {', '.join(keys)}{', or a field of the node type' * (nearby != keys)}"
            elif section_path := section_of(self.model, at.path[:-1]):
                hint = f"run `clustergen explain {section_path.replace('.<name>', '')}` to list its keys"
            if hint and not places and getattr(at.owner, "IS_OPEN", False):
                hint += f"; {_OF_A_PACKAGE}"
        return Finding("key-unknown", at.path, message, hint, key=True)

    def _of_other_kind(self, kinds: tuple[str, ...], at: Located, present: Any) -> str:
        """The hint for a key that entries of another type have: of this one what it requires, if that is not there."""
        fields = at.owner.model_fields if at.owner else {}
        required = [key for key in fields if fields[key].is_required() and key not in present]
        if required and isinstance(tag := present.get("type"), str):
            return f"remove it: an entry with type: {tag} requires {' and '.join(required)}"
        return f"move it to an entry with type: {' or '.join(kinds)}, which has this key"

    def _at_the_top(self, at: Located) -> str | None:
        """The hint for a section of the top level that is in another one."""
        key = str(at.path[-1])
        if len(at.path) < 2 or key not in keys_of(self.model) or not isinstance(self._value(at.path), Mapping):
            return None
        is_there = isinstance(self.data, Mapping) and key in self.data
        what = f"its keys to the section {key} at" if is_there else f"{quote(key)} to"
        return f"move {what} the top level of the manifest"

    def _converted(self, at: Located, places: list[str]) -> str:
        """How the value of a misplaced key is written there, if it is one place that takes it only as a list."""
        value = self._value(at.path)
        if len(places) != 1 or "<" in places[0] or not isinstance(value, str | int):
            return ""
        declared = follow(self.model, (*places[0].split("."), at.path[-1])).declared
        expects_list = declared is not None and is_list_of_scalars(declared)
        return f", as a list: [{self.text_of(at.path) or value}]" if expects_list else ""

    def _meant(self, error: _Error, at: Located, finding: Finding) -> set[ManifestPath]:
        if absent := error.get("ctx", {}).get("absent"):
            return {(*at.path[:-1], key) for key in absent}
        is_renamed = isinstance(error["input"], str) and error["type"] in _EXPECTED and hasattr(at.owner, "SOURCE")
        if at.owner is None or not (error["type"] == "extra_forbidden" or is_renamed):
            return set()
        guess = suggest(str(at.path[-1]), keys_of(at.owner))
        hint = finding.hint or ""
        named = re.findall(r"[a-z]\w*", hint) if hint.startswith("write ") else []
        return {(*at.path[:-1], key) for key in [*([guess] if guess else []), *named]}

    def _missing(self, path: ManifestPath, hint: str) -> Finding:
        return Finding("key-missing", path, f"{self._where(path[:-1])} requires the key {quote(path[-1])}", hint)

    def _no_kind(self, path: ManifestPath, value: Any, allowed: list[Any]) -> Finding:
        """A kind of a family that no feature has; a package may be missing unless it is a slip of the pen."""
        finding = self._not_allowed(path, value, allowed)
        if did_you_mean(str(value), allowed):
            return finding
        if (finding.hint or "").startswith("write "):
            return finding
        return replace(finding, hint=f"{finding.hint}; {_OF_A_PACKAGE}" if finding.hint else _OF_A_PACKAGE)

    def _not_allowed(self, path: ManifestPath, value: Any, allowed: list[Any], switch: bool = False) -> Finding:
        text = self.text_of(path)
        if not isinstance(value, str) and text in allowed:
            return self._wrong_type(path, ["text"], value)
        if isinstance(value, str) and value in [str(choice) for choice in allowed if type(choice) is int]:
            return self._wrong_type(path, ["a whole number"], value)
        if isinstance(value, (Mapping, list, tuple)) or value is None:
            return self._wrong_type(path, [one_of(allowed)], value)
        shown = value if isinstance(value, str) else text or value
        other = self.hint and path and self.hint((*path, str(value)))
        hint = other or choice_hint(str(value), [str(choice) for choice in allowed], switch)
        return Finding("value-not-allowed", path, f"{self._where(path)} cannot be {quote(shown)}", hint)

    def _wrong_type(
        self,
        path: ManifestPath,
        expected: list[str],
        value: Any,
        declared: Any = None,
        is_section_with_switch: bool = False,
    ) -> Finding:
        text = self.text_of(path) or ""
        if bare_of(declared):
            expected = ["a duration"]
        actual = "but is empty" if value is None else f"not {self._shown(value, text)}"
        message = f"{self._where(path)} must be {' or '.join(expected)}, {actual}"
        switch = f"write {{enabled: {text}}}" if is_section_with_switch and isinstance(value, bool) else None
        example = example_hint(str(path[-1]), declared) if value is None and path else None
        example = example or (duration_hint(declared) if bare_of(declared) else None)
        if isinstance(value, str) and "\u00a0" in value:
            return Finding("type-wrong", path, message, "replace the no-break space in it by a space")
        hint = (
            example
            or switch
            or self._of_first_word(path, value)
            or (self.hint and isinstance(value, bool) and self.hint((*path, text)))
            or self._of_parent(path, value)
            or self._allowed(path, value)
            or literal_hint(expected, value, text, declared, str(path[-1]) if path else "")
        )
        return Finding("type-wrong", path, message, hint)

    def _of_first_word(self, path: ManifestPath, value: Any) -> str | None:
        """The hint for a text in place of a section that begins with a name for which a mapping is proposed:
        `gres: gpu:h100:8`; and for a mapping of names to one word, as `users: {ada: admin}`.
        """
        if isinstance(value, Mapping):
            words = {text for text in value.values() if isinstance(text, str)}
            hint = self.hint((*path, words.pop())) if self.hint and len(words) == 1 else None
            return hint.replace("NAMES", ", ".join(value)) if hint and "NAMES" in hint else None
        text = value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value
        word = re.match(r"[A-Za-z][\w-]*", text) if isinstance(text, str) and path else None
        hint = self.hint((*path, word[0])) if word and self.hint else None
        return hint if hint and re.match(r"write (\w+: )?\{", hint) else None

    def _of_parent(self, path: ManifestPath, value: Any) -> str | None:
        """The hint for a mapping in place of a value, whose keys are those of the section around it."""
        owner = follow(self.model, path).owner if isinstance(value, Mapping) and len(path) > 1 else None
        if owner is None or not value or not set(value) <= set(keys_of(owner)):
            return None
        return f"move {', '.join(value)} to {self._where(path[:-1])}"

    def _allowed(self, path: ManifestPath, value: Any) -> str | None:
        """The hint for a list where a sibling takes several: `allow_qos` for the one QOS of a partition."""
        owner = follow(self.model, path).owner
        sibling = f"allow_{path[-1]}" if path else ""
        field = owner.model_fields.get(sibling) if owner and isinstance(value, (list, tuple)) else None
        return None if field is None or refusal(field, value)[0] else f"write {sibling}: {on_one_line(list(value))}"

    def _shown(self, value: Any, text: str) -> str:
        if isinstance(value, Mapping):
            return "a mapping"
        if isinstance(value, (list, tuple)):
            return "a list"
        if isinstance(value, str):
            return f"the text {quote(value)}"
        return text or str(value).lower()

    def _out_of_bounds(self, at: Located, error: _Error) -> Finding:
        context, value = error.get("ctx", {}), error["input"]
        text, hint = self.text_of(at.path), None
        if context.get("min_length") == 1:
            rule, actual = "must not be empty", ""
            default = getattr(at.declared, "default", None)
            if default and isinstance(default, tuple):
                hint = f"write {on_one_line(list(default))}, or remove {self._where(at.path[:-1])}"
            if hint is None and (sample := sample_of(at.declared)):
                hint = f"write {sample.text}"
        elif bare := bare_of(at.declared):
            rule = _BOUNDS[error["type"]].format(**{name: bare.shown(bound) for name, bound in context.items()})
            actual = f", not {f'{text} {bare.symbol}' if (text or '').isdigit() else text or value}"
            hint = duration_hint(at.declared)
        else:
            rule = _BOUNDS[error["type"]].format(**context)
            size = context.get("actual_length", len(value) if isinstance(value, str) else None)
            actual = f", not {text or value if size is None else size}"
            hint = range_hint(at.declared) if size is None else None
        return Finding("value-out-of-range", at.path, f"{self._subject(at)} {rule}{actual}", hint, key=at.is_key)

    def _malformed(self, at: Located, value: str, pattern: str) -> Finding:
        odd = odd_character(value, pattern)
        default = getattr(at.declared, "default", None)
        if value == "/" and (form := form_of(pattern)) and form.is_path:
            instead = f"write {default}" if isinstance(default, str) else "write a directory below it"
            return Finding("text-malformed", at.path, f"{self._subject(at)} cannot be the root directory", instead)
        subject, hint = self._subject(at), text_hint(value, pattern)
        if at.is_key or at.path[-1] == "name":
            hint = name_hint(value, pattern, hint)
        if odd is None:
            return Finding("text-malformed", at.path, f"{subject} cannot be {quote(value)}", hint, key=at.is_key)
        message = f"{subject} cannot {'begin with' if odd == 0 else 'contain'} {quote(value[odd])}"
        return Finding("text-malformed", at.path, message, hint, key=at.is_key, at=(odd, 1))

    def _other(self, at: Located, error: _Error) -> Finding:
        kind, context = error["type"], error.get("ctx", {})
        message = str(context["error"]) if "error" in context else error["msg"]
        message = message.replace("Input should be", "must be").replace("Input is", "is")
        code = kind if kind in CODES else "type-wrong" if kind.endswith("_type") else "text-malformed"
        separator = " " if message.startswith(("must be ", "is ", "cannot be ")) else ": "
        span = (context["offset"], context["length"]) if "offset" in context and "length" in context else None
        hint = context.get("hint") or self._of_parent(at.path, error["input"])
        if bare_of(at.declared) and context.get("is_general"):
            hint = duration_hint(at.declared)
        return Finding(
            code=code,
            path=at.path,
            message=f"{self._subject(at)}{separator}{message}",
            hint=hint,
            key=at.is_key,
            at=span,
        )

    def _union(self, path: ManifestPath, branches: Mapping[str, list[tuple[_Error, Located]]]) -> Iterator[Finding]:
        """One voice of a plain union: the branch that fits best, or one sentence when the type fits none."""
        fitting: list[list[tuple[_Error, Located]]] = []
        unfit: list[_Error] = []
        for errors in branches.values():
            wrong = [error for error, at in errors if at.path == path and _is_of_wrong_type(error)]
            unfit += wrong[:1]
            if not wrong:
                fitting.append(errors)
        if fitting:
            yield from (self._of_number(self._finding(error, at), at, unfit) for error, at in min(fitting, key=len))
            return
        expected = list(dict.fromkeys(_EXPECTED[error["type"]] for error in unfit if error["type"] in _EXPECTED))
        if "a number" in expected and "a whole number" in expected:
            expected.remove("a whole number")
        declared = next(at.declared for errors in branches.values() for _, at in errors)
        yield self._wrong_type(path, expected, unfit[0]["input"], declared)

    def _of_number(self, finding: Finding, at: Located, unfit: list[_Error]) -> Finding:
        """A word that is not allowed, where the field takes a number as well: `1980MHz` beside max."""
        value = self._value(finding.path)
        is_number = any(error["type"] in ("int_type", "float_type") for error in unfit)
        if finding.code != "value-not-allowed" or not is_number or not isinstance(value, str):
            return finding
        declared = follow(self.model, finding.path).declared
        hint = number_in(value, str(finding.path[-1]), declared)
        return replace(finding, hint=hint) if hint else finding

    def _value(self, path: ManifestPath) -> Any:
        value = self.data
        for part in path:
            try:
                value = value[part]
            except (LookupError, TypeError):
                return None
        return value


def _is_of_wrong_type(error: _Error) -> bool:
    is_section = isinstance(error["input"], (Mapping, list, tuple))
    return error["type"] in _EXPECTED or (error["type"] == "literal_error" and is_section)
