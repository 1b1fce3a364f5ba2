"""Single mistakes in a whole configuration, as people make them; the same ones for the same seed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from clustergen.catalogue import slurm, slurm_values
from strategies.lint_fragments import FRAGMENTS

WHOLE = {
    "slurm.conf": """# GPUs and CPUs
ClusterName=hydra
SlurmctldHost=ctl
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPort=6817
SlurmctldTimeout=120
MinJobAge=300
MaxJobCount=20000
ReturnToService=1
ProctrackType=proctrack/cgroup
TaskPlugin=task/affinity,task/cgroup
SchedulerType=sched/backfill
SchedulerParameters=bf_continue,bf_window=2880,bf_max_job_test=1000
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
PriorityType=priority/multifactor
PriorityDecayHalfLife=7-0
PriorityWeightPartition=1000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
DebugFlags=Backfill,Gres
SlurmctldDebug=info
PropagateResourceLimitsExcept=MEMLOCK
SrunPortRange=60001-63000
Licenses=matlab:4,ansys:10
GresTypes=gpu
TopologyPlugin=topology/tree
DefMemPerCPU=2000
NodeName=DEFAULT State=UNKNOWN ThreadsPerCore=2
NodeName=gpu[01-04] NodeAddr=10.0.0.[1-4] Sockets=2 CoresPerSocket=8 RealMemory=256000 Gres=gpu:a100:4 Feature=a100,ib
NodeName=cpu[01-08] NodeAddr=10.0.1.[1-8] Sockets=2 CoresPerSocket=16 RealMemory=128000 Feature=ib Weight=1
NodeSet=ibset Feature=ib
DownNodes=cpu07 State=DOWN Reason="broken fan"
PartitionName=DEFAULT MaxTime=2-00:00:00 DefaultTime=1:00:00 State=UP
PartitionName=gpu Nodes=gpu[01-04] PriorityTier=10 DefCpuPerGPU=4
PartitionName=cpu Nodes=cpu[01-08] Default=YES PriorityTier=5 OverSubscribe=NO
PartitionName=low Nodes=ibset PriorityTier=1 MaxTime=UNLIMITED MaxNodes=4
""",
    "gres.conf": """NodeName=gpu[01-04] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-7
NodeName=gpu[01-04] Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=8-15
""",
    "topology.conf": """SwitchName=s1 Nodes=gpu[01-04]
SwitchName=s2 Nodes=cpu[01-08]
SwitchName=top Switches=s[1-2]
""",
    "cgroup.conf": """ConstrainCores=yes
ConstrainDevices=yes
ConstrainRAMSpace=yes
MaxRAMPercent=98
""",
}
GPU_NODE = "gpu01"

_PAIR = re.compile(r"([A-Za-z0-9]+)=(\"[^\"]*\"|\S+)")
_LISTS = (
    "[1-99]",
    "[4-1]",
    "[01-04",
    "[a-b]",
    "[1,,2]",
    "[]",
    "[01-04,03]",
    "[001-004]",
    "[01-05]",
    "[01-03]",
    "[0-3]",
)
_NUMBERS = ("", "-1", "1.5", "abc", "10x", "99999999999", "0", "0x10", "INFINITE", "yes", "5m")
_TEXTS = ("", "foo", "a b", "24h", "foo,bar")


class Mutant(NamedTuple):
    name: str
    files: dict[str, str]


def mutants(seed: int) -> Iterator[Mutant]:
    """Without an end: one line has a mistake, or one key that the whole does not have is there with some value."""
    rng = Random(seed)
    while True:
        yield _other_key(rng) if rng.random() < 0.4 else _mistaken_line(rng)


def one_line_variants(seed: int) -> Iterator[Mutant]:
    """Without an end: those whose mistake is in slurm.conf."""
    return (mutant for mutant in mutants(seed) if mutant.files["slurm.conf"] != WHOLE["slurm.conf"])


def related_mutants(seed: int) -> Iterator[Mutant]:
    """Without an end: a fragment with files beside slurm.conf, and a mistake in one of them."""
    rng = Random(seed)
    bases = [fragment for fragment in FRAGMENTS if fragment.files]
    while True:
        base = rng.choice(bases)
        file, text = rng.choice([*base.files.items()])
        lines = text.splitlines() or [""]
        number = rng.randrange(len(lines))
        lines[number] = _mistake(lines[number], rng) if _PAIR.search(lines[number]) else _mistyped(lines[number], rng)
        new = "\n".join(lines) + "\n"
        if new != text:
            yield Mutant(
                f"{base.name} | {file}: {lines[number]}", {"slurm.conf": base.slurm_conf, **base.files, file: new}
            )


def _other_key(rng: Random) -> Mutant:
    """A key of slurm.conf's own lines with a value of any kind, or a word or plugin of its own, as it is or mistyped."""
    key = rng.choice([candidate for candidate in slurm.keys("slurm.conf") if candidate.type != "array"])
    values = _NUMBERS if key.type.startswith(("uint", "long", "float")) else _TEXTS
    words = [slurm_token.token for slurm_token in slurm_values.tokens(key.key)]
    words += [slurm_token.value for slurm_token in slurm_values.plugins(key.key)]
    value = rng.choice([*words, *(_mistyped(word, rng) for word in words)] if words else list(values))
    line = f'{key.key}="{value}"' if " " in value or not value else f"{key.key}={value}"
    kept = [line for line in WHOLE["slurm.conf"].splitlines() if not line.lower().startswith(f"{key.key.lower()}=")]
    return Mutant(line, {**WHOLE, "slurm.conf": "\n".join([kept[0], line, *kept[1:]]) + "\n"})


def _mistaken_line(rng: Random) -> Mutant:
    file = rng.choices(list(WHOLE), [len(text) for text in WHOLE.values()])[0]
    lines = WHOLE[file].splitlines()
    number = rng.choice([number for number, line in enumerate(lines) if not line.startswith("#")])
    new = _mistake(lines[number], rng)
    return Mutant(f"{file}: {new}", {**WHOLE, file: "\n".join([*lines[:number], new, *lines[number + 1 :]]) + "\n"})


def _mistake(line: str, rng: Random) -> str:
    key, value = rng.choice(_PAIR.findall(line))
    pair = f"{key}={value}"
    choices = [
        line.replace(f"{key}=", f"{_mistyped(key, rng)}=", 1),
        line.replace(f"={value}", f"={_mistyped(value, rng)}", 1),
        line.replace(f"={value}", f"={value.swapcase()}", 1),
        line.replace(pair, f"{key} {value}", 1),
        line.replace(pair, f"{key}=={value}", 1),
        line.replace(pair, f'{pair}"', 1),
        line.replace(pair, f"{key}={value.strip(chr(34))} and more", 1),
        line.replace(f" {pair}", "", 1),
        re.sub(r"\[[^]]*\]", lambda _: rng.choice(_LISTS), line, count=1),
        re.sub(r"=([0-9]+)(?=\s|$)", lambda match: f"={match[1]}{rng.choice('MGsmhd')}", line, count=1),
        re.sub(r"=([0-9]+)(?=\s|$)", lambda match: f"={rng.choice(_NUMBERS[1:])}", line, count=1),
        f"{line}\n{line}",
        f"; {line}",
        f"{line} {key}={_mistyped(value, rng)}",
        "",
    ]
    return rng.choice([new for new in choices if new != line])


def _mistyped(word: str, rng: Random) -> str:
    """A character left out, doubled, wrong, or two in the wrong order."""
    at = rng.randrange(max(1, len(word) - 1))
    return rng.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at : at + 1] * 2 + word[at + 1 :],
            word[:at] + rng.choice("abcxyz019-_,.") + word[at + 1 :],
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
        )
    )
