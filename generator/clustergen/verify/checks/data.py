"""Data that only its own program understands: here it is at least well-formed, read by Python's readers."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterator

from clustergen.verify.check import Check, paths
from clustergen.verify.files import Entry
from clustergen.verify.well_formed import json, read_by, xml

_COUNTER_FIELDS = 3
_PROMETHEUS_TYPES = ("gauge", "counter", "label")


def _counters(entry: Entry) -> Iterator[str]:
    lines = [line for line in entry.text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for row in csv.reader(lines, skipinitialspace=True):
        if len(row) != _COUNTER_FIELDS:
            yield f"{len(row)} fields instead of {_COUNTER_FIELDS}: {', '.join(row)}"
        elif row[1] not in _PROMETHEUS_TYPES:
            yield f"{row[1]!r} is not a metric type: {', '.join(row)}"


CHECKS = (
    Check(
        name="values",
        what="values of clustergen's programs",
        parser="Python's json",
        proves="Well-formed JSON. The tests run the programs that read it.",
        reads=paths("/etc/clustergen/*.json", "warewulf/install.json", "cloud-init/seed.json"),
        ask=read_by(platform.python_version(), json),
    ),
    Check(
        name="dcgm counters",
        what="counters of dcgm-exporter",
        parser="Python's csv",
        proves="Every line has a field, a Prometheus metric type, and a help text. dcgm-exporter is not "
        "run; `clustergen validate` checks the field names against the catalogue.",
        reads=paths("/etc/dcgm-exporter/*.csv"),
        ask=read_by(platform.python_version(), _counters),
    ),
    Check(
        name="html",
        what="guide for users as an HTML page",
        parser="Python's expat",
        proves="Well-formed XML: every element is closed and every name is quoted. No browser is run.",
        reads=paths("*/guide.html"),
        ask=read_by(platform.python_version(), xml),
    ),
)
