"""Data that only its own program understands: here it is at least well-formed, read by Python's readers."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Callable, Iterator, Sequence
from xml.etree import ElementTree

import yaml

from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row

_COUNTER_FIELDS = 3
_PROMETHEUS_TYPES = ("gauge", "counter", "label")


Ask = Callable[[Check, Trial, Sequence[Entry]], Iterator[Row]]


def _read_by(version: str, read: Callable[[Entry], Iterator[str]]) -> Ask:
    def ask(check: Check, _trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        complaints = [f"{entry.path}: {word}" for entry in entries for word in read(entry)]
        yield check.judged(entries, complaints, (), version)

    return ask


def _yaml(entry: Entry) -> Iterator[str]:
    try:
        documents = list(yaml.safe_load_all(entry.content))
    except yaml.YAMLError as err:
        yield " ".join(str(err).split())
        return
    if not any(document is not None for document in documents):
        yield "is empty"


def _json(entry: Entry) -> Iterator[str]:
    try:
        json.loads(entry.content)
    except ValueError as err:
        yield str(err)


def _counters(entry: Entry) -> Iterator[str]:
    lines = [line for line in entry.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for row in csv.reader(lines, skipinitialspace=True):
        if len(row) != _COUNTER_FIELDS:
            yield f"{len(row)} fields instead of {_COUNTER_FIELDS}: {', '.join(row)}"
        elif row[1] not in _PROMETHEUS_TYPES:
            yield f"{row[1]!r} is not a metric type: {', '.join(row)}"


def _xml(entry: Entry) -> Iterator[str]:
    try:
        ElementTree.fromstring(entry.content)
    except ElementTree.ParseError as err:
        yield str(err)


CHECKS = (
    Check(
        "yaml",
        "YAML of programs that are not available",
        "PyYAML",
        "Well-formed YAML. MIG Manager, which reads these files, is not run.",
        paths("/etc/nvidia-mig-manager/*.yaml"),
        _read_by(yaml.__version__, _yaml),
    ),
    Check(
        "values",
        "values of clustergen's programs",
        "Python's json",
        "Well-formed JSON. The tests run the programs that read it.",
        paths("/etc/clustergen/*.json", "warewulf/install.json", "cloud-init/seed.json"),
        _read_by(platform.python_version(), _json),
    ),
    Check(
        "dcgm counters",
        "counters of dcgm-exporter",
        "Python's csv",
        "Every line has a field, a Prometheus metric type, and a help text. dcgm-exporter is not "
        "run; `clustergen validate` checks the field names against the catalogue.",
        paths("/etc/dcgm-exporter/*.csv"),
        _read_by(platform.python_version(), _counters),
    ),
    Check(
        "xml",
        "topology for NCCL",
        "Python's expat",
        "Well-formed XML. NCCL is not run: it reads a topology only on a machine with these GPUs.",
        paths("/etc/nccl-topo*.xml"),
        _read_by(platform.python_version(), _xml),
    ),
    Check(
        "html",
        "guide for users as an HTML page",
        "Python's expat",
        "Well-formed XML: every element is closed and every name is quoted. No browser is run.",
        paths("*/guide.html"),
        _read_by(platform.python_version(), _xml),
    ),
)
