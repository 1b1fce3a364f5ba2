"""A closed description of what a node may answer, and the check of an answer against it.

A check returns a copy of what was described; everything else is dropped. `AnswerError` names the first value that does not
fit, by its path and never by its content.
"""

from __future__ import annotations

import math
import re


class AnswerError(ValueError):
    """An answer, or a part of it, is not what the module of this collection would send."""


class Text:
    """A string of at most `limit` characters that matches `pattern` as a whole and has no control characters."""

    def __init__(self, limit, pattern=r"[^\x00-\x1f\x7f-\x9f]*"):
        self.limit = limit
        self.pattern = re.compile(pattern)

    def check(self, value, path):
        if not isinstance(value, str):
            raise AnswerError(f"{path} is not text")
        if len(value) > self.limit:
            raise AnswerError(f"{path} has {len(value)} characters, more than {self.limit}")
        if not self.pattern.fullmatch(value):
            raise AnswerError(f"{path} has invalid characters")
        return value


class Words:
    """Free text for people, cut at `limit` characters: what a program printed is never a reason to refuse an answer."""

    def __init__(self, limit):
        self.limit = limit

    def check(self, value, path):
        if not isinstance(value, str):
            raise AnswerError(f"{path} is not text")
        return value if len(value) <= self.limit else value[: self.limit] + "…"


class Flag:
    def check(self, value, path):
        if not isinstance(value, bool):
            raise AnswerError(f"{path} is neither true nor false")
        return value


class Number:
    """A finite number between `least` and `most`."""

    def __init__(self, least=0, most=1e15):
        self.least = least
        self.most = most

    def check(self, value, path):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise AnswerError(f"{path} is not a number")
        if not (math.isfinite(value) and self.least <= value <= self.most):
            raise AnswerError(f"{path} is not between {self.least} and {self.most}")
        return value


class OneOf:
    """One of the names that the control host asked about."""

    def __init__(self, names):
        self.names = frozenset(names)

    def check(self, value, path):
        if not isinstance(value, str) or value not in self.names:
            raise AnswerError(f"{path} was not part of the query")
        return value


class OrNone:
    def __init__(self, schema):
        self.schema = schema

    def check(self, value, path):
        return None if value is None else self.schema.check(value, path)


class ListOf:
    def __init__(self, schema, limit):
        self.schema = schema
        self.limit = limit

    def check(self, value, path):
        if not isinstance(value, list):
            raise AnswerError(f"{path} is not a list")
        if len(value) > self.limit:
            raise AnswerError(f"{path} has {len(value)} items, more than {self.limit}")
        return [self.schema.check(item, f"{path}[{index}]") for index, item in enumerate(value)]


class MapOf:
    def __init__(self, key, value, limit):
        self.key = key
        self.value = value
        self.limit = limit

    def check(self, value, path):
        if not isinstance(value, dict):
            raise AnswerError(f"{path} is not a mapping")
        if len(value) > self.limit:
            raise AnswerError(f"{path} has {len(value)} items, more than {self.limit}")
        return {
            self.key.check(key, f"a key of {path}"): self.value.check(item, f"a value of {path}")
            for key, item in value.items()
        }


class Record:
    """A mapping with these keys; those of `optional` may be absent, and any others are dropped."""

    def __init__(self, required=None, optional=None):
        self.required = required or {}
        self.optional = optional or {}

    def check(self, value, path):
        if not isinstance(value, dict):
            raise AnswerError(f"{path} is not a mapping")
        if missing := [key for key in self.required if key not in value]:
            raise AnswerError(f"{path} lacks {missing[0]}")
        return {
            key: schema.check(value[key], f"{path}.{key}")
            for key, schema in {**self.required, **self.optional}.items()
            if key in value
        }
