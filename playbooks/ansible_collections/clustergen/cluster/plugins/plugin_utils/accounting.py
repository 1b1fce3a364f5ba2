"""The accounting database of the first controller, as `clustergen-accounts check` compares it with the manifest."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import AnswerError

COMMAND = "accounts"
_PROGRAM = "/usr/local/sbin/clustergen-accounts"
_FILES = (_PROGRAM, "/etc/clustergen/accounts.json")
_MOST_ROWS = 2000
_MOST_SHOWN = 6


def command(overlay, task_vars):
    """The command that compares, on the host that fills the database."""
    is_first = task_vars["inventory_hostname"] in (task_vars.get("slurm_controllers") or [])[:1]
    has_program = any(file["target"] == _PROGRAM for file in overlay)
    return {COMMAND: f"{_PROGRAM} check"} if is_first and has_program else {}


def comparison(state, commands):
    """`differs`: subject, value and expected value of each difference; `unlisted`: entities that are not in the manifest;
    `failure`: why nothing was compared. Raises AnswerError.
    """
    empty = {"differs": [], "unlisted": [], "failure": ""}
    is_new = {difference["target"] for difference in state["differs"] if "content" in difference["what"]} & set(_FILES)
    if is_new or COMMAND not in commands:
        return empty  # what is new runs in any case
    text = state["outputs"]["files"].get(COMMAND, "")
    lines = answers.unpacked(text, answers.MOST_OUTPUT).decode("utf-8", "replace").splitlines() if text else [""]
    if lines.pop() != "compared":
        return {**empty, "failure": "slurmdbd does not answer"}
    rows = [line.split("\t") for line in lines[:_MOST_ROWS]]
    if any(len(row) != {"differs": 4, "unlisted": 2}.get(row[0]) for row in rows):
        raise AnswerError("the comparison of the accounting database has other lines")
    return {
        "differs": [row[1:] for row in rows if row[0] == "differs"],
        "unlisted": [row[1] for row in rows if row[0] == "unlisted"],
        "failure": "",
    }


def words(row):
    subject, actual, expected = row
    return f"{subject}: {actual or 'none'}" + (f", expected {expected}" if expected else "")


def summary(rows):
    """All that differs, in one line."""
    more = len(rows) - _MOST_SHOWN
    return "; ".join([*map(words, rows[:_MOST_SHOWN]), *([f"{more} more"] if more > 0 else [])])
