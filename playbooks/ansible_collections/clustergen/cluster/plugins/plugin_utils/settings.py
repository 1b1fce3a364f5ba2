"""The variables that a site may set, looked at before anything is touched: a wrong one would show only half way."""

from __future__ import annotations

import re
from difflib import get_close_matches

from ansible.module_utils.parsing.convert_bool import boolean


def _flag(value):
    try:
        boolean(value)
    except TypeError:
        return "true or false"
    return ""


def _number(value):
    try:
        float(value)
    except (TypeError, ValueError):
        return "a number"
    return ""


def _seconds(value):
    return "" if re.fullmatch(r"\d+", str(value)) else "seconds, a whole number"


def _batch(value):
    parts = value if isinstance(value, list) else [value]
    fits = parts and all(re.fullmatch(r"[1-9]\d*%?", str(part)) for part in parts)
    return "" if fits else "a number of nodes, a share such as 10%, or a list of these"


def _list(value):
    return "" if isinstance(value, list) and all(isinstance(item, str) for item in value) else "a list of texts"


def _count(value):
    return "" if re.fullmatch(r"[1-9]\d{0,3}", str(value)) else "a whole number from 1 to 9999"


def _size(value):
    return (
        "" if re.fullmatch(r"[1-9]\d{0,5}[kmgt]?", str(value), re.IGNORECASE) else "a size as fio reads it, such as 4g"
    )


def _stages(value):
    fits = isinstance(value, list) and value and set(value) <= {"presence", "node", "pair", "whole"}
    return "" if fits else "a list of presence, node, pair and whole"


def _any(_):
    return ""


KINDS = {
    **dict.fromkeys(
        (
            "accept_again",
            "accept_drain",
            "accept_new_baseline",
            "cluster_database_kept",
            "cluster_edited_ok",
            "cluster_jobs_may_be_lost",
            "cluster_mixed_ok",
            "cluster_name_check",
            "cluster_os_check",
            "cluster_other_run_ok",
            "cluster_reboots",
            "cluster_same_ok",
            "cluster_unconfirmed_ok",
            "cluster_upgrade_drain",
            "cluster_version_ok",
        ),
        _flag,
    ),
    **dict.fromkeys(
        (
            "cluster_convert_timeout",
            "cluster_drain_timeout",
            "cluster_power_timeout",
            "cluster_question_timeout",
            "cluster_ready_timeout",
            "cluster_reboot_timeout",
            "cluster_step_timeout",
        ),
        _seconds,
    ),
    **dict.fromkeys(
        (
            "cluster_bmc_batch",
            "cluster_drain_batch",
            "cluster_firmware_batch",
            "cluster_network_batch",
            "cluster_upgrade_batch",
        ),
        _batch,
    ),
    **dict.fromkeys(
        (
            "cluster_without_files",
            "cluster_without_packages",
            "cluster_without_units",
            "cluster_window",
            "cluster_mount_over",
        ),
        _list,
    ),
    **dict.fromkeys(("accept_options", "accept_without"), _list),
    **dict.fromkeys(("accept_patience", "accept_processes", "accept_seconds"), _count),
    "accept_file_size": _size,
    "accept_stages": _stages,
    "cluster_clock_tolerance": _number,
    **dict.fromkeys(
        (
            "accept_directory",
            "accept_index",
            "accept_reframe_version",
            "accept_venv",
            "accept_wheels",
            "cluster_hosts",
            "cluster_keep_directory",
            "cluster_slurm_repository_role",
            "cluster_slurm_role",
            "cluster_slurm_source",
            "cluster_slurm_suite",
        ),
        _any,
    ),
}


def wrong_with(variables):
    """Errors of those of `variables` that have to be of a type: one text each."""
    for name in sorted(KINDS.keys() & variables.keys()):
        if expected := KINDS[name](variables[name]):
            yield f"{name} is {variables[name]!r}, but must be {expected}"


def slips(names):
    """Names that were given on the command line and mean nothing, but are close to one that does."""
    for name in sorted(set(names) - KINDS.keys()):
        if name.startswith(("accept_", "cluster_")) and (similar := get_close_matches(name, KINDS, 1, 0.85)):
            yield f"{name} is not a variable of these playbooks: did you mean {similar[0]}?"
