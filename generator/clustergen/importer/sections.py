"""Files that become sections of features, where these can say the same: what is more goes to the site as it is."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from clustergen.catalogue.slurm_values import has_plugin
from clustergen.feature import modules
from clustergen.importer.draft import Draft, Item
from clustergen.importer.forms import takes
from clustergen.importer.originals import Originals
from clustergen.manifest.model import Manifest


def import_sections(draft: Draft, originals: Originals) -> None:
    """Sections in the place of the options that name their plugins."""
    for module in modules("imports"):
        config = originals.directory.config(module.FILE)
        stated = [(item, key) for key, _ in module.PLUGINS if (item := draft.items.get(("slurm", "options", key)))]
        if config is None or len(stated) != 1:
            continue
        (option, key), values = stated[0], module.values(config)
        names = {form for _, name in module.PLUGINS for form in (name, name.rpartition("/")[2])}
        path = ".".join(module.PATH)
        if values is None or str(option.value).lower() not in names or not takes(Manifest, path, values):
            continue
        draft.remove(option)
        for index, (name, value) in enumerate(values.items()):
            draft.set((*module.PATH, name), value, option.origins, comments=() if index else option.comments)
        _note(draft, originals, option, key, module)


def replaced(draft: Draft) -> Iterator[str]:
    """Files in whose place the draft has a section."""
    return (module.FILE for module in modules("imports") if any(True for _ in draft.below(module.PATH)))


def _note(draft: Draft, originals: Originals, option: Item, key: str, module: ModuleType) -> None:
    """Another name of the plugin in this release is no difference."""
    for new, name in module.PLUGINS:
        if has_plugin(new, name, originals.release):
            if new != key:
                text = f"{key}={option.value} is written as {new}={name}, its name in Slurm {originals.release}"
                draft.note("meant", text, option.origins[0].place, key)
                draft.note("meant", text, option.origins[0].place, new)
            return
