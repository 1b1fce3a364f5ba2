"""Texts that Slurm reads alike are no change, for the files of any cluster."""

from __future__ import annotations

import random
import re

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.slurm import slurm_changes
from clustergen.hostlist import expand
from strategies.inventories import MANIFESTS, texts

_CONF = re.compile(r"overlays/slurm_\w+/etc/slurm/([^/]+\.conf)")
_HOSTS = re.compile(r"(NodeName|NodeAddr|Nodes)=(\S+)")


def _files(cluster: str) -> dict[str, str]:
    return {
        f"/etc/slurm/{match[1]}": text
        for path, text in sorted(texts(cluster).items())
        if (match := _CONF.fullmatch(path))
    }


def _release(cluster: str) -> SlurmRelease:
    facts = texts(cluster)["inventory/group_vars/all.yml"]
    match = re.search(r'slurm_release: "(\S+)"', facts)
    assert match is not None
    return SlurmRelease(match[1])


def _respelt(text: str, dice: random.Random) -> str:
    """The same settings in other words: case, blanks, comments, order of lines and of nodes in them, no folding."""
    plain: list[str] = []
    opened: list[str] = []
    for raw in text.splitlines():
        line = raw.partition("#")[0].strip()
        if not line:
            continue
        key, _, rest = line.partition("=")
        line = f"{dice.choice([key.upper(), key.lower(), key])}={rest}"
        if " " not in line and dice.random() < 0.5:
            line = line.replace("=", " \t= ", 1)
        (opened if re.match(r"(NodeName|PartitionName|SwitchName|BlockName|Name)=", raw) else plain).append(line)
    hosts = [line for line in plain if line.lower().startswith("slurmctldhost")]
    plain = [line for line in plain if line not in hosts]
    dice.shuffle(plain)
    out = [*plain, *hosts]
    for line in opened:
        unfolded = _HOSTS.sub(lambda match: f"{match[1]}={_unfolded(match[2])}", line)
        first, *others = unfolded.split(" ")
        dice.shuffle(others)
        out.append(" \\\n ".join([first, *others]) if dice.random() < 0.5 else " ".join([first, *others]))
    return "".join(f"{line}  # {dice.random()}\n\n" for line in out)


def _unfolded(hosts: str) -> str:
    return hosts if hosts.lower() == "all" or "[" not in hosts else ",".join(expand(hosts))


@pytest.mark.parametrize("cluster", MANIFESTS)
@pytest.mark.parametrize("seed", range(3))
def test_spelling_is_no_change(cluster: str, seed: int) -> None:
    files, release = _files(cluster), _release(cluster)
    dice = random.Random(seed)
    other = {
        path: _respelt(text, dice)
        if path.endswith(("slurm.conf", "gres.conf", "topology.conf", "cgroup.conf"))
        else text
        for path, text in files.items()
    }
    assert other != files
    assert slurm_changes(files, other, release) == ()


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("MessageTimeout=100", "MessageTimeout=0144", False),  # octal
        ("MessageTimeout=100", "MessageTimeout=0x64", False),
        ("MessageTimeout=144", "MessageTimeout=0144", True),
        ("PartitionName=p Nodes=n MaxTime=2", "PartitionName=p Nodes=n MaxTime=1:30", False),  # rounded up to minutes
        ("PartitionName=p Nodes=n MaxTime=2", "PartitionName=p Nodes=n MaxTime=2:30", True),
        ("PartitionName=p Nodes=n MaxTime=INFINITE", "PartitionName=p Nodes=n MaxTime=unlimited", False),
    ],
)
def test_numbers_and_times_are_read_as_slurm_reads_them(before: str, after: str, changed: bool) -> None:
    head = "ClusterName=c\nSlurmctldHost=h\nNodeName=n\n"
    files = [{"/etc/slurm/slurm.conf": f"{head}{line}\n"} for line in (before, after)]
    assert bool(slurm_changes(files[0], files[1], SlurmRelease("24.11"))) == changed


@pytest.mark.slow
@pytest.mark.parametrize("cluster", MANIFESTS)
def test_every_line_counts(cluster: str) -> None:
    """Removing a line is a change, unless its value is Slurm's default."""
    files, release = _files(cluster), _release(cluster)
    lines = files["/etc/slurm/slurm.conf"].splitlines(keepends=True)
    silent = []
    for index, line in enumerate(lines):
        key, equals, _ = line.partition("=")
        if equals and not line.startswith("#"):
            less = {**files, "/etc/slurm/slurm.conf": "".join(lines[:index] + lines[index + 1 :])}
            if not slurm_changes(files, less, release):
                silent.append(key)
    defaults = {
        *("SlurmctldPort", "SlurmdPort", "AuthType", "CredType", "TreeWidth", "SlurmctldTimeout", "SlurmdTimeout"),
        *("JobRequeue", "PriorityFavorSmall", "PriorityDecayHalfLife", "PriorityCalcPeriod", "PriorityType"),
        *("PriorityUsageResetPeriod", "PriorityWeightAssoc", "PriorityMaxAge", "PreemptType", "PreemptMode"),
        *("SelectType", "ProctrackType", "SchedulerType", "AccountingStoragePort", "JobAcctGatherFrequency"),
        *("SlurmctldDebug", "SlurmdDebug", "TopologyPlugin", "PlugStackConfig", "SwitchType", "MaxArraySize"),
        *("PriorityWeightAge", "PriorityWeightQOS", "MpiDefault"),
    }
    assert set(silent) <= defaults
