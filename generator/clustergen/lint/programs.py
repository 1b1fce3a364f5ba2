"""Programs and plugins that Slurm's daemons run, in directories where users can replace them."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.catalogue import slurm
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site
from clustergen.slurmconf.config import Setting
from clustergen.slurmrules import programs

_FILES = ("slurm.conf", "slurmdbd.conf", "job_container.conf", "helpers.conf")


def writable(site: Site) -> Iterator[LintFinding]:
    for name in _FILES:
        config = site.directory.config(name)
        if config is None:
            continue

        def text_of(key: str) -> str:
            setting = config.value(key)  # noqa: B023 - used within this round
            return setting.text if setting else ""

        blocks = {block.lower(): block for block in slurm.files()[name] if block}
        for line in config.lines:
            block = ""
            for index, pair in enumerate(line.pairs):
                remarks = programs.remarks(name, block, pair.key, pair.value, text_of=text_of)
                yield from site.remarks(Setting(line.file, pair), remarks)
                if not index:
                    block = blocks.get(pair.key.lower(), "")
