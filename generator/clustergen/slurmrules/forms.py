"""Forms of texts that Slurm's keys take: durations, states, port ranges, weights …"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from clustergen.hostlist import HostlistError, expand
from clustergen.slurmconf.scalars import seconds_of
from clustergen.units.digits import whole


class Form(NamedTuple):
    """`reads` says whether Slurm takes a text; `expected` says what it takes, for a message."""

    reads: Callable[[str], bool]
    expected: str


def _is_duration(text: str) -> bool:
    return seconds_of(text) is not None


def _pattern(regex: str) -> Callable[[str], bool]:
    compiled = re.compile(regex, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _is_period(text: str) -> bool:
    return (seconds_of(text) or 0) > 0


def _is_port_range(text: str) -> bool:
    low, dash, high = text.partition("-")
    if not low.isdigit() or (dash and not high.isdigit()):
        return False
    return 0 < whole(low) <= whole(high or low) and (not dash or whole(low) <= 65535)


def _is_port_list(text: str) -> bool:
    """A host list of numbers; of others, Slurm reads the digits that they begin with."""
    if not text:
        return True
    try:
        ranges = [re.match("([0-9]+)(?:-([0-9]+)$)?", item) for item in expand(text)]
    except HostlistError:
        return False
    return all(match and 0 < whole(match[1]) <= whole(match[2] or match[1]) <= 65535 for match in ranges)


_NODE_STATES = (
    "UNKNOWN|IDLE|DOWN|FUTURE|CLOUD|FAIL|FAILING|DRAIN|DRAINED|DRAINING|NO_RESPOND|POWERED_DOWN|POWER_DOWN|POWER_UP|"
    "PLANNED|RESUME|UNDRAIN|ALLOCATED|MIXED|ERROR|COMPLETING|MAINT|RESERVED|DYNAMIC_NORM|EXTERNAL|INVALID_REG"
)
_GOVERNOR = r"(?:conservative|on\s?demand|performance|power\s?save|sched\s?util|user\s?space)"
_WEIGHT = r"[A-Za-z]+(?:[/:][^=,]+)?=-?(?:[0-9]*\.?[0-9]+|[0-9]+\.)(?:[KMGTP])?"
_LICENSE = r"[^:*,;=]+(?:[:*=][0-9]+)?"
_EXIT = r"[0-9]+(?:-[0-9]+)?"

FORMS: dict[str, Form] = {
    "duration": Form(_is_duration, "minutes, hours:minutes:seconds, days-hours or UNLIMITED"),
    "seconds": Form(_pattern(r"-?[0-9]+|infinite|unlimited"), "a number of seconds, or INFINITE"),
    "minutes": Form(_pattern(r"[0-9]+.*|infinite|unlimited"), "a number of minutes, or UNLIMITED"),
    "ports": Form(_is_port_range, "a port, or a range such as 6817-6820"),
    "port-list": Form(_is_port_list, "a port from 1 to 65535, or one per node, as [7001-7004]"),
    "period": Form(_is_period, "minutes, hours:minutes:seconds or days-hours, greater than 0"),
    "path": Form(_pattern(r"/.*"), "an absolute path"),
    "paths": Form(_pattern(r"none|/[^,]*(?:,/[^,]*)*"), "absolute paths separated by commas, or none"),
    "gres-count": Form(_pattern(r"[0-9]+[kmgtp]?"), "a number, or one with K, M, G, T or P"),
    "links": Form(_pattern(r"-?[0-9]+(?:,-?[0-9]+)*"), "numbers of links with -1 for the GPU itself, as -1,16,16,16"),
    "cores": Form(_pattern(r"[0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*,?"), "cores and core ranges, as 0-15,32"),
    "host-with-address": Form(_pattern(r'[^()"]+(?:\([^()"]+\))?'), "a host name, and its address in parentheses"),
    "node-state": Form(_pattern(_NODE_STATES), "UNKNOWN, FUTURE, CLOUD, DOWN, DRAIN, FAIL, FAILING or IDLE"),
    "partition-state": Form(_pattern(r"(?:up|down|drain|inactive).*"), "UP, DOWN, DRAIN or INACTIVE"),
    "oversubscribe": Form(
        _pattern(r"no|exclusive|yes(?::.*)?|force(?::.*)?"), "NO, EXCLUSIVE, YES, YES:n, FORCE or FORCE:n"
    ),
    "exclusive": Form(_pattern("no|none|node|user|topo"), "NO, NODE, USER or TOPO"),
    "partition-unit": Form(_pattern(r"cr_(?:core|socket).*"), "CR_Core, CR_Core_Memory, CR_Socket or CR_Socket_Memory"),
    "tres-weights": Form(
        _pattern(rf"|{_WEIGHT}(?:,{_WEIGHT})*,?"), "TRES=weight pairs, as CPU=1.0,Mem=0.25G,GRES/gpu=8"
    ),
    "licenses": Form(_pattern(rf"{_LICENSE}(?:[,;]{_LICENSE})*[,;]?"), "names with counts, as matlab:4,ansys:10"),
    "exit-codes": Form(_pattern(rf"{_EXIT}(?:,{_EXIT})*"), "exit codes and ranges, as 1,10-20"),
    "cpu-bind": Form(
        _pattern(r"(?:none|board|socket|ldom|core|thread|off)"), "none, socket, ldom, core, thread or off"
    ),
    "cpu-frequency": Form(_pattern(_GOVERNOR), "a governor: OnDemand, Performance, PowerSave …"),
    "user": Form(_pattern(r"[a-z_][a-z0-9_.@-]*[$]?|[0-9]+"), "the name of one user"),
    "cpu-governors": Form(
        _pattern(rf"{_GOVERNOR}(?:[,:]{_GOVERNOR})*"), "governors: OnDemand,Performance,PowerSave,UserSpace …"
    ),
    "purge-age": Form(
        _pattern(r"[0-9]+(?:m|mo|mon|mont|month|months|h|ho|hou|hour|hours|d|da|day|days)?"),
        "a number of hours, days or months, as 12months",
    ),
}
