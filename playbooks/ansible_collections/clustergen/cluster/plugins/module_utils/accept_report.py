"""The report of an acceptance run: Markdown for people, and the same as JSON."""

from __future__ import annotations

import re

from ansible_collections.clustergen.cluster.plugins.module_utils.accept_verdicts import (
    FAILED,
    NOT_RUN,
    PASSED,
    changes,
    plain,
)


def document(run):
    """Counts and lists of the run, as JSON has them."""
    results = run["results"]
    return {
        "cluster": run["cluster"],
        "begin": run["begin"],
        "end": run["end"],
        "nodes": run["nodes"],
        "left_out": run["left_out"],
        "counts": {word: sum(one["status"] == word for one in results) for word in (PASSED, FAILED, NOT_RUN)},
        "drained": run["drained"],
        "remarks": run["remarks"],
        "worse": worse(results, run["baseline"], "baseline") + worse(results, run["last"], "last run"),
        "results": results,
    }


def worse(results, earlier, name):
    """Readings a tenth worse than those of another run, one text each."""
    rows = []
    for result in results:
        before = earlier.get(result["gate"] + "@" + ",".join(result["hosts"]), {})
        for metric, (old, new) in sorted(changes(result["readings"], before).items()):
            where = ",".join(result["hosts"]) if len(result["hosts"]) < 3 else "%d nodes" % len(result["hosts"])
            rows.append("%s on %s: %s %s, %s in the %s" % (result["gate"], where, metric, plain(new), plain(old), name))
    return rows


def cell(text):
    """Text in a cell of a Markdown table."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(str(text).split()))


def summary(report):
    counts = report["counts"]
    return "%d passed, %d failed, %d not run" % (counts[PASSED], counts[FAILED], counts[NOT_RUN])


def markdown(report):
    lines = [
        "# %s: acceptance" % cell(report["cluster"]),
        "",
        "%s to %s: %s on %d nodes." % (report["begin"], report["end"], summary(report), len(report["nodes"])),
    ]
    sections = (
        ("Drained", ["%s: %s" % pair for pair in sorted(report["drained"].items())]),
        ("Remarks", report["remarks"]),
        ("Worse than before", report["worse"]),
        ("Nodes left out", ["%s: %s" % pair for pair in sorted(report["left_out"].items())]),
    )
    for title, rows in sections:
        if rows:
            lines += ["", "## " + title, ""] + ["- " + cell(row) for row in rows]
    for status in (FAILED, NOT_RUN, PASSED):
        rows = [result for result in report["results"] if result["status"] == status]
        if rows:
            lines += ["", "## " + status.capitalize(), "", "| Gate | Nodes | Readings | Reason |", "|---|---|---|---|"]
            lines += [_row(result) for result in rows]
    return "\n".join(lines) + "\n"


def _row(result):
    readings = ", ".join("%s %s" % (metric, plain(value)) for metric, value in sorted(result["readings"].items()))
    nodes = ",".join(result["hosts"]) if len(result["hosts"]) < 5 else "%d nodes" % len(result["hosts"])
    return "| %s | %s | %s | %s |" % tuple(map(cell, (result["gate"], nodes, readings, result["reason"])))
