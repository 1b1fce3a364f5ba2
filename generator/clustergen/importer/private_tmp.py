"""job_container.conf: one directory for all nodes is a field, everything else goes to the site as it is."""

from __future__ import annotations

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.cluster.directories import TEMPORARY, refusal
from clustergen.diagnostics import ManifestPath
from clustergen.features.private_tmp.needs import STORE
from clustergen.features.private_tmp.section import PrivateTmp
from clustergen.importer.draft import Draft, Item, Value
from clustergen.importer.forms import fits
from clustergen.importer.originals import Originals
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.scalars import boolean, words

FILE = "job_container.conf"
PATH: ManifestPath = ("slurm", "private_tmp")
_KEYS = (("JobContainerType", "job_container/tmpfs"), ("NamespaceType", "namespace/tmpfs"))

_READ = {"autobasepath", "basepath", "dirs", "shared"}


def import_private_tmp(draft: Draft, originals: Originals) -> None:
    """In the place of the option that names the plugin, where the field says all that the file does."""
    config = originals.directory.config(FILE)
    stated = [(item, key) for key, _ in _KEYS if (item := draft.items.get(("slurm", "options", key))) is not None]
    if config is None or len(stated) != 1:
        return
    (option, key), values = stated[0], _values(config)
    if values is None or str(option.value).lower() not in ("tmpfs", *(name for _, name in _KEYS)):
        return
    draft.remove(option)
    for name, value in values.items():
        draft.set((*PATH, name), value, option.origins, comments=option.comments if name == "path" else ())
    _note(draft, originals, option, key)


def _values(config: Config) -> dict[str, Value] | None:
    """Field → value; None where the file says more than the fields can."""
    pairs = [pair for line in config.lines for pair in line.pairs]
    texts = {pair.key.lower(): pair.value for pair in pairs}
    openings = [line.pairs[0].key.lower() for line in config.lines if line.pairs]
    is_plain = len(texts) == len(pairs) and not any(line.problems for line in config.lines)
    if not is_plain or sorted(openings) != ["autobasepath", "basepath"] or not texts.keys() <= _READ:
        return None
    values: dict[str, Value] = {"path": texts.get("basepath", "")}
    directories = tuple(words(texts["dirs"])) if "dirs" in texts else ()
    if directories:
        values["directories"] = directories
    if boolean(texts.get("shared", "no")):
        values["shared"] = True
    if not set(directories) <= set(TEMPORARY):
        return None  # the manifest would need to name the disk that they are on
    created = boolean(texts.get("autobasepath", "no"))
    path = texts.get("basepath", "")
    return values if created and path and fits(values, PrivateTmp) and not refusal(STORE, path) else None


def _note(draft: Draft, originals: Originals, option: Item, key: str) -> None:
    """Another name of the plugin in this release is no difference."""
    new = next((pair for pair in reversed(_KEYS) if has_plugin(*pair, originals.release)), None)
    if new and new[0] != key:
        text = f"{key}={option.value} is written as {new[0]}={new[1]}, its name in Slurm {originals.release}"
        for name in (key, new[0]):
            draft.note("meant", text, option.origins[0].place, name)
