"""slurmdbd.conf: to the fields of `slurm.accounting`, or to its options."""

from __future__ import annotations

from clustergen.cluster.slurm.accounting import PASSWORD_FILE
from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.secrets import is_secret
from clustergen.importer.draft import Draft, Origin, Value
from clustergen.importer.forms import fits, value_of, words
from clustergen.importer.originals import Originals
from clustergen.importer.settings import option_value
from clustergen.manifest.base import Endpoint, SlurmName
from clustergen.slurmconf.config import Setting
from clustergen.slurmrules.fields import fields_of

_SECTION: ManifestPath = ("slurm", "accounting")
# Told by roles, ports and private of both files, or made by clustergen.
_ELSEWHERE = frozenset(("dbdhost", "dbdbackuphost", "dbdport", "storageport", "privatedata", "storagepass"))


def import_slurmdbd(draft: Draft, originals: Originals) -> None:
    """All lines of slurmdbd.conf; the password stays out, and a note names the file for it."""
    _private(draft, originals)
    conf = originals.configs.get("slurmdbd.conf")
    if conf is None:
        return
    for lower in list(conf.keys()):
        setting = conf.settings(lower)[-1]
        if lower not in _ELSEWHERE:
            _setting(draft, originals, lower, setting)
    password = conf.value("StoragePass")
    draft.set((*_SECTION, "password"), password is not None, [originals.origin(password)] if password else [])
    if password is not None:
        where = (
            f"add the line StoragePass=… to {PASSWORD_FILE} on the slurmdbd node, with the owner of slurmdbd.conf and"
            " mode 0600"
        )
        draft.note(
            "secret", f"StoragePass is not in the manifest: {where}", originals.origin(password).place, "StoragePass"
        )


def _setting(draft: Draft, originals: Originals, lower: str, setting: Setting) -> None:
    origin = originals.origin(setting)
    text = setting.text
    if is_secret(setting.key, text):
        draft.note("secret", f"{setting.key} of slurmdbd.conf is a secret", origin.place, setting.key)
        return
    option = ((*_SECTION, "options", setting.key), option_value(text))
    value: Value | None = None
    path: ManifestPath = ()
    passthrough = [option]
    if lower == "storagehost" and ":" not in text and fits(text, Endpoint):
        path, value = (*_SECTION, "database_host"), text
        port = _port(originals)
        if port is not None and fits(f"{text}:{port.text}", Endpoint):
            value = f"{text}:{port.text}"
            passthrough.append(((*_SECTION, "options", "StoragePort"), port.text))
        elif port is not None:
            place = originals.origin(port).place
            draft.note("left-out", f"StoragePort={port.text} is not a port from 1 to 65535", place, "StoragePort")
    elif lower == "storagetype" and text.lower() == "accounting_storage/mysql":
        return  # which is written anyway
    elif lower == "slurmuser" and text == originals.conf.text("SlurmUser"):
        return
    else:
        for row in fields_of("slurmdbd.conf", "", lower):
            path, value = tuple(row.path.split(".")), value_of(row, text)
    if value is not None:
        draft.set(path, value, [origin], passthrough=passthrough)
    else:
        draft.set(*option, [origin])
    if lower == "storagehost" and value is None and (port := _port(originals)) is not None:
        draft.set((*_SECTION, "options", "StoragePort"), option_value(port.text), [originals.origin(port)])


def _port(originals: Originals) -> Setting | None:
    conf = originals.configs.get("slurmdbd.conf")
    return conf.value("StoragePort") if conf else None


def _private(draft: Draft, originals: Originals) -> None:
    """One field for both files, where they say the same."""
    dbd = originals.configs.get("slurmdbd.conf")
    slurm_value = originals.conf.value("PrivateData")
    dbd_value = dbd.value("PrivateData") if dbd else None
    values: list[tuple[ManifestPath, Value, Origin]] = []
    if slurm_value is not None:
        values.append((("slurm", "options", "PrivateData"), slurm_value.text, originals.origin(slurm_value)))
    if dbd_value is not None:
        values.append(((*_SECTION, "options", "PrivateData"), dbd_value.text, originals.origin(dbd_value)))
    texts = {str(text) for _, text, _ in values}
    value = words(next(iter(texts))) if len(texts) == 1 and (dbd is None or len(values) == 2) else None
    if value is not None and fits(value, tuple[SlurmName, ...]):
        passthrough = [(path, text) for path, text, _ in values]
        option = draft.items.pop(("slurm", "options", "PrivateData"), None)
        comments = option.comments if option else ()
        draft.set(
            (*_SECTION, "private"),
            value,
            [origin for _, _, origin in values],
            passthrough=passthrough,
            comments=comments,
        )
        return
    for path, text, origin in values:
        draft.set(path, text, [origin])
