"""Which release of Slurm wrote the files, where nobody says."""

from __future__ import annotations

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.versions import SlurmRelease, since
from clustergen.slurmconf.config import Config
from clustergen.slurmconf.folder import Folder

_OLDEST = since("cgroup-v2")


def guess(folder: Folder) -> SlurmRelease:
    """The newest release that reads the most of their keys, plugins and words."""
    releases = [release for release in slurm.read_releases() if release >= _OLDEST]
    refused = dict.fromkeys(releases, 0)
    for file in slurm.files():
        config = folder.config(file)
        if config is not None:
            _count(file, config, refused)
    return max(releases, key=lambda release: (-refused[release], release))


def newest() -> SlurmRelease:
    return max(slurm.read_releases())


def _count(file: str, config: Config, refused: dict[SlurmRelease, int]) -> None:
    """Adds, for every release, what it does not read of one file."""
    seen: set[tuple[str, str]] = set()
    for line in config.lines:
        block = ""
        for index, pair in enumerate(line.pairs):
            cell = (block, pair.key.lower())
            key = slurm.key(file, pair.key, block)
            if index == 0:
                block = key.key if key else pair.key
            if cell in seen or key is None:
                continue
            seen.add(cell)
            for release in refused:
                refused[release] += key.state(release) in ("too-new", "removed", "refused")
            if file == "slurm.conf" and not cell[0]:
                _count_words(key.key, pair.value, refused)


def _count_words(key: str, text: str, refused: dict[SlurmRelease, int]) -> None:
    for word in text.split(","):
        plugin = slurm_values.plugin(key, word) if word and slurm_values.has_plugins(key) else None
        token = slurm_values.token(key, word) if word.strip() else None
        for entry in (plugin, token):
            for release in refused if entry else ():
                refused[release] += entry is not None and entry.state(release) in ("too-new", "removed")


def named(text: str) -> SlurmRelease:
    """The release that a user names. ValueError for none that is known here, with those that are."""
    releases = [release for release in slurm.releases() if release >= _OLDEST]
    choices = ", ".join(str(release) for release in releases if release in slurm.read_releases())
    try:
        release = SlurmRelease(text)
    except ValueError:
        raise ValueError(f"'{text}' is not a Slurm release; use one of {choices}") from None
    if release not in releases:
        raise ValueError(f"Slurm {release} is not in the catalogue; use one of {choices}")
    return release
