"""The lines of gres.conf as records: name, type, number, and whose they are."""

from __future__ import annotations

from typing import NamedTuple

from clustergen.hostlist import HostlistError, count
from clustergen.lint.site import expanded, split_outside
from clustergen.slurmconf.config import Config, Entry
from clustergen.slurmconf.scalars import amount, files_of

SHARED = ("mps", "shard")
"""GRES that are parts of GPUs."""
_MOST_HOSTS = 64


class Record(NamedTuple):
    """One line of gres.conf."""

    entry: Entry
    name: str
    type: str
    number: int
    auto: bool

    @property
    def is_general(self) -> bool:
        """True if all nodes read it."""
        return self.entry.block != "nodename"

    def hosts(self) -> list[str]:
        """The nodes that it names, expanded each time: all lines together may name millions."""
        return [] if self.is_general else expanded(self.entry.names) or []

    def has_few_hosts(self) -> bool:
        return self.is_general or self.entry.size() <= _MOST_HOSTS


def read_records(config: Config | None) -> tuple[list[Record], bool]:
    """The lines of gres.conf that name GRES or turn detection on, and whether it is on for all nodes."""
    if config is None:
        return [], False
    everywhere = any(setting.text.lower() != "off" for setting in config.settings("AutoDetect"))
    records = []
    for entry in (*config.entries("NodeName"), *config.entries("Name")):
        name = (entry.text("Name") or "") if entry.block == "nodename" else entry.names
        auto = entry.own_value("AutoDetect")
        files = entry.own_value("File", "Files")
        stated = amount(entry.text("Count") or "")
        listed = count_files(files.text) if files else None
        number = (stated or listed if name.lower() in SHARED else listed or stated) or 1
        has_auto_detect = auto is not None and auto.text.lower() != "off"
        records.append(Record(entry, name, entry.text("Type") or "", number, has_auto_detect))
    return records, everywhere


def count_files(text: str) -> int | None:
    """How many files a list names; None where slurmd cannot read it."""
    try:
        return count_listed(text)
    except HostlistError:
        return None


def count_listed(text: str) -> int:
    """The same; HostlistError for what slurmd cannot read."""
    return sum(count(part.rpartition("/")[2] or part) for part in split_outside(text, "[]") if part)


def device_names(record: Record, *keys: str) -> list[str]:
    """The device files that a line names; none where slurmd cannot read them."""
    setting = record.entry.own_value(*keys or ("File", "Files", "MultipleFiles"))
    return files_of(setting.text) if setting and count_files(setting.text) is not None else []
