"""job_container.conf with one directory for all nodes; everything else in it has no field."""

from __future__ import annotations

from typing import Any

from clustergen.cluster.directories import TEMPORARY, refusal
from clustergen.features.private_tmp.needs import PLUGINS as PLUGINS
from clustergen.features.private_tmp.needs import STORE
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.scalars import boolean, words

FILE, PATH = "job_container.conf", ("slurm", "private_tmp")
_READ = {"autobasepath", "basepath", "dirs", "shared"}


def values(config: Config) -> dict[str, Any] | None:
    """Fields of the section; None where the file says more than they can."""
    pairs = [pair for line in config.lines for pair in line.pairs]
    texts = {pair.key.lower(): pair.value for pair in pairs}
    openings = [line.pairs[0].key.lower() for line in config.lines if line.pairs]
    is_plain = len(texts) == len(pairs) and not any(line.problems for line in config.lines)
    if not is_plain or sorted(openings) != ["autobasepath", "basepath"] or not texts.keys() <= _READ:
        return None
    path, directories = texts["basepath"], tuple(words(texts.get("dirs", "")))
    if not path or not boolean(texts["autobasepath"]) or refusal(STORE, path):
        return None
    if not set(directories) <= set(TEMPORARY):
        return None  # the manifest would need to name the disk that they are on
    made = {"path": path, "directories": directories, "shared": boolean(texts.get("shared", "no"))}
    return {name: value for name, value in made.items() if value}
