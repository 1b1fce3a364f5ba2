"""Lines of slurm.conf with one key: to the field that says it, or to `slurm.options`."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.catalogue.slurm_meanings import spelled
from clustergen.catalogue.slurm_values import has_tokens, token
from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.secret_values import could_be_secret
from clustergen.diagnostics.secrets import is_secret
from clustergen.importer.draft import Draft, Origin, Value
from clustergen.importer.forms import value_of
from clustergen.importer.originals import Originals
from clustergen.records import replace
from clustergen.slurmconf.config import Setting
from clustergen.slurmrules.fields import fields_of

_SLURM = "slurm"
_YOUNGEST: ManifestPath = (_SLURM, "preemption", "youngest_first")
_ONLY_LOGGED = (("FastSchedule", "1"),)
# Lines that nodes, roles and partitions take care of.
ELSEWHERE = frozenset(
    (
        *("slurmctldhost", "slurmctldaddr", "controlmachine", "controladdr", "backupcontroller", "backupaddr"),
        *("nodename", "partitionname", "nodeset", "downnodes"),
        *("accountingstoragetype", "accountingstoragehost", "accountingstoragebackuphost", "accountingstorageport"),
    )
)


def import_settings(draft: Draft, originals: Originals) -> None:
    """All lines of slurm.conf that stand alone, but those of nodes, partitions, controllers and slurmdbd."""
    conf = originals.conf
    for key, settings in _single(originals):
        if key.lower() in ELSEWHERE or key == "ClusterName":
            continue
        is_doubted = slurm.key("slurm.conf", key) is None and could_be_secret(settings[-1].text)
        if is_doubted or is_secret(key, settings[-1].text):
            where = "it is not in the manifest"
            draft.note("secret", f"{key} is a secret, and every user can read slurm.conf: {where}", "", key)
            continue
        origins = [originals.origin(setting) for setting in settings]
        if key == "CredType" and _plugin(settings[-1].text) == _plugin(conf.text("AuthType") or ""):
            continue  # slurm.auth says both
        if why := _idle(key, settings[-1].text, originals):
            draft.note("meant", f"{key}={settings[-1].text} {why}", origins[-1].place, key)
            continue
        known_key = slurm.key("slurm.conf", key)
        several = len(settings) > 1 and known_key is not None and known_key.type == "array"
        if several:
            _repeated(draft, key, origins)
            continue
        for lost in origins[:-1]:
            if lost.text != origins[-1].text:
                draft.note("meant", f"{key}={lost.text} is omitted: a later line sets it again", lost.place)
        if (key, settings[-1].text) == ("FastSchedule", "2"):
            _fast_schedule(draft, originals, origins[-1])
        elif key == "SlurmdParameters" and conf.text("FastSchedule") == "2":
            continue  # the words of both
        else:
            single(draft, key, _without_moved_words(draft, originals, key, origins[-1]))
    _priority_type(draft, originals)
    if any(path[:2] == _YOUNGEST[:2] and path != _YOUNGEST for path in draft.items) and _YOUNGEST not in draft.items:
        listed = (conf.text("PreemptParameters") or "").lower().split(",")
        draft.set(_YOUNGEST, "youngest_first" in map(str.strip, listed))


def _fast_schedule(draft: Draft, originals: Originals, origin: Origin) -> None:
    """The parameter that took the place of FastSchedule=2, added to the others."""
    stated = originals.conf.value("SlurmdParameters")
    words = list(filter(None, (stated.text if stated else "", "config_overrides")))
    if stated and "config_overrides" in stated.text.lower():
        words.pop()
    origins = [originals.origin(stated), origin] if stated else [origin]
    draft.set((_SLURM, "options", "SlurmdParameters"), ",".join(words), origins)
    for key in (origin.key, "SlurmdParameters"):
        draft.note("meant", "FastSchedule=2 is written as SlurmdParameters=config_overrides", origin.place, key)


def _priority_type(draft: Draft, originals: Originals) -> None:
    """The section stands for priority/multifactor; with another type its keys are options."""
    stated = originals.conf.text("PriorityType")
    text = stated or slurm.default("slurm.conf", "", "PriorityType", originals.release) or ""
    items = list(draft.below((_SLURM, "priority")))
    option = draft.items.get((_SLURM, "options", "PriorityType"))
    if _plugin(text) != "multifactor":
        for item in items:
            draft.demote(item)
    elif items and option:
        draft.remove(option)
        items[0].comments[:0] = option.comments


def _without_moved_words(draft: Draft, originals: Originals, key: str, origin: Origin) -> Origin:
    """The setting without words that belong to another key today, where they are added."""
    kept: list[str] = []
    for part in origin.text.split(",") if has_tokens(key) else ():
        word = part.strip()
        known_token = token(key, word)
        target, _, new = known_token.instead.partition("=") if known_token is not None else ("", "", "")
        is_obsolete = known_token is not None and known_token.state(originals.release) != "known" and has_tokens(target)
        if known_token is None or not is_obsolete or not new or target == key:
            kept.append(part)
            continue
        path, option = (_SLURM, "options", target), ",".join(filter(None, (originals.conf.text(target), word)))
        for row in fields_of("slurm.conf", "", target):
            value = value_of(row, option)
            if value is not None:
                draft.set(tuple(row.path.split(".")), value, [origin], passthrough=[(path, option)])
        since = f"Slurm {known_token.removed or known_token.defunct}"
        draft.note("meant", f"{word} of {key} has no effect since {since}", origin.place, key)
        words = f"{target}={word} is added, which {key} set before {since}; remove it to keep today's behaviour"
        draft.note("choice", words, origin.place, target)
    return replace(origin, text=",".join(kept)) if kept and len(kept) < origin.text.count(",") + 1 else origin


def single(draft: Draft, key: str, origin: Origin) -> None:
    """One key to its field, with `slurm.options` as the place where it fits in any case."""
    option: tuple[ManifestPath, Value] = ((_SLURM, "options", key), option_value(origin.text))
    for row in fields_of("slurm.conf", "", key):
        value = value_of(row, origin.text)
        if value is not None:
            draft.set(tuple(row.path.split(".")), value, [origin], passthrough=[option])
            return
    draft.set(*option, [origin])


def option_value(text: str) -> Value:
    """A number where YAML and Slurm read the same one."""
    plain = text.isascii() and text.isdigit() and (text[0] != "0" or text == "0") and len(text) < 16
    return int(text) if plain else text


def _single(originals: Originals) -> Iterator[tuple[str, list[Setting]]]:
    """Key as the catalogue writes it → its settings, in order of first use."""
    by_key: dict[str, list[Setting]] = {}
    for lower in list(originals.conf.keys()):
        for setting in originals.conf.settings(lower):
            (key, *_) = spelled("slurm.conf", "", setting.key)
            by_key.setdefault(key if lower not in ELSEWHERE else lower, []).append(setting)
    yield from by_key.items()


def _repeated(draft: Draft, key: str, origins: list[Origin]) -> None:
    taken = sum(1 for item in draft.items if item[:2] == (_SLURM, "lines"))
    for index, origin in enumerate(origins, taken):
        draft.set((_SLURM, "lines", index, key), option_value(origin.text), [origin])


def _idle(key: str, text: str, originals: Originals) -> str:
    """Why a setting does nothing but put an error into the log."""
    known_key = slurm.key("slurm.conf", key)
    if known_key is not None and known_key.state(originals.release) == "defunct":
        return f"is omitted: it has had no effect since Slurm {known_key.defunct}, and slurmctld logs an error for it"
    if (key, text) in _ONLY_LOGGED:
        return "is omitted: it no longer has an effect, and slurmctld logs an error for it"
    return ""


def _plugin(text: str) -> str:
    return text.lower().rpartition("/")[2]
