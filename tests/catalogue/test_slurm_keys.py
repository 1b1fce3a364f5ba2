"""Keys and releases of Slurm, against facts seen in its source and in real daemons."""

import pytest

from clustergen.catalogue import slurm
from clustergen.catalogue.versions import SlurmRelease


@pytest.mark.parametrize(
    ("file", "block", "name", "release", "state"),
    [
        ("slurm.conf", "", "FrontendName", "24.11", "known"),
        ("slurm.conf", "", "FrontendName", "25.05", "removed"),
        ("slurm.conf", "", "ControlMachine", "26.05", "known"),
        ("slurm.conf", "", "MetricsType", "25.05", "too-new"),
        ("slurm.conf", "", "MetricsType", "25.11", "known"),
        ("slurm.conf", "", "PowerPlugin", "24.05", "defunct"),
        ("slurm.conf", "", "SallocDefaultCommand", "24.11", "refused"),
        ("slurm.conf", "", "AccountingStoreJobComment", "20.11", "known"),
        ("slurm.conf", "", "AccountingStoreJobComment", "24.11", "refused"),
        ("slurm.conf", "PartitionName", "MaxCPUsPerSocket", "22.05", "too-new"),
        ("slurm.conf", "NodeName", "gres", "22.05", "known"),
        ("slurm.conf", "NodeName", "Topology", "24.11", "too-new"),
        ("cgroup.conf", "", "TaskAffinity", "22.05", "removed"),
        ("cgroup.conf", "", "CgroupAutomount", "23.11", "defunct"),
        ("cgroup.conf", "", "ConstrainKmemSpace", "23.11", "removed"),
        ("cgroup.conf", "", "CgroupReleaseAgentDir", "24.11", "refused"),
        ("topology.conf", "", "BlockLevels", "23.11", "known"),
        ("topology.conf", "", "BlockLevels", "24.05", "removed"),
        ("topology.conf", "", "BlockSizes", "24.05", "known"),
        ("gres.conf", "", "NodeName", "26.05", "known"),
        ("gres.conf", "NodeName", "File", "26.05", "known"),
        ("slurmdbd.conf", "", "StoragePassScript", "25.11", "known"),
    ],
)
def test_a_release_reads_ignores_or_refuses_a_key(file: str, block: str, name: str, release: str, state: str) -> None:
    text = slurm.key(file, name, block)
    assert text is not None
    assert text.state(SlurmRelease(release)) == state


@pytest.mark.parametrize("name", ["MaxConcurrentJobs", "PriorityDecayType", "PriorityUsageResetPeriodType"])
def test_keys_that_never_existed(name: str) -> None:
    assert slurm.key("slurm.conf", name) is None


def test_a_block_has_its_own_keys() -> None:
    assert slurm.key("slurm.conf", "RealMemory") is None
    assert slurm.key("slurm.conf", "RealMemory", "NodeName") is not None
    assert set(slurm.files()["slurm.conf"]) == {"DownNodes", "NodeName", "NodeSet", "PartitionName", "PowerAction"}
    assert len(slurm.keys("slurm.conf")) > 250


def test_every_replacement_is_a_key_of_the_same_line() -> None:
    for file, blocks in slurm.files().items():
        for block in ("", *blocks):
            for entry in slurm.keys(file, block):
                assert not entry.instead or slurm.key(file, entry.instead, block) is not None, entry


def test_windows_are_in_order() -> None:
    releases = list(slurm.releases())
    assert releases == sorted(releases)
    for file, blocks in slurm.files().items():
        for block in ("", *blocks):
            for entry in slurm.keys(file, block):
                steps = [s for s in (entry.since, entry.defunct or entry.refused, entry.removed) if s is not None]
                assert steps == sorted(steps), entry
                assert set(steps) <= set(releases), entry


@pytest.mark.parametrize(
    ("newer", "older", "good"),
    [
        ("24.11", "23.11", True),
        ("24.11", "23.02", True),
        ("24.11", "22.05", False),
        ("23.11", "22.05", True),
        ("23.11", "21.08", False),
        ("22.05", "21.08", True),
        ("26.05", "24.11", True),
        ("26.05", "24.05", False),
        ("23.11", "24.11", False),
        ("24.11", "24.11", True),
        ("24.11", "19.05", None),
    ],
)
def test_releases_that_interoperate(newer: str, older: str, good: bool | None) -> None:
    assert slurm.accepts(SlurmRelease(newer), SlurmRelease(older)) is good
