"""Files that the diff calls equal are equal for real slurmctld: `scontrol show` prints the same for both."""

from __future__ import annotations

import re

import pytest

from clustergen.catalogue import slurm, slurm_meanings
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.slurm import slurm_changes
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall

pytestmark = pytest.mark.real

_BASE = """\
ClusterName=c
SlurmctldHost=head(10.0.0.1)
SlurmUser=root
StateSaveLocation=/var/lib/slurm/state
SlurmdSpoolDir=/var/lib/slurm/spool
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
TaskPlugin=task/affinity
MpiDefault=none
PriorityType=priority/multifactor
PriorityMaxAge=3-0
PriorityDecayHalfLife=2-12
SchedulerParameters=bf_continue,bf_window=1440
SlurmctldDebug=verbose
MaxJobCount=20000
NodeName=DEFAULT CPUs=8 RealMemory=4000 State=UNKNOWN
NodeName=n[1-4] NodeAddr=10.0.0.[11-14] Feature=a,b Gres=gpu:a100:2
NodeName=m1 NodeAddr=10.0.0.9 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 CPUs=16 Weight=3
NodeSet=some Nodes=n[1-2]
PartitionName=DEFAULT MaxTime=1-0 DefaultTime=30
PartitionName=p Nodes=ALL Default=YES
PartitionName=q Nodes=some PriorityTier=0x10 AllowGroups=root,adm
"""
_RESPELT = """\
CLUSTERNAME = c
slurmctldhost=head(10.0.0.1)
MaxJobCount=0x4E20
SlurmctldDebug=4
SCHEDULERPARAMETERS="bf_window=1440,bf_continue" # the order does not matter
PriorityDecayHalfLife=60:00:00
PriorityMaxAge=72:00:00
PriorityType=priority/multifactor
MpiDefault=none
TaskPlugin=task/affinity
GresTypes=gpu
SelectTypeParameters=cr_core_memory
SelectType=select/cons_tres
PROCTRACKTYPE=proctrack/linuxproc
SlurmdSpoolDir=/var/lib/slurm/spool
StateSaveLocation=/var/lib/slurm/state
SlurmUser=root
Include nodes.conf
"""
_NODES = """\
NodeName=n1,n2,n[3-4] NodeAddr=10.0.0.[11-12],10.0.0.13,10.0.0.14 \\
  Gres=gpu:a100:2 Features=a,b Procs=8 RealMemory=4000
NodeName=m1 NodeAddr=10.0.0.9 CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=4000 \\
  Weight=3
NodeSet=some Nodes=n2,n1
PartitionName=p Nodes=n[4-1],m1 Default=true MaxTime=24:00:00 DefaultTime=00:30:00
PartitionName=q Nodes=n2,n1 PriorityTier=16 AllowGroups=root,adm MaxTime=1440 DefaultTime=30:00
""".replace("n[4-1]", "n4,n[1-3]")

_SCRIPT = """
export SLURM_CONF=/etc/slurm/slurm.conf
mkdir -p /run/munge /etc/munge /var/log/munge /var/lib/munge /var/lib/slurm
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge; chmod 400 /etc/munge/munge.key; chmod 755 /run/munge
chown -R munge /run/munge /etc/munge /var/log/munge /var/lib/munge
setpriv --reuid "$(id -u munge)" --clear-groups munged
cp /run/clustergen/nodes.conf /etc/slurm/nodes.conf
for side in old new; do
  rm -rf /var/lib/slurm/state; mkdir -p /var/lib/slurm/state
  cp /run/clustergen/$side.conf /etc/slurm/slurm.conf
  slurmctld -D >/run/clustergen/$side.log 2>&1 &
  for _ in {1..3000}; do grep -qE 'as primary controller|fatal' /run/clustergen/$side.log && break; sleep 0.02; done
  if grep -E 'error|fatal' /run/clustergen/$side.log | grep -B9 fatal; then exit 9; fi
  for _ in {1..600}; do scontrol ping 2>/dev/null | grep -q 'is UP' && break; sleep 0.1; done
  for what in config node partition; do timeout 20 scontrol -o show $what >/run/clustergen/$side.$what 2>&1; done
  kill -9 $!; wait $! 2>/dev/null || true
done
"""
_OF_THE_MOMENT = re.compile(
    r"^(Configuration data as of|BOOT_TIME|NEXT_JOB_ID|Slurmctld\(primary\)|MULTIFACTOR|.*HASH_VAL).*\n|"
    r"^SchedulerParameters .*\n|"  # printed as it is written
    r" (NodeSets|BootTime|SlurmdStartTime|LastBusyTime|ResumeAfterTime)=\S+",
    re.MULTILINE,
)


def _shown(install: SlurmInstall, old: str, new: str) -> list[str]:
    """The output of scontrol for both, without the time."""
    box = sandbox.Sandbox(
        install.path, empty=("/etc/slurm",), hosts="10.0.0.1 head\n", hostname="head", addresses=("10.0.0.1",)
    )
    notes = {"script": _SCRIPT, "old.conf": old, "new.conf": new, "nodes.conf": _NODES}
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes=notes)
    assert done.code == 0, done.stdout + done.stderr
    sides = []
    for side in ("old", "new"):
        assert "fatal" not in done.files[f"{side}.log"], done.files[f"{side}.log"]
        text = "".join(done.files[f"{side}.{what}"] for what in ("config", "node", "partition"))
        assert "NodeName=n1 " in text
        assert "PartitionName=q " in text
        sides.append(_OF_THE_MOMENT.sub("", text))
    return sides


def _release(install: SlurmInstall) -> SlurmRelease:
    return SlurmRelease(install.version)


def _compare(install: SlurmInstall, old: str, new: str) -> list[tuple[str, str]]:
    before, after = ({"/etc/slurm/slurm.conf": text, "/etc/slurm/nodes.conf": _NODES} for text in (old, new))
    return [(change.kind, change.key) for change in slurm_changes(before, after, _release(install))]


def test_other_words(slurm: SlurmInstall) -> None:
    assert _compare(slurm, _BASE, _RESPELT) == []
    old, new = _shown(slurm, _BASE, _RESPELT)
    assert old.splitlines() == new.splitlines()


# scontrol prints the first as the parser refuses it; the others only where a file or an accounting daemon is there.
_LEFT_OUT = ("AccountingStorageEnforce", "AccountingStoragePort", "PlugStackConfig")


def _is_known(release: SlurmRelease, key: str, block: str) -> bool:
    text = slurm.key("slurm.conf", key, block)
    return text is not None and text.state(release) == "known" and text.type != "array"


def _defaults(release: SlurmRelease, block: str, line: str) -> list[str]:
    """Every default of the catalogue, in full, but for keys that the line has."""
    keys = {pair.partition("=")[0].lower() for pair in line.split()}
    return [
        f"{key.key}={text}"
        for key in slurm.keys("slurm.conf", block)
        if key.key.lower() not in keys
        and key.key not in _LEFT_OUT
        and _is_known(release, key.key, block)
        and slurm_meanings.spelled("slurm.conf", block, key.key) == (key.key,)
        and (text := slurm.default("slurm.conf", block, key.key, release)) is not None
    ]


def test_defaults_of_nodes_and_partitions(slurm: SlurmInstall) -> None:
    release = _release(slurm)
    lines = []
    for line in _BASE.splitlines():
        block = line.partition("=")[0]
        stated = "=DEFAULT" in line or block not in ("NodeName", "PartitionName")
        above = " ".join(other for other in _BASE.splitlines() if other.startswith(f"{block}=DEFAULT"))
        lines.append(line if stated else " ".join([line, *_defaults(release, block, f"{line} {above}")]))
    full = "\n".join(lines) + "\n"
    assert full.count("OverSubscribe") == 2
    assert _compare(slurm, _BASE, full) == []
    old, new = _shown(slurm, _BASE, full)
    assert old.splitlines() == new.splitlines()


def test_defaults_of_slurm_conf(slurm: SlurmInstall) -> None:
    release = _release(slurm)
    settings = " ".join(line for line in _BASE.splitlines() if " " not in line)
    full = _BASE.replace("NodeName=DEFAULT", "\n".join([*_defaults(release, "", settings), "NodeName=DEFAULT"]), 1)
    assert "SlurmdPort=6818" in full
    assert _compare(slurm, _BASE, full) == []
    old, new = _shown(slurm, _BASE, full)
    assert old.splitlines() == new.splitlines()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PriorityMaxAge=3-0", "PriorityMaxAge=3"),
        ("Feature=a,b", "Feature=a"),
        ("MaxTime=1-0", "MaxTime=1-1"),
        ("Nodes=some", "Nodes=n[1-3]"),
        ("CPUs=16 Weight", "CPUs=8 Weight"),
    ],
)
def test_files_that_differ_here_differ_for_scontrol(current_slurm: SlurmInstall, old: str, new: str) -> None:
    other = _BASE.replace(old, new)
    assert _compare(current_slurm, _BASE, other) != []
    before, after = _shown(current_slurm, _BASE, other)
    assert before != after
