"""The permitted answers of each module of this collection: the only way from a node's words to the control host's
decisions.

A node may be stale, broken or compromised. Its answer is checked before anything reads it: sizes, counts, types, and
that it speaks of what it was asked about. What does not fit fails that host alone.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib

from ansible_collections.clustergen.cluster.plugins.module_utils.overlay import MOST_SHOWN
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import (
    AnswerError,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    OrNone,
    Record,
    Text,
    Words,
)

MAX_SHOWN = 4 << 20  # bytes of all old files of one host, unpacked
MOST_OUTPUT = 1 << 20  # bytes that one command may print
MAX_LEFTOVERS = 2000
MAX_LINES, MAX_LINE, MAX_HOSTS = 5000, 16_384, 100_000  # of an old file of Slurm, where the new one has fewer


class Effect(Text):
    """An effect as the lock file has it: one of the kinds that the package knows, and a unit or a directory."""

    def __init__(self):
        super().__init__(300, r"[a-z-]+(:[\w@.\\/:-]+)?")

    def check(self, value, path):
        from clustergen.render.effects import read

        text = super().check(value, path)
        try:
            read(text)
        except ValueError:
            raise AnswerError(f"{path} is not a known effect") from None
        return text


_PACKED = MOST_SHOWN // 3 * 4 + 1024  # base64 of what does not compress
MOST_OF_UNIT = 1 << 16  # bytes of a mount unit of an earlier tree
_PACKED_UNIT = MOST_OF_UNIT // 3 * 4 + 1024
_KEY = (1 << 20) // 3 * 4 + 4  # base64 of a key
_WORDS = 2000
_PATH = Text(1024, r"/[^\x00-\x1f\x7f-\x9f]*")
EFFECT = Effect()
_NAME = Text(255, r"[\w.~+:@-]*")
_VERSION = Text(64, r"[\w.~+:-]*")
_PROGRAMS = ("slurmdbd", "slurmctld", "slurmd", "sackd", "slurmrestd", "sinfo")


def _node_state(asked):
    targets = OneOf(file["target"] for file in asked["files"])
    return Record(
        {
            "differs": ListOf(
                Record(
                    {
                        "target": targets,
                        "what": ListOf(OneOf(("content", "mode", "owner")), 3),
                        "there": Flag(),
                        "before": OrNone(Text(_PACKED, r"[A-Za-z0-9+/=]*")),
                        "now": Record({}, {"mode": Text(8, "[0-7]+"), "owner": Text(130)}),
                    }
                ),
                len(asked["files"]),
            ),
            "leftovers": ListOf(_PATH, MAX_LEFTOVERS),
            "foreign": ListOf(_PATH, 200),
            "slipped": ListOf(ListOf(Words(300), 3), 200),
            "unrecorded": Flag(),
            "mounts": MapOf(_PATH, Text(_PACKED_UNIT, r"[A-Za-z0-9+/=]*"), 100),
            "effects_of": MapOf(_PATH, EFFECT, MAX_LEFTOVERS),
            "pending": ListOf(EFFECT, 500),
            "packages": ListOf(OneOf(asked["packages"]), len(asked["packages"])),
            "modules": ListOf(OneOf(asked["modules"]), len(asked["modules"])),
            "started": ListOf(Text(255, r"[\w@.\\:-]+"), 500),
            "paths": ListOf(OneOf(asked["paths"]), len(asked["paths"])),
            "units": MapOf(
                OneOf(asked["units"]),
                Record({"load": Text(64), "active": Flag(), "enabled": Flag()}),
                len(asked["units"]),
            ),
            "hiding": ListOf(OneOf(asked["units"]), len(asked["units"])),
            "secrets": Record({path: OrNone(Text(64, "[0-9a-f]{64}")) for path in asked["secrets"]}),
            "running": ListOf(OneOf(("slurmctld.service", "slurmd.service")), 2),
            "drained": ListOf(_NAME, MAX_HOSTS),
            "root": Flag(),
            "os": Record(dict.fromkeys(("id", "version", "codename", "machine"), _VERSION)),
            "host": _NAME,
            "last_run": Text(400),
            "clock": Number(),
            "free": MapOf(
                OneOf(("/", "/etc", "/var", "/run", "/boot")),
                Record({"mib": Number(), "inodes": OrNone(Number(most=2**64))}),
                5,
            ),
            "read_only": ListOf(OneOf(("/etc",)), 1),
            "unwritable": OrNone(Words(200)),
            "systemd": Flag(),
            **({"outputs": Record(_outputs(asked["commands"]))} if asked.get("commands") else {}),
        }
    )


def _outputs(commands):
    names = OneOf(commands)
    some = ListOf(names, len(commands))
    packed = Text(MOST_OUTPUT // 3 * 4 + 1024, r"[A-Za-z0-9+/=]*")
    return {"files": MapOf(names, packed, len(commands)), "late": some, "large": some}


def _node_facts(asked):
    return Record({"changed": Flag(), **_outputs(asked["commands"])})


def _node_put(asked):
    return Record(
        {"changed": Flag()},
        {
            "put": ListOf(OneOf(file["target"] for file in asked["files"]), len(asked["files"])),
            "removed": ListOf(OneOf(asked["remove"]), len(asked["remove"])),
            "done": _DONE,
            "not_asked": ListOf(Text(64, "[a-z]*"), 20),
        },
    )


def _slurm_nodes(asked):
    names = OneOf(asked["nodes"])
    some = ListOf(names, len(asked["nodes"]))
    reasons = MapOf(names, Words(500), len(asked["nodes"]))
    jobs_left = ListOf(Text(40, r"[\w\[\]%,+.-]*"), 200_000)
    return Record(
        {"changed": Flag()},
        {
            "jobs": Number(),
            "drained": some,
            "resumed": some,
            "others": reasons,
            "left": reasons,
            "jobs_left": jobs_left,
        },
    )


def _accept(asked):
    reasons = MapOf(OneOf(asked["nodes"]), Words(500), len(asked["nodes"]))
    return Record(
        {
            "changed": Flag(),
            "summary": Words(200),
            "drained": reasons,
            "left_out": reasons,
            "report": _PATH,
            "lines": ListOf(Words(1000), 200),
            "passed": Flag(),
            "goes_on": Flag(),
        }
    )


def _bmc_machines(asked):
    values = MapOf(Text(200), Text(100), 200)
    machine = Record({}, {"failure": Words(300), "power": _NAME, "health": _NAME, "attributes": values})
    return Record({"changed": Flag(), "machines": MapOf(OneOf(asked["bmcs"]), machine, len(asked["bmcs"]))})


def _fixed(required=None, optional=None):
    schema = Record({"changed": Flag(), **(required or {})}, optional)
    return lambda asked: schema


_DONE = ListOf(Text(300, r"[\w@.\\/: -]*"), 2000)
_RUN = Record(
    {"id": Text(400), "who": Text(100), "host": _NAME, "pid": Number(), "began": Number(), "open": Flag()},
    {"silent": Number()},
)
SCHEMAS = {
    "accept": _accept,
    "bmc_firmware": _fixed(
        {
            "differs": ListOf(Words(600), 2000),
            "unconfirmed": ListOf(Text(64, r"[a-z_0-9]+"), 50),
            "absent": ListOf(Words(600), 50),
            "messages": ListOf(Words(300), 10),
        }
    ),
    "bmc_machines": _bmc_machines,
    "bmc_reach": _fixed({"said": Words(_WORDS)}),
    "node_bmc": _fixed({"bmc": Words(200), "differs": ListOf(Words(300), 20), "is_at_address": Flag()}),
    "node_facts": _node_facts,
    "node_power": _fixed({"power": Text(3, "(on|off)?")}),
    "node_put": _node_put,
    "node_secret": _fixed({}, {"content": Text(_KEY, r"[A-Za-z0-9+/=]*")}),
    "node_settle": _fixed({"done": _DONE}),
    "node_state": _node_state,
    "node_stop": lambda asked: Record(
        {"changed": Flag(), "stopped": ListOf(OneOf(asked["units"]), len(asked["units"]))}
    ),
    "run_mark": _fixed({"other": OrNone(_RUN)}),
    "slurm_convert": _fixed({"seconds": Number()}),
    "slurm_keep": _fixed({"path": Text(1024)}),
    "slurm_nodes": _slurm_nodes,
    "slurm_packages": _fixed({"version": _VERSION}),
    "slurm_ready": _fixed({"answers": Flag()}, {"said": Words(_WORDS)}),
    "slurm_versions": _fixed(
        {
            "versions": MapOf(OneOf(_PROGRAMS), Text(64, r"(\d+\.\d+[\w.~+-]*)?"), len(_PROGRAMS)),
            "running": ListOf(OneOf(_PROGRAMS), len(_PROGRAMS)),
        }
    ),
}
# Of an answer that says that the module failed, people read these.
_FAILED = {
    **dict.fromkeys(("failed", "unreachable", "changed", "skipped"), Flag()),
    "rc": Number(-(2**31), 2**31),
    **dict.fromkeys(
        ("msg", "stderr", "stdout", "module_stderr", "module_stdout", "exception", "reason"), Words(_WORDS)
    ),
}


def checked(module, asked, answer):
    """The answer of a module, with nothing in it that is not described here. Raises AnswerError."""
    if not isinstance(answer, dict):
        raise AnswerError("the answer is not a mapping")
    if answer.get("failed") or answer.get("unreachable"):
        return _failure(answer)
    if answer.get("skipped") is True:  # no check mode
        result = {"changed": False, "skipped": True}
    else:
        result = SCHEMAS[module](asked).check(answer, "the answer")
    if isinstance(answer.get("msg"), str):
        result["msg"] = Words(_WORDS).check(answer["msg"], "msg")
    return result


def _failure(answer):
    kept = {}
    for key, schema in _FAILED.items():
        if key in answer:
            try:
                kept[key] = schema.check(answer[key], key)
            except AnswerError:
                continue
    flags = {key: True for key in ("failed", "unreachable") if answer.get(key)}
    return {**kept, **flags}


def unpacked(text, limit=MOST_SHOWN):
    """The bytes of a packed file, of at most `limit`. Raises AnswerError."""
    try:
        packed = base64.b64decode(text, validate=True)
        engine = zlib.decompressobj()
        content = engine.decompress(packed, limit + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise AnswerError("an old file cannot be unpacked") from None
    if len(content) > limit:
        raise AnswerError(f"an old file is larger than {limit} bytes")
    if not engine.eof:
        raise AnswerError("an old file cannot be unpacked")
    return content


def old_files(differs):
    """Target → its bytes before, None where it is new or was too large to send. Raises AnswerError."""
    files, left = {}, MAX_SHOWN
    for difference in differs:
        target, packed = difference["target"], difference["before"]
        if target in files:
            raise AnswerError(f"the answer has {target} twice")
        files[target] = unpacked(packed) if packed else None
        left -= len(files[target] or b"")
        if left < 0:
            raise AnswerError(f"its old files are larger than {MAX_SHOWN} bytes")
    return files


def bounded(target, old, new):
    """Refuses an old file of Slurm that takes much longer to compare than the new one: more lines, or more hosts in its lists."""
    lines, longest = old.count("\n"), max(map(len, old.split("\n")))
    if lines > max(MAX_LINES, 4 * new.count("\n")):
        raise AnswerError(f"its {target} has {lines} lines; remove the file there, and run this again")
    if longest > MAX_LINE and longest > 4 * max(map(len, new.split("\n"))):
        raise AnswerError(f"its {target} has a line of {longest} characters; remove the file there, and run this again")
    hosts = _hosts_in(old)
    if hosts > MAX_HOSTS and hosts > 4 * _hosts_in(new):
        raise AnswerError(f"its {target} has lists of {hosts:,} hosts; remove the file there, and run this again")


def _hosts_in(text):
    from clustergen.hostlist import HostlistError, count

    total = 0
    for names in re.split(r"[\s=\"]+", text):
        try:
            total += count(names) if "[" in names else 0
        except HostlistError:
            continue  # nobody expands it
    return total
