"""Readers of Python for data that only its own program understands."""

from __future__ import annotations

import json as json_reader
from collections.abc import Callable, Iterator, Sequence
from xml.etree import ElementTree

import yaml as yaml_reader

from clustergen.verify.check import Check, Trial
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row

Ask = Callable[[Check, Trial, Sequence[Entry]], Iterator[Row]]


def read_by(version: str, read: Callable[[Entry], Iterator[str]]) -> Ask:
    def ask(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        complaints = [f"{entry.path}: {word}" for entry in entries for word in read(entry)]
        yield check.judged(entries, complaints, (), version)

    return ask


def yaml(entry: Entry) -> Iterator[str]:
    try:
        documents = list(yaml_reader.safe_load_all(entry.content))
    except yaml_reader.YAMLError as err:
        yield " ".join(str(err).split())
        return
    if not any(document is not None for document in documents):
        yield "is empty"


def json(entry: Entry) -> Iterator[str]:
    try:
        json_reader.loads(entry.content)
    except ValueError as err:
        yield str(err)


def xml(entry: Entry) -> Iterator[str]:
    try:
        ElementTree.fromstring(entry.content)
    except ElementTree.ParseError as err:
        yield str(err)
