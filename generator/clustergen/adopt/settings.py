"""Lines of slurm.conf with one key: to the field that says it, or to `slurm.options`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import normpath

from clustergen.adopt.draft import Draft, Origin, Value
from clustergen.adopt.originals import Originals
from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.secrets import find_secrets
from clustergen.slurmconf.folder import Setting
from clustergen.units import Duration, UnitError

Convert = Callable[[str], Value | None]
"""A text of slurm.conf → the manifest's value; None where the field cannot say it."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_PATH = re.compile(r"(/[A-Za-z0-9_.@:+,%-]+)+/?")
_WORD = re.compile(r"[A-Za-z0-9_]+(=[A-Za-z0-9_.:/-]+)?")
_TRES = re.compile(r"[a-z]+(/[A-Za-z0-9_.:-]+)?")
_SECRET_KEYS = frozenset(("jobcomppass", "storagepass", "energyipmipassword", "profileinfluxdbpass"))
_ONLY_LOGGED = (("FastSchedule", "1"),)
_SHARED = frozenset(
    (
        *("/", "/tmp", "/var", "/var/tmp", "/var/spool", "/var/lib", "/var/log", "/var/run", "/run", "/dev/shm"),
        *("/etc", "/etc/slurm", "/home", "/opt", "/usr", "/root", "/mnt", "/srv"),
    )
)
"""Folders of others: the tree would make one of them the Slurm user's own, mode 0700."""

# Lines that nodes, roles and partitions take care of.
ELSEWHERE = frozenset(
    (
        *("slurmctldhost", "slurmctldaddr", "controlmachine", "controladdr", "backupcontroller", "backupaddr"),
        *("nodename", "partitionname", "nodeset", "downnodes"),
        *("accountingstoragetype", "accountingstoragehost", "accountingstoragebackuphost", "accountingstorageport"),
    )
)


def name(text: str) -> Value | None:
    return text if _NAME.fullmatch(text) else None


def plain_path(text: str) -> Value | None:
    return text if _PATH.fullmatch(text) else None


def own_folder(text: str) -> Value | None:
    return plain_path(text) if normpath(text) not in _SHARED else None


def number(low: int, high: int) -> Convert:
    def convert(text: str) -> Value | None:
        good = text.isascii() and text.isdigit() and (text[0] != "0" or text == "0")
        return int(text) if good and low <= int(text) <= high else None

    return convert


def boolean(text: str) -> Value | None:
    return {"yes": True, "true": True, "1": True, "up": True}.get(text.lower()) or (
        False if text.lower() in ("no", "false", "0", "down") else None
    )


def duration(text: str) -> Value | None:
    """As Slurm prints it, where that is the same length."""
    try:
        found = Duration.parse(text)
    except UnitError:
        return None
    plain = ("-" in text or ":" in text) and not text.startswith(("0-", "00-"))
    return "unlimited" if found.unlimited else text if plain else found.slurm()


def words(form: re.Pattern[str], allowed: tuple[str, ...] = ()) -> Convert:
    def convert(text: str) -> Value | None:
        found = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
        lower = tuple(word.lower() for word in found)
        if allowed:
            return lower if lower and set(lower) <= set(allowed) else None
        return found if found and all(form.fullmatch(word) for word in found) else None

    return convert


def one_of(**values: str) -> Convert:
    """By the last part of a plugin's name."""
    return lambda text: values.get(text.lower().rpartition("/")[2])


def only(word: str) -> Convert:
    """A switch for one word of a list, where it is the only one."""
    return lambda text: True if text.strip().lower() == word else None


_WEIGHT = number(0, 4294967295)
_SLURM = "slurm"
TABLE: dict[str, tuple[ManifestPath, Convert]] = {
    "SlurmUser": ((_SLURM, "user"), name),
    "StateSaveLocation": ((_SLURM, "state_location"), own_folder),
    "AuthType": ((_SLURM, "auth"), one_of(munge="munge", slurm="slurm")),
    "SlurmctldPort": ((_SLURM, "ports", "slurmctld"), number(1, 65535)),
    "SlurmdPort": ((_SLURM, "ports", "slurmd"), number(1, 65535)),
    "PreemptType": ((_SLURM, "preemption", "by"), one_of(partition_prio="partition", qos="qos")),
    "PreemptMode": ((_SLURM, "preemption", "mode"), one_of(requeue="requeue", cancel="cancel")),
    "PreemptExemptTime": ((_SLURM, "preemption", "exempt_time"), duration),
    "TopologyPlugin": (
        (_SLURM, "topology", "plugin"),
        one_of(tree="tree", block="block", flat="flat", none="flat", default="flat"),
    ),
    "TopologyParam": ((_SLURM, "topology", "parameters"), words(_WORD)),
    "SchedulerParameters": ((_SLURM, "scheduler", "parameters"), words(_WORD)),
    "JobRequeue": ((_SLURM, "scheduler", "requeue"), boolean),
    "MaxJobCount": ((_SLURM, "scheduler", "max_jobs"), number(1000, 10_000_000)),
    "MaxArraySize": ((_SLURM, "scheduler", "max_array"), number(2, 4_000_001)),
    "AccountingStorageEnforce": (
        (_SLURM, "accounting", "enforce"),
        words(_WORD, ("associations", "limits", "nojobs", "nosteps", "qos", "safe", "wckeys", "all")),
    ),
    "AccountingStorageTRES": ((_SLURM, "accounting", "tres"), words(_TRES)),
    "AccountingStoreFlags": (
        (_SLURM, "accounting", "store"),
        words(_WORD, ("job_comment", "job_env", "job_extra", "job_script")),
    ),
    "JobAcctGatherFrequency": ((_SLURM, "accounting", "gather_frequency"), number(0, 3600)),
    "LaunchParameters": ((_SLURM, "interactive_step"), only("use_interactive_step")),
    "SlurmctldParameters": ((_SLURM, "configless"), only("enable_configless")),
    "RebootProgram": ((_SLURM, "reboot_program"), plain_path),
    "ResumeTimeout": ((_SLURM, "resume_timeout"), number(60, 65533)),
    "SlurmdTimeout": ((_SLURM, "slurmd_timeout"), number(0, 65533)),
    "MessageTimeout": ((_SLURM, "message_timeout"), number(5, 100)),
    "MpiDefault": ((_SLURM, "mpi_default"), one_of(none="none", pmi2="pmi2", pmix="pmix")),
    "PriorityDecayHalfLife": ((_SLURM, "priority", "half_life"), duration),
    "PriorityCalcPeriod": ((_SLURM, "priority", "calc_period"), duration),
    "PriorityMaxAge": ((_SLURM, "priority", "max_age"), duration),
    "PriorityUsageResetPeriod": (
        (_SLURM, "priority", "usage_reset"),
        one_of(**{word.lower(): word for word in ["NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"]}),
    ),
    "PriorityFlags": ((_SLURM, "priority", "flags"), words(_NAME)),
    "PriorityFavorSmall": ((_SLURM, "priority", "favor_small"), boolean),
    "PriorityWeightAge": ((_SLURM, "priority", "weights", "age"), _WEIGHT),
    "PriorityWeightAssoc": ((_SLURM, "priority", "weights", "assoc"), _WEIGHT),
    "PriorityWeightFairshare": ((_SLURM, "priority", "weights", "fairshare"), _WEIGHT),
    "PriorityWeightJobSize": ((_SLURM, "priority", "weights", "job_size"), _WEIGHT),
    "PriorityWeightPartition": ((_SLURM, "priority", "weights", "partition"), _WEIGHT),
    "PriorityWeightQOS": ((_SLURM, "priority", "weights", "qos"), _WEIGHT),
}
"""Keys of slurm.conf with a field of the same meaning."""


def take_settings(draft: Draft, originals: Originals) -> None:
    """All lines of slurm.conf that stand alone, but those of nodes, partitions, controllers and slurmdbd."""
    conf = originals.conf
    for key, settings in _single(originals):
        if key.lower() in ELSEWHERE or key == "ClusterName":
            continue
        if key.lower() in _SECRET_KEYS or _is_secret(key, settings[-1].text):
            where = "nothing of it is in the manifest"
            draft.note("secret", f"{key} is a secret, and slurm.conf can be read by everybody: {where}", "", key)
            continue
        origins = [originals.origin(setting) for setting in settings]
        if key == "CredType" and _plugin(settings[-1].text) == _plugin(conf.text("AuthType") or ""):
            continue  # slurm.auth says both
        if why := _idle(key, settings[-1].text, originals):
            draft.note("meant", f"{key}={settings[-1].text} {why}", origins[-1].place, key)
            continue
        known = slurm.key("slurm.conf", key)
        several = len(settings) > 1 and known is not None and known.type == "array"
        if several:
            _repeated(draft, key, origins)
            continue
        for lost in origins[:-1]:
            if lost.text != origins[-1].text:
                draft.note("meant", f"{key}={lost.text}: a later line says it again, and that one counts", lost.place)
        single(draft, key, origins[-1])
    if preempting(conf.text("PreemptMode")):
        draft.items.pop((_SLURM, "preemption", "youngest_first"), None)
    if any(item.path[:2] == (_SLURM, "preemption") for item in draft.items.values()):
        draft.set((_SLURM, "preemption", "youngest_first"), False)


def preempting(mode: str | None) -> bool:
    return mode is not None and mode.lower() != "off"


def single(draft: Draft, key: str, origin: Origin) -> None:
    """One key to its field, with `slurm.options` as the place where it fits in any case."""
    option: tuple[ManifestPath, Value] = ((_SLURM, "options", key), option_value(origin.text))
    if key in TABLE:
        path, convert = TABLE[key]
        value = convert(origin.text)
        if value is not None:
            draft.set(path, value, [origin], hatch=[option])
            return
    draft.set(*option, [origin])


def option_value(text: str) -> Value:
    """A number where YAML and Slurm read the same one."""
    plain = text.isascii() and text.isdigit() and (text[0] != "0" or text == "0") and len(text) < 16
    return int(text) if plain else text


def _single(originals: Originals) -> Iterator[tuple[str, list[Setting]]]:
    """Key as the catalogue writes it → its settings, in order of first use."""
    found: dict[str, list[Setting]] = {}
    for lower in list(originals.conf.keys()):
        for setting in originals.conf.settings(lower):
            (key, *_) = spelled("slurm.conf", "", setting.key)
            found.setdefault(key if lower not in ELSEWHERE else lower, []).append(setting)
    yield from found.items()


def _repeated(draft: Draft, key: str, origins: list[Origin]) -> None:
    taken = sum(1 for item in draft.items if item[:2] == (_SLURM, "lines"))
    for index, origin in enumerate(origins, taken):
        draft.set((_SLURM, "lines", index, key), option_value(origin.text), [origin])


def _idle(key: str, text: str, originals: Originals) -> str:
    """Why a setting does nothing but put an error into the log."""
    known = slurm.key("slurm.conf", key)
    if known is not None and known.state(originals.release) == "defunct":
        return f"has had no effect since Slurm {known.defunct}, and slurmctld logs an error for it: left out"
    if (key, text) in _ONLY_LOGGED:
        return "has no effect any more, and slurmctld logs an error for it: left out"
    return ""


def _is_secret(key: str, text: str) -> bool:
    return any(True for _ in find_secrets(f"{key}: {text}", {key: text}))


def _plugin(text: str) -> str:
    return text.lower().rpartition("/")[2]
