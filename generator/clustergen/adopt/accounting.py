"""slurmdbd.conf: to the fields of `slurm.accounting`, or to its options."""

from __future__ import annotations

import re

from clustergen.adopt.draft import Draft, Origin, Value
from clustergen.adopt.originals import Originals
from clustergen.adopt.settings import option_value, words
from clustergen.diagnostics import ManifestPath
from clustergen.slurmconf.folder import Setting

SECRET = "/etc/slurm/slurmdbd.secret.conf"
_HERE: ManifestPath = ("slurm", "accounting")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_PLAIN = re.compile(r"[A-Za-z0-9_]+")
_AGE = re.compile(r"[0-9]+(hours?|days?|months?)")
_PRIVATE = words(re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}"))
_PURGE = {f"purge{kind}after": kind for kind in ("event", "job", "resv", "step", "suspend", "txn", "usage")}
# Told by roles, ports and private of both files, or made by clustergen.
_ELSEWHERE = frozenset(("dbdhost", "dbdbackuphost", "dbdport", "storageport", "privatedata", "storagepass"))


def take_slurmdbd(draft: Draft, originals: Originals) -> None:
    """All lines of slurmdbd.conf; the password stays out, and the user is told where it goes."""
    _private(draft, originals)
    conf = originals.configs.get("slurmdbd.conf")
    if conf is None:
        return
    for lower in list(conf.keys()):
        setting = conf.settings(lower)[-1]
        if lower not in _ELSEWHERE:
            _setting(draft, originals, lower, setting)
    password = conf.value("StoragePass")
    draft.set((*_HERE, "password"), password is not None, [originals.origin(password)] if password else [])
    if password is not None:
        where = f"put the line StoragePass=… into {SECRET} on the node of slurmdbd, owner as slurmdbd.conf, mode 0600"
        draft.note(
            "secret", f"StoragePass is not in the manifest: {where}", originals.origin(password).place, "StoragePass"
        )


def _setting(draft: Draft, originals: Originals, lower: str, setting: Setting) -> None:
    origin = originals.origin(setting)
    text = setting.text
    option = ((*_HERE, "options", setting.key), option_value(text))
    value: Value | None = None
    path: ManifestPath = ()
    hatch = [option]
    if lower == "storagehost" and _HOST.fullmatch(text):
        path, value = (*_HERE, "database_host"), text
        port = _port(originals)
        if port is not None:
            value = f"{text}:{port.text}"
            hatch.append(((*_HERE, "options", "StoragePort"), port.text))
    elif lower in ("storageuser", "storageloc") and _PLAIN.fullmatch(text):
        path, value = (*_HERE, "database_user" if lower == "storageuser" else "database_name"), text
    elif lower in _PURGE and _AGE.fullmatch(text):
        path, value = (*_HERE, "purge", _PURGE[lower]), text
    elif lower == "storagetype" and text.lower() == "accounting_storage/mysql":
        return  # which is written anyway
    elif lower == "slurmuser" and text == originals.conf.text("SlurmUser"):
        return
    if value is not None:
        draft.set(path, value, [origin], hatch=hatch)
    else:
        draft.set(*option, [origin])
    if lower == "storagehost" and value is None and (port := _port(originals)) is not None:
        draft.set((*_HERE, "options", "StoragePort"), option_value(port.text), [originals.origin(port)])


def _port(originals: Originals) -> Setting | None:
    conf = originals.configs.get("slurmdbd.conf")
    return conf.value("StoragePort") if conf else None


def _private(draft: Draft, originals: Originals) -> None:
    """One field for both files, where they say the same."""
    dbd = originals.configs.get("slurmdbd.conf")
    here = originals.conf.value("PrivateData")
    there = dbd.value("PrivateData") if dbd else None
    given: list[tuple[ManifestPath, Value, Origin]] = []
    if here is not None:
        given.append((("slurm", "options", "PrivateData"), here.text, originals.origin(here)))
    if there is not None:
        given.append(((*_HERE, "options", "PrivateData"), there.text, originals.origin(there)))
    texts = {str(text) for _, text, _ in given}
    value = _PRIVATE(next(iter(texts))) if len(texts) == 1 and (dbd is None or len(given) == 2) else None
    if value is not None:
        hatch = [(path, text) for path, text, _ in given]
        option = draft.items.pop(("slurm", "options", "PrivateData"), None)
        said = option.comments if option else ()
        draft.set((*_HERE, "private"), value, [origin for _, _, origin in given], hatch=hatch, comments=said)
        return
    for path, text, origin in given:
        draft.set(path, text, [origin])
