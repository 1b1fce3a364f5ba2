"""Programs and scripts that slurm.conf names: beside it, or on lines of their own; and what plugins find in theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.diagnostics import Severity
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site
from clustergen.slurmconf.config import Entry
from clustergen.slurmrules.plugins import PLUGIN_FILES

_OF_BUFFERS = (
    *("job_process", "pools", "job_teardown", "setup", "data_in", "real_size", "paths", "pre_run", "post_run"),
    *("data_out", "get_status"),
)
FUNCTIONS = {
    "job_submit.lua": ("slurm_job_submit", "slurm_job_modify"),
    "cli_filter.lua": ("slurm_cli_setup_defaults", "slurm_cli_pre_submit", "slurm_cli_post_submit"),
    "burst_buffer.lua": tuple(f"slurm_bb_{name}" for name in _OF_BUFFERS),
}
"""Script → the functions without which its plugin does not load."""
_TESTS_OF_BUFFERS = ("slurm_bb_test_data_in", "slurm_bb_test_data_out")
_LUA_COMMENT = re.compile(r"--(\[(=*)\[.*?\]\2\]|[^\n]*)", re.DOTALL)
_LUA_ELSEWHERE = re.compile(r"\b(dofile|loadfile|require|load|loadstring|setfenv|setmetatable)\b")


def scripts(site: Site) -> Iterator[LintFinding]:
    """Programs that Slurm expects beside slurm.conf."""
    for key in ("PrologSlurmctld", "EpilogSlurmctld"):
        for program in site.slurm.settings(key) if site.slurm and site.has("programs-by-name") else ():
            if program.text and not program.text.startswith("/") and not site.directory.has(program.text):
                message = (
                    f"'{program.text}' is not next to slurm.conf; slurmctld does not start if it is missing on"
                    " the host too"
                )
                yield site.warning(
                    "slurm-key-lacking", program, message, "write an absolute path, or put the file next to slurm.conf"
                )


def power_actions(site: Site) -> Iterator[LintFinding]:
    for action in site.slurm.entries("PowerAction") if site.slurm else ():
        place = action.own_value("Location")
        if place is None or place.text.lower() not in ("slurmctld", "slurmd"):
            message = f"PowerAction '{action.names}' has no Location; no daemon starts"
            yield site.error("slurm-value-wrong", place or action, message, "add Location=slurmctld or Location=slurmd")
        elif not action.text("Program"):
            message = f"PowerAction '{action.names}' has no Program; no daemon starts"
            yield site.error("slurm-value-wrong", action, message, "write Program=/path")


def functions(site: Site) -> Iterator[LintFinding]:
    """Functions that a plugin expects in its Lua script; its syntax is for a real daemon to judge."""
    for (key, plugin), (name, does) in PLUGIN_FILES.items():
        text = site.directory.text(name) if name in FUNCTIONS and plugin in site.plugins(key) else None
        if text is None:
            continue
        code = _LUA_COMMENT.sub("", text)
        if _LUA_ELSEWHERE.search(code):
            continue
        checked = key != "BurstBufferType" or site.has("burst-buffer-checked")
        tests = _TESTS_OF_BUFFERS if key == "BurstBufferType" and checked else ()
        lacking = [one for one in (*FUNCTIONS[name], *tests) if not _defines(code, one)]
        if lacking:
            message = (
                f"{name} has no global function {', '.join(lacking)}; {does if checked else 'Slurm logs an error'}"
            )
            severity = Severity.ERROR if checked else Severity.WARNING
            yield site.finding("slurm-key-lacking", severity, name, message, f"add function {lacking[0]}(…)")


def _defines(code: str, name: str) -> bool:
    """True if a global of that name is a function, or what stands for one: another name, if it has a value itself."""
    match = re.search(rf"(\blocal\s+)?(\bfunction\s+{name}\b|\b{name}\b[\"'\]\s]*=(?!=)\s*(\w*))", code)
    if match is None or match[1] is not None:
        return False
    return (
        not match[3]
        or match[3] == "function"
        or re.search(rf"\b(function\s+{match[3]}\b|{match[3]}\s*=)", code) is not None
    )


def helpers(site: Site) -> Iterator[LintFinding]:
    """helpers.conf: each feature has one helper."""
    config = site.directory.config("helpers.conf")
    if config is None or "helpers" not in site.plugins("NodeFeaturesPlugins"):
        return
    lists, first = site.has("helpers-feature-lists"), dict[str, Entry]()
    entries = config.entries("Feature")
    if not entries and not lists:
        yield site.error("slurm-key-lacking", config.name, "no Feature line; slurmctld does not start", "add Feature=…")
    for entry in entries:
        if "," in entry.names and not lists:
            message = f"Slurm {site.release} reads one feature a line; slurmctld does not start"
            yield site.error("slurm-value-wrong", entry, message, "write a Feature line for each")
        if entry.text("Helper") is None:
            message = f"'{entry.names}' has no Helper; slurmd logs an error"
            yield site.warning("slurm-key-lacking", entry, message, "add Helper=/path")
        for name in entry.names.split(","):
            before = first.setdefault(name, entry)
            if before is not entry and (not lists or before.text("Helper") != entry.text("Helper")):
                message = f"'{name}' already has a helper on line {before.line.number}; slurmctld does not start"
                yield site.error("slurm-value-wrong", entry, message, "keep one of the lines")
