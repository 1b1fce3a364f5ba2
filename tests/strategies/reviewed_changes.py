"""Outputs about changes of a small cluster, a few at a time: the differences, with their steps and what causes them."""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from clustergen import compile as compiler
from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff import show_text
from clustergen.diff.plan import plan
from clustergen.diff.show_json import as_json
from clustergen.diff.show_markdown import markdown
from clustergen.diff.slurm import slurm_changes
from clustergen.diff.snapshot import Snapshot, of_tree
from strategies import diffs
from strategies.findings import changed, words
from strategies.unusual import Outputs, run

_CLUSTER = """\
name: small
os: rocky-9
networks:
  management: {cidr: 10.0.0.0/16, domain: cluster.local}
  fabric: {type: infiniband, rate: NDR, cidr: 10.1.0.0/24}
node_types:
  gpu: {system: hgx-h100-8, memory: 1TiB}
nodes:
  - {name: head, type: service, address: 10.0.255.1, roles: [slurm-controller, slurm-accounting]}
  - {name: db, type: service, address: 10.0.255.2, roles: [login]}
  - {name: "oss[1-2]", type: service, address: "10.0.254.[1-2]", addresses: {fabric: "10.1.0.[21-22]"}}
  - {name: "c[1-4]", type: gpu, address: "10.0.0.[1-4]", addresses: {fabric: "10.1.0.[1-4]"}}
  - {name: c5, type: gpu, address: 10.0.0.5, addresses: {fabric: 10.1.0.5}, weight: 3}
gpu: {driver: "570", compute_mode: exclusive-process}
host: {sysctl: {vm.swappiness: 5}, firewall: nftables}
storage:
  home: {type: nfs, server: 10.0.253.1, path: /home, mount: /home}
  data: {type: beegfs, version: "8.2", mount: /data, mgmtd: 10.0.9.9}
  scratch: {type: local, device: LABEL=scratch, mount: /scratch}
  work:
    type: lustre
    version: "2.15"
    mgs: [10.0.254.1@tcp]
    fsname: big
    mount: /big
    targets:
      - {kind: MGT, server: oss1, device: /dev/mapper/mgt}
      - {kind: MDT, index: 0, server: oss1, device: /dev/mapper/mdt0}
      - {kind: OST, index: 0, server: oss2, device: /dev/mapper/ost0}
slurm:
  version: "24.11"
  build: schedmd
  scripts: {tmpdir: /scratch/jobs}
  partitions:
    batch: {nodes: all, default: true}
    debug: {nodes: "c[1-2]", max_time: 30}
  qos:
    normal: {priority: 1}
    high: {priority: 5, max_jobs_per_user: 4, max_tres_per_user: {gres/gpu: 16}}
  accounts:
    root: {qos: [normal, high], group_tres: {gres/gpu: 8}, fairshare: 5, coordinators: [carol]}
    research: {qos: [normal, high], coordinators: [alice], users: [dave]}
    vision: {parent: research, users: [alice, bob], group_tres_minutes: {gres/gpu: 600}, user_limits: {bob: {max_jobs: 2}}}
  users: {alice: {admin_level: operator}}
"""
_POLICY = _CLUSTER[_CLUSTER.index("  qos:\n    normal") :]
_CHANGES: dict[str, tuple[tuple[str, str], ...]] = {
    "the daemons' account and state": (
        ("  build: schedmd", "  build: schedmd\n  user: batch\n  uid: 64040\n  state_location: /srv/state"),
        ('driver: "570", compute_mode: exclusive-process', 'driver: "580"'),
        ("sysctl: {vm.swappiness: 5}, firewall: nftables", "firewall: true"),
    ),
    "names and addresses": (
        ("head, type: service, address: 10.0.255.1,", "ctl, type: service, address: 10.0.255.1,"),
        ("10.0.255.2", "10.0.255.3"),
        ("10.1.0.[1-4]", "10.1.0.[11-14]"),
        ("10.1.0.[21-22]", "10.1.0.[31-32]"),
    ),
    "management addresses": (("10.0.255.1", "10.0.255.7"), ("10.0.0.[1-4]", "10.0.1.[1-4]"), ("254.[1-2]", "252.[1-2]"), ("254.1@", "252.1@")),
    "another controller": (
        ("head, type: service, address: 10.0.255.1,", "ctl, type: service, address: 10.0.255.8,"),
        ("weight: 3", "weight: 4"),
    ),
    "a node and its fields": (
        ("  - {name: c5, type: gpu, address: 10.0.0.5, addresses: {fabric: 10.1.0.5}, weight: 3}\n", ""),
        ("c[1-4]\", type: gpu,", "c[1-4]\", type: gpu, gpus: {power_limit: 500W},"),
    ),
    "releases of file systems": (
        ('"8.2"', '"8.4"'),
        ('"2.15"', '"2.16"'),
        ("LABEL=scratch, mount: /scratch", "LABEL=scratch, mount: /scratch, filesystem: ext4"),
        ("{tmpdir: /scratch/jobs}", "{tmpdir: /local}"),
        ("roles: [slurm-controller, slurm-accounting]", "roles: [slurm-controller]"),
        ("roles: [login]", "roles: [login, slurm-accounting]"),
    ),
    "file systems move": (
        ("10.0.253.1", "10.0.253.2"),
        ("10.0.9.9", "10.0.9.8"),
        ("server: oss2", "server: oss1"),
        ("  scratch: {type: local, device: LABEL=scratch, mount: /scratch}\n", ""),
        ("  scripts: {tmpdir: /scratch/jobs}\n", ""),
        ('system: hgx-h100-8, memory: 1TiB', 'system: hgx-h100-8, memory: 512GiB'),
    ),
    "rights and limits": (
        ("max_jobs_per_user: 4, max_tres_per_user: {gres/gpu: 16}", "max_jobs_per_user: 2, max_wall: 1d, max_tres_per_node: {cpu: 4}"),
        ("    root: {qos: [normal, high], group_tres: {gres/gpu: 8}, fairshare: 5, coordinators: [carol]}\n", ""),
        ("qos: [normal, high], coordinators: [alice], users: [dave]", "qos: [normal]"),
        ("{gres/gpu: 600}, user_limits: {bob: {max_jobs: 2}}", "{gres/gpu: 900, mem: 1GiB}, user_limits: {bob: {max_jobs: 1, qos: [normal]}, alice: {max_jobs: 3}}"),
        ("admin_level: operator", "default_account: vision"),
        ("users: [alice, bob]", "users: [alice, bob, carol]"),
    ),
    "GPUs of the nodes": (
        ("system: hgx-h100-8, memory: 1TiB", "system: hgx-h100-8, memory: 1TiB, gpus: {shards: 4}"),
        ("c[1-4]\", type: gpu,", "c[1-4]\", type: gpu, gpus: {count: 4},"),
    ),
    "no accounts": ((_POLICY, "  accounts: {vision: {users: [bob]}}\n"),),
    "no limits": ((_POLICY, ""),),
}  # fmt: skip


def _side(name: str, text: str) -> Snapshot:
    path = Path(name)
    made = compiler.validate(path, raw=text.encode())
    tree, diagnostics = compiler.render(made, path)
    assert tree is not None, words([*made.diagnostics, *diagnostics])
    assert made.cluster is not None
    return of_tree(name, tree, made.cluster, made.source)


def of_changes() -> Outputs:
    """Each change and its reversal."""
    before = _side("manifest.yaml", _CLUSTER)
    for title, edits in _CHANGES.items():
        after = _side("manifest.yaml", changed(_CLUSTER, *edits))
        is_traced = edits[0][0] is not _POLICY
        yield from _shown(title, before, after, is_traced=is_traced)
        yield from _shown(f"no more {title}", after, before, is_traced=is_traced)


def _shown(title: str, old: Snapshot, new: Snapshot, *, is_traced: bool) -> Iterator[tuple[str, str]]:
    """`is_traced`: with the values that cause it, whose search takes a quarter of a second if they are many."""
    if not is_traced:
        old, new = replace(old, source=None), replace(new, source=None)
    difference = plan(old, new)
    formats = (show_text.text(difference), as_json([difference], [], []), markdown([difference], [], []))
    yield f"change of {title}", "\n".join(formats)


# Machine rooms and Slurm itself

_ROOM = """\
name: room
os: debian-13
networks:
  management: {cidr: 10.0.0.0/16, domain: cluster.example}
  fabric:
    type: infiniband
    rate: NDR
    switches:
      - {name: ib1, model: qm9700, nodes: "c[1-4]", rack: r1, uplinks: [{to: top1, links: 2}, {to: top2, links: 1}]}
      - {name: "top[1-3]", model: qm9700, rack: r1}
node_types:
  gpu:
    system: hgx-h100-8
    power: {psus: 6, max: 10kW}
    nics: [{device: mlx5_0, model: cx7, connector: osfp}]
nodes:
  - {name: head, type: service, address: 10.0.255.1, roles: [slurm-controller]}
  - {name: "c[1-4]", type: gpu, address: "10.0.0.[1-4]"}
racks:
  r1: {nodes: "c[1-2]", units: 48, circuits: [{volts: 400, amps: 32, count: 4}]}
  r2: {nodes: "c[3-4]", units: 48}
slurm: {version: "24.11", partitions: {batch: {nodes: all, default: true}}}
"""
_WITHOUT_SLURM = (
    ('slurm: {version: "24.11", partitions: {batch: {nodes: all, default: true}}}\n', ""),
    (", roles: [slurm-controller]", ""),
)
_ROOMS: dict[str, tuple[tuple[str, str], ...]] = {
    "uplinks": (("{to: top2", "{to: top3"),),
    "a node's override": (('c[1-4]", type: gpu,', 'c[1-4]", type: gpu, weight: 5, state: FUTURE,'),),
    "racks": (('r1: {nodes: "c[1-2]"', 'r1: {nodes: "c[1-3]"'), ('r2: {nodes: "c[3-4]"', "r2: {nodes: c4")),
    "leaves": (("name: ib1,", "name: ib2,"), ("units: 48, circuits", "units: 42, circuits")),
    "Slurm": _WITHOUT_SLURM,
    "many partitions": (
        ("partitions: {", "options: {ReconfigFlags: KeepPartInfo}, partitions: {"),
        (
            "partitions: {",
            "".join(["partitions: {", *(f"p{n}: {{nodes: all, max_time: {n + 1}0}}, " for n in range(7))]),
        ),
    ),
    "their times, which slurmctld keeps": (
        ("partitions: {", "options: {ReconfigFlags: KeepPartInfo}, partitions: {"),
        (
            "partitions: {",
            "".join(["partitions: {", *(f"p{n}: {{nodes: all, max_time: {9 - n}1}}, " for n in range(7))]),
        ),
    ),
}


def of_rooms() -> Outputs:
    """A chain of them: each is compared with the one before, and the last with the first."""
    first = previous = _side("manifest.yaml", _ROOM)
    for title, edits in _ROOMS.items():
        current = _side("manifest.yaml", changed(_ROOM, *edits))
        yield from _shown(title, previous, current, is_traced=False)
        previous = current
    yield from _shown("all of the room", previous, first, is_traced=False)


# Files of Slurm

_FILES = {
    "slurm.conf": """\
ClusterName=c
SlurmctldHost=head(10.0.0.1)
GresTypes=gpu,shard
FirstJobId=1
MaxJobId=5000
PriorityMaxAge=7-0
ReconfigFlags=KeepPartInfo
NodeName=DEFAULT CPUs=8 RealMemory=1000
NodeName=n[1-4] NodeAddr=10.0.0.[11-14] Gres=gpu:a100:2 Feature=a,b
NodeName=head
PartitionName=p Nodes=n[1-4] Default=YES
""",
    "gres.conf": """\
NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3
NodeName=n1 Name=pair MultipleFiles=/dev/a,/dev/b
Name=shard Count=8
""",
    "helpers.conf": "Feature=a Helper=/bin/x\nFeature=a Helper=/bin/y\n",
    "plugstack.conf": "required one.so a\noptional two.so\n",
    "topology.yaml": "- {topology: t, tree: {switches: [{switch: s1, nodes: 'n[1-4]'}]}}\n",
    "slurmdbd.conf": "DbdHost=head\nPurgeJobAfter=12months\nStorageType=accounting_storage/mysql\n",
}
_SPELLINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "slurm.conf": (
        ("MaxJobId=5000", "MaxJobId=50"),
        ("7-0", "a week"),
        ("NodeName=head", "NodeName=head State=FUTURE"),
        ("Default=YES", "Default=YES MaxTime=9 PriorityTier=4"),
        ("ClusterName=c\n", "ClusterName=c\nCacheGroups=1\nLaunchType=launch/slurm\n"),
        ("CPUs=8", "CPUs=4 CoresPerSocket=4 ThreadsPerCore=2"),
        ("CPUs=8", "Boards=2 SocketsPerBoard=2"),
        ("Nodes=n[1-4]", "Nodes=n[1-4] TRESBillingWeights=CPU=x,Mem"),
    ),
    "gres.conf": (
        ("Cores=0-3", "Cores=0-x"),
        ("Cores=0-3", "Cores=0-99999999"),
        ("/dev/a,/dev/b", "/dev/a,/dev/c"),
        ("Count=8", "Count=4"),
        ("Name=shard Count=8\n", "Name=shard Count=8\nName=disk Count=2\n"),
    ),
    "helpers.conf": (("/bin/y", "/bin/z"), ("Feature=a Helper=/bin/x\n", "")),
    "plugstack.conf": (("required one.so a\noptional two.so", "optional two.so\nrequired one.so a"), ("one.so a", "one.so b")),
    "topology.yaml": (("s1", "s2"), ("[{switch", "{[{switch"), ("n[1-4]", "n[1-3]")),
    "slurmdbd.conf": (("12months", "12h"), ("12months", "a year"), ("DbdHost=head", "DbdHost=db")),
}  # fmt: skip


def of_slurm_files() -> Outputs:
    """The effects of a changed line, and of its reversal."""
    for name, edits in _SPELLINGS.items():
        for old, new in edits:
            sides = [{f"/etc/slurm/{each}": text for each, text in _FILES.items()} for _ in range(2)]
            sides[1][f"/etc/slurm/{name}"] = changed(_FILES[name], (old, new))
            for title, (before, after) in {f"{old} → {new}": sides, f"{new} → {old}": reversed(sides)}.items():
                lines = map(str, slurm_changes(before, after, SlurmRelease("24.11")))
                yield f"{name}: {title}".replace("\n", "; "), "\n".join(lines)


# Revisions

_REVISIONS = (
    *("diff HEAD:nothing.yaml .", "diff HEAD:../.. .", "diff HEAD:/manifest.yaml .", "diff HEAD:inner/x ."),
    *("diff nobranch .", "diff main many/three", "diff man .", "diff mian:manifest.yaml .", "diff '' .", "diff a/b c"),
    *(
        "diff HEAD~4 .",
        "diff HEAD:many many",
        "diff many manifest.yaml",
        "diff HEAD:many/one many/two --format markdown",
    ),
    *("diff empty manifest.yaml", "diff deep manifest.yaml", "diff HEAD:link.yaml manifest.yaml", "diff HEAD: ."),
    *(
        "diff HEAD:broken.yaml manifest.yaml",
        "diff broken.yaml HEAD:manifest.yaml",
        "diff HEAD:out .",
        "diff HEAD:many/four .",
    ),
    *("facility estimate --run big", "facility estimate --set gpu=8", "facility estimate --set gpus"),
    *("facility estimate --parameters 7B", "facility estimate --parameters 7B --tokens many"),
    "facility estimate --parameters 7B --tokens 1T --set gpus=8,16",
)


def of_revisions() -> Outputs:
    """`diff` of what commits have, and of names that stand for nothing."""
    fixed = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-01-01T00:00:00Z")
    with tempfile.TemporaryDirectory() as directory, chdir(directory), patch.dict(os.environ, fixed):
        os.environ["GIT_CEILING_DIRECTORIES"] = str(Path(directory).parent)
        diffs.write(Path())
        yield "without a repository", run("diff", "HEAD:manifest.yaml", ".")[1]
        diffs.git(Path(), "init", "-q", "-b", "main")
        yield "without a commit", run("diff", "HEAD:manifest.yaml", ".")[1]
        for place in ("many/one", "many/two", "deep/a/b"):
            diffs.write(Path(place))
        for place in ("empty", "many/three"):
            Path(place).mkdir()
        Path("empty/README.md").write_text("mine\n", encoding="utf-8")
        Path("broken.yaml").write_text("nodes: [\n", encoding="utf-8")
        Path("link.yaml").symlink_to("many/one/manifest.yaml")
        Path("out").symlink_to("../..")
        diffs.git(Path(), "add", ".")
        diffs.git(Path(), "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},inner")
        diffs.git(Path(), "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},many/four")
        diffs.git(Path(), "commit", "-qm", "first")
        diffs.write(Path("many/two"), diffs.LONGER)
        for line in _REVISIONS:
            yield line, run(*shlex.split(line))[1]


CASES: dict[str, Callable[[], Outputs]] = {
    "changes of a cluster": of_changes,
    "changes of rooms": of_rooms,
    "changes of Slurm's files": of_slurm_files,
    "revisions": of_revisions,
}
