"""Output of `dcgmi health -c -j`, in the form of DCGM 4.5.3."""

from __future__ import annotations

import json
from typing import Any

_WIDTH = 54  # dcgmi cuts messages for a column of its table, in the JSON too


def dcgm_report(system: str, *messages: str, gpu: int = 3, state: str = "Failure") -> str:
    """A report of one system of one GPU: the messages in one text, as dcgmi joins them, in pieces of a column."""
    return dcgm_reports({(gpu, system): (state, messages)})


def dcgm_reports(faults: dict[tuple[int, str], tuple[str, tuple[str, ...]]]) -> str:
    """A report of several: (GPU, system) → state and messages; without any, of a healthy node."""
    states = [state for state, _ in faults.values()]
    overall = "Failure" if "Failure" in states else "Warning" if states else "Healthy"
    body: dict[str, Any] = {"Overall Health": {"value": overall}}
    for (gpu, system), (state, messages) in faults.items():
        entity = body.setdefault("GPU", {"children": {}})["children"].setdefault(
            str(gpu), {"children": {"Errors": {"children": {}}}, "value": state}
        )
        entity["children"]["Errors"]["children"][system] = {"overflow": pieces(" ".join(messages)), "value": state}
    text = {"body": body, "header": ["Health Monitor Report"]}
    return json.dumps(text, indent="\t", separators=(",", " : ")) + "\n"


def pieces(text: str) -> list[str]:
    """The text in whole words, no piece longer than dcgmi's column."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines
