"""Lint of small configurations: code, severity and place of every finding above `info`."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diagnostics import Severity
from clustergen.importer.originals import read_originals
from clustergen.lint.run import lint
from strategies.lint_reports import CGROUP, GPU_NODES, GPUS, HEAD, NODES, PARTITIONS, report, summaries


def test_a_whole_configuration_has_no_findings(tmp_path: Path) -> None:
    result = report(
        tmp_path,
        slurm_conf=HEAD + GPUS + "TopologyPlugin=topology/tree\n" + GPU_NODES + PARTITIONS,
        gres_conf="NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n",
        cgroup_conf=CGROUP,
        topology_conf="SwitchName=s1 Nodes=n[1-4]\n",
        plugstack_conf="# nothing\ninclude plugstack.conf.d/*\n",
    )
    assert summaries(result, notes=True) == []
    assert result.read == ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf", "plugstack.conf")


CASES = {
    "an unknown key": (HEAD + "MaxConcurrentJobs=64\n", "error slurm.conf:5:1 slurm-key-unknown"),
    "a key of another file": (HEAD + "ConstrainCores=yes\n", "error slurm.conf:5:1 slurm-key-unknown"),
    "a key of another line": (HEAD + "RealMemory=5\n", "error slurm.conf:5:1 slurm-key-unknown"),
    "a removed key": (HEAD + "CacheGroups=0\n", "error slurm.conf:5:1 slurm-key-removed"),
    "a defunct key": (HEAD + "PowerPlugin=power/none\n", "warning slurm.conf:5:1 slurm-key-defunct"),
    "a newer key": (HEAD + "MetricsType=metrics/openmetrics\n", "error slurm.conf:5:1 slurm-key-too-new"),
    "a unit": (HEAD + "DefMemPerCPU=4G\n", "error slurm.conf:5:14 slurm-value-wrong"),
    "an unknown word": (HEAD + "SchedulerParameters=defer,bf_windw=3\n", "warning slurm.conf:5:27 slurm-word-unknown"),
    "a wrong word": (HEAD + "PrologFlags=Alloc,Contian\n", "error slurm.conf:5:19 slurm-word-unknown"),
    "a blank behind a comma": (HEAD + 'PrologFlags="Alloc, Contain"\n', "error slurm.conf:5:21 slurm-value-wrong"),
    "an unknown plugin": (HEAD + "SchedulerType=sched/backfil\n", "error slurm.conf:5:15 slurm-plugin-unknown"),
    "minutes": (
        HEAD + "PriorityType=priority/multifactor\nPriorityCalcPeriod=3600\n",
        "warning slurm.conf:6:20 priority-period",
    ),
    "a half-life in minutes": (
        HEAD + "PriorityType=priority/multifactor\nPriorityDecayHalfLife=14\n",
        "warning slurm.conf:6:23 priority-period",
    ),
    "two numbers with a colon": (
        HEAD + "PreemptExemptTime=1:30\n",
        "warning slurm.conf:5:19 time-minutes-seconds",
    ),
    "a short SlurmdTimeout": (HEAD + "SlurmdTimeout=30\n", "warning slurm.conf:5:15 slurm-value-harmful"),
    "arrays that no job table holds": (
        HEAD + "MaxArraySize=1000000\nMaxJobCount=10000\n",
        "warning slurm.conf:5:14 slurm-value-harmful",
    ),
    "a password that all users read": (
        HEAD + "AccountingStoragePass=hunter22\n",
        "warning slurm.conf:5:1 slurm-secret-readable",
    ),
    "a value under an old name": (
        HEAD + "CryptoType=crypto/openssl\n",
        "error slurm.conf:5:12 slurm-plugin-unknown",
    ),
    "incompatible preemption": (HEAD + "PreemptMode=REQUEUE\n", "error slurm.conf:5:13 slurm-value-wrong"),
    "state under /tmp": (
        HEAD.replace("/var/spool/slurmctld", "/tmp/state"),
        "warning slurm.conf:4:19 slurm-directory-unsafe",
    ),
    "ports": (HEAD + "SlurmctldPort=6810-6820\n", "warning slurm.conf:5:15 port-twice"),
    "the port of slurmd among those of srun": (
        HEAD + "SrunPortRange=6818-6900\n",
        "warning slurm.conf:5:15 port-twice",
    ),
    "the port of slurmctld among those of srun": (
        HEAD + "SrunPortRange=6500-6817\n",
        "warning slurm.conf:5:15 port-twice",
    ),
    "a quote": (HEAD + 'MailDomain=a"b\n', "warning slurm.conf:5:12 conf-misread"),
    "a doubled =": (HEAD + "MailDomain==a\n", "warning slurm.conf:5:12 conf-misread"),
    "the case of a plugin": (HEAD + "SchedulerType=Sched/backfill\n", "error slurm.conf:5:15 slurm-plugin-unknown"),
    "an empty number": (HEAD + 'KillWait=""\n', "warning slurm.conf:5:11 slurm-value-wrong"),
    "a privileged port": (HEAD + "SlurmctldPort=817\n", "error slurm.conf:5:15 slurm-value-wrong"),
    "101 in octal": (HEAD + "MessageTimeout=0145\n", "warning slurm.conf:5:16 slurm-value-wrong"),
    "101 in hexadecimal": (HEAD + "MessageTimeout=0x65\n", "warning slurm.conf:5:16 slurm-value-wrong"),
    "a digit that octal lacks": (HEAD + "MessageTimeout=089\n", "error slurm.conf:5:16 slurm-value-wrong"),
    "a word alone for munge": (HEAD + "AuthInfo=cred_expire\n", "error slurm.conf:5:10 slurm-value-wrong"),
    "a relative path": (HEAD + "BcastExclude=lib\n", "error slurm.conf:5:14 slurm-value-wrong"),
    "a list that another one hides": (
        HEAD + "PropagateResourceLimitsExcept=MEMLOCK\nPropagateResourceLimits=NOFILE\n",
        "warning slurm.conf:6:1 slurm-key-ignored",
    ),
}


@pytest.mark.parametrize(
    "line",
    [
        "AuthInfo=/run/munge/munge.socket.2",
        "JobSubmitPlugins=job_submit/require_timelimit",
        "CredType=cred/slurm",
        "KillWait=+30",
        "SwitchType=switch/None",
    ],
)
def test_lines_that_slurm_accepts_have_no_finding(line: str, tmp_path: Path) -> None:
    assert summaries(report(tmp_path, slurm_conf=f"{HEAD}{line}\n{NODES}{PARTITIONS}")) == []


@pytest.mark.parametrize("seconds", ["100", "0144", "0x64"])
def test_the_longest_timeout_in_three_notations(seconds: str, tmp_path: Path) -> None:
    assert summaries(report(tmp_path, slurm_conf=f"{HEAD}MessageTimeout={seconds}\n{NODES}{PARTITIONS}")) == []


def test_a_power_action(tmp_path: Path) -> None:
    for line, expected in (
        ("PowerAction=off Program=/bin/off Location=slurmctld", []),
        ("PowerAction=off Program=/bin/off", ["error slurm.conf:5:13 slurm-value-wrong"]),
    ):
        assert summaries(report(tmp_path, "26.05", slurm_conf=f"{HEAD}{line}\n{NODES}{PARTITIONS}")) == expected


@pytest.mark.parametrize("name", CASES)
def test_one_line(name: str, tmp_path: Path) -> None:
    text, expected = CASES[name]
    assert summaries(report(tmp_path, slurm_conf=text + NODES + PARTITIONS)) == [expected]


NODE_CASES = {
    "addresses with a comma too many": (
        NODES.replace("[1-4] ", "[1-4] NodeAddr=10.0.0.[1-3], ", 1),
        "error slurm.conf:5:26 address-count",
    ),
    "CPUs": ("NodeName=n1 CPUs=5 Sockets=2 CoresPerSocket=8\n", "warning slurm.conf:5:18 node-cpus-mismatch"),
    "a node twice": ("NodeName=n[1-2] CPUs=2\nNodeName=n[2-3] CPUs=2\n", "error slurm.conf:6:10 host-duplicate"),
    "nodes of a cloud that nothing starts": (
        "ResumeProgram=/on\nNodeName=n[1-2] CPUs=2 State=CLOUD\n",
        "warning slurm.conf cloud-without-power-saving",
    ),
    "addresses": ("NodeName=n[1-3] NodeAddr=10.0.0.[1-2] CPUs=2\n", "error slurm.conf:5:26 address-count"),
    "one address twice": (
        "NodeName=n1 NodeAddr=10.0.0.1 CPUs=2\nNodeName=n2 NodeAddr=10.0.0.1 CPUs=2\n",
        "warning slurm.conf:6:22 address-duplicate",
    ),
    "a bracket": ("NodeName=n[1-3 CPUs=2\n", "error slurm.conf:5:11 hostlist-syntax"),
    "reserved memory": (
        "NodeName=n1 CPUs=2 RealMemory=100 MemSpecLimit=200\n",
        "warning slurm.conf:5:48 nothing-left-for-jobs",
    ),
    "the address of DEFAULT": ("NodeName=DEFAULT NodeAddr=a\nNodeName=n1\n", "error slurm.conf:5:18 slurm-value-wrong"),
    "CPUs of a DEFAULT line": (
        "NodeName=DEFAULT CPUs=5\nNodeName=n1 Sockets=2 CoresPerSocket=8\n",
        "warning slurm.conf:5:23 node-cpus-mismatch",
    ),
}


@pytest.mark.parametrize("name", NODE_CASES)
def test_node_lines(name: str, tmp_path: Path) -> None:
    text, expected = NODE_CASES[name]
    assert summaries(report(tmp_path, slurm_conf=HEAD + text + PARTITIONS)) == [expected]


PARTITION_CASES = {
    "no default": ("PartitionName=a Nodes=ALL\n", "warning slurm.conf:6:1 default-partition-missing"),
    "two defaults": (
        PARTITIONS + "PartitionName=b Nodes=ALL Default=TRUE\n",
        "warning slurm.conf:7:35 default-partition-twice",
    ),
    "a node outside": ("PartitionName=a Nodes=n[1-3] Default=YES\n", "warning slurm.conf:5:10 node-in-no-partition"),
    "an unknown node": ("PartitionName=a Nodes=n[1-4],m1 Default=YES\n", "error slurm.conf:6:30 node-unknown"),
    "times": (PARTITIONS.strip() + " MaxTime=60 DefaultTime=1-0\n", "warning slurm.conf:6:66 partition-times"),
    "a longest time of nothing": (
        PARTITIONS.strip() + " MaxTime=00:00:00 DefaultTime=1-0\n",
        "warning slurm.conf:6:51 time-limit-zero",
    ),
    "a time": (PARTITIONS.strip() + " MaxTime=24h\n", "error slurm.conf:6:51 slurm-value-wrong"),
    "sizes": (PARTITIONS.strip() + " MinNodes=5\n", "warning slurm.conf:6:52 partition-sizes"),
    "jobs on a core": (PARTITIONS.strip() + " OverSubscribe=YES:1\n", "warning slurm.conf:6:57 slurm-value-wrong"),
    "weights": (PARTITIONS.strip() + " TRESBillingWeights=CPU=1,GRES/gpu=2\n", "error slurm.conf:6:68 tres-unknown"),
    "an unknown node of a set": (
        "NodeSet=s Nodes=n[1-5]\nPartitionName=a Nodes=s Default=YES\n",
        "error slurm.conf:6:17 node-unknown",
    ),
    "an unknown node of a set that nobody asks for": (
        PARTITIONS + "NodeSet=s Nodes=n[1-5]\n",
        "warning slurm.conf:7:17 node-unknown",
    ),
    "a node outside of all sets": (
        "NodeSet=s Nodes=n[1-3]\nNodeSet=other Nodes=n4\nPartitionName=a Nodes=s Default=YES\n",
        "warning slurm.conf:5:10 node-in-no-partition",
    ),
    "a name twice": (PARTITIONS + PARTITIONS.replace("YES", "NO"), "error slurm.conf:7:15 partition-twice"),
}


@pytest.mark.parametrize("name", PARTITION_CASES)
def test_partition_lines(name: str, tmp_path: Path) -> None:
    text, expected = PARTITION_CASES[name]
    assert summaries(report(tmp_path, slurm_conf=HEAD + NODES + text)) == [expected]


GRES_CASES = {
    "fewer": ("NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia0\n", "warning slurm.conf:7:66 gres-mismatch"),
    "another type": (
        "NodeName=n[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-1]\n",
        "warning slurm.conf:7:66 gres-mismatch",
    ),
    "a count": (
        "NodeName=n[1-4] Name=gpu Type=a100 Count=3 File=/dev/nvidia[0-1]\n",
        "error gres.conf:1:42 slurm-value-wrong",
    ),
    "a device twice": (
        "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia0\n" * 2,
        "error gres.conf:2:41 gres-mismatch",
    ),
    "half of the types": (
        "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia0\nNodeName=n[1-4] Name=gpu File=/dev/nvidia1\n",
        "error gres.conf:2:10 gres-mismatch",
    ),
    "the case of a type": (
        "NodeName=n[1-4] Name=gpu Type=A100 File=/dev/nvidia[0-1]\n",
        "warning slurm.conf:7:66 gres-mismatch",
    ),
    "no type": ("NodeName=n[1-4] Name=gpu File=/dev/nvidia[0-1]\n", "warning slurm.conf:7:66 gres-mismatch"),
    "some cores of a socket": (
        "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\n",
        "warning gres.conf:1:64 gres-mismatch",
    ),
    "cores": (
        "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-31\n",
        "warning gres.conf:1:64 gres-mismatch",
    ),
    "an unknown node": (
        "NodeName=n[1-4],m1 Name=gpu Type=a100 File=/dev/nvidia[0-1]\n",
        "warning gres.conf:1:17 node-unknown",
    ),
    "detection": ("AutoDetect=nvlm\n", "warning gres.conf:1:12 slurm-plugin-unknown"),
    "files that nobody reads": (
        "NodeName=n[1-4] Name=gpu Type=a100 Count=2 File=/dev/nvidia[a-b]\n",
        "error gres.conf:1:49 hostlist-syntax",
    ),
    "links without the GPU itself": (
        "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Links=0,16\n",
        "warning gres.conf:1:64 slurm-value-wrong",
    ),
}


@pytest.mark.parametrize("name", GRES_CASES)
def test_gres_conf(name: str, tmp_path: Path) -> None:
    text, expected = GRES_CASES[name]
    slurm_conf = HEAD + GPUS + GPU_NODES + PARTITIONS
    assert summaries(report(tmp_path, slurm_conf=slurm_conf, gres_conf=text, cgroup_conf=CGROUP)) == [expected]


@pytest.mark.parametrize(
    ("cores", "hint"),
    [
        ("0-7,16-23", "write Cores=0-7, if the numbers from 16 on are second threads of these cores (lscpu -e)"),
        ("24-31,8-15", "write Cores=8-15, if the numbers from 16 on are second threads of these cores (lscpu -e)"),
        ("0-7,16-22", "write core numbers from 0, as lstopo -l shows them"),
        ("16-23", "write core numbers from 0, as lstopo -l shows them"),
        ("0-31", "write core numbers from 0, as lstopo -l shows them"),
    ],
)
def test_cpus_in_place_of_cores(cores: str, hint: str, tmp_path: Path) -> None:
    """Two sockets of 8 cores."""
    gres_conf = f"NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores={cores}\n"
    result = report(tmp_path, slurm_conf=HEAD + GPUS + GPU_NODES + PARTITIONS, gres_conf=gres_conf, cgroup_conf=CGROUP)
    assert [finding.hint for finding in result.diagnostics] == [hint]


def test_sockets_that_only_cpus_tell(tmp_path: Path) -> None:
    """One socket of 8 cores: Cores counts to 7."""
    slurm_conf = HEAD + GPUS + GPU_NODES.replace("Sockets=2", "CPUs=8") + PARTITIONS
    gres_conf = "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=8-15\n"
    result = report(tmp_path, slurm_conf=slurm_conf, gres_conf=gres_conf, cgroup_conf=CGROUP)
    assert summaries(result) == ["warning gres.conf:1:64 gres-mismatch"]


def test_parts_of_gpus(tmp_path: Path) -> None:
    """Fewer of them in gres.conf stop slurmd, and so does a node without gres.conf."""
    gpus = GPUS.replace("gpu", "gpu,shard")
    slurm_conf = HEAD + gpus + GPU_NODES.strip() + ",shard:8\n" + PARTITIONS
    files = {"slurm_conf": slurm_conf, "cgroup_conf": CGROUP}
    assert summaries(report(tmp_path, **files)) == ["warning slurm.conf:7:66 gres-mismatch"]
    lines = "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\nNodeName=n[1-4] Name=shard Count="
    assert summaries(report(tmp_path, **files, gres_conf=f"{lines}8\n")) == []
    assert summaries(report(tmp_path, **files, gres_conf=f"{lines}6\n")) == ["error slurm.conf:7:66 gres-mismatch"]


def test_gpus_without_cgroup_constraint_are_reported(tmp_path: Path) -> None:
    files = {"slurm_conf": HEAD + GPUS + GPU_NODES + PARTITIONS, "gres_conf": "AutoDetect=nvml\n"}
    assert summaries(report(tmp_path, **files), notes=True) == ["info slurm.conf:7:66 gres-without-constraint"]
    files["cgroup_conf"] = "ConstrainDevices=no\n"
    assert summaries(report(tmp_path, **files)) == ["warning cgroup.conf:1:18 gres-without-constraint"]
    files["slurm_conf"] = files["slurm_conf"].replace("task/cgroup", "task/affinity")
    assert summaries(report(tmp_path, **files))[-1] == "warning slurm.conf:6:12 gres-without-constraint"


@pytest.mark.parametrize(
    ("mode", "expected", "hint"),
    [
        ("SUSPEND", "slurm-value-wrong", "write PreemptMode=REQUEUE or CANCEL: a suspended job keeps its GPUs"),
        ("SUSPEND,GANG", "preemption-keeps-gpus", "write PreemptMode=REQUEUE or CANCEL"),
    ],
)
def test_suspension_of_jobs_with_gpus_is_one_finding(tmp_path: Path, mode: str, expected: str, hint: str) -> None:
    preemption = f"PreemptType=preempt/partition_prio\nPreemptMode={mode}\n"
    partitions = PARTITIONS.replace("PartitionName=", "PartitionName=low Nodes=n1 PriorityTier=2\nPartitionName=", 1)
    files = {"gres_conf": "AutoDetect=nvml\n", "cgroup_conf": CGROUP}
    result = report(tmp_path, slurm_conf=HEAD + GPUS + preemption + GPU_NODES + partitions, **files)
    assert [(one.code, one.hint) for one in result.diagnostics if one.place and one.place.line == 8] == [
        (expected, hint)
    ]


def test_types_of_gpus_that_differ_in_case_are_lower_case(tmp_path: Path) -> None:
    text = "AutoDetect=nvml\nNodeName=n[1-4] Name=gpu Type=A100 File=/dev/nvidia[0-1]\n"
    result = report(tmp_path, slurm_conf=HEAD + GPUS + GPU_NODES + PARTITIONS, gres_conf=text, cgroup_conf=CGROUP)
    (finding,) = (one for one in result.diagnostics if one.code == "gres-mismatch")
    assert finding.hint == "write 'a100' in both files: types are case-sensitive"


def test_a_password_is_not_shown_and_not_left_open(tmp_path: Path) -> None:
    """Shows "slurm-secret-readable"."""
    text = "DbdHost=db\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\nStoragePass=s3cret\n"
    result = report(tmp_path, slurmdbd_conf=text)
    assert [one.code for one in result.diagnostics if one.severity is not Severity.INFO] == ["slurm-secret-readable"]
    assert "s3cret" not in "".join(result.sources.values())
    (tmp_path / "slurmdbd.conf").chmod(0o600)
    assert summaries(lint(tmp_path, SlurmRelease("24.11"))) == []
    (tmp_path / "slurmdbd.conf").write_text(text.replace("s3cret", "s3 cret"))
    result = lint(tmp_path, SlurmRelease("24.11"))
    assert [one.code for one in result.diagnostics if one.severity is Severity.ERROR] == ["conf-syntax"]
    assert "cret" not in "".join(f"{one.message} {one.hint}" for one in result.diagnostics)


def test_slurmdbd_needs_the_hash_plugin_too(tmp_path: Path) -> None:
    accounting = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db\nHashPlugin=hash/sha3\n"
    dbd = "DbdHost=db\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\n"
    for text, codes in (
        (dbd, ["warning slurm.conf:7:12 slurm-value-harmful"]),
        (dbd + "HashPlugin=hash/sha3\n", []),
    ):
        result = report(tmp_path, slurm_conf=HEAD + accounting + NODES + PARTITIONS, slurmdbd_conf=text)
        assert summaries(result) == codes


def test_slurmdbd_and_slurmctld_agree(tmp_path: Path) -> None:
    accounting = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db\n"
    dbd = "DbdHost=db\nDbdPort=7000\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\nPurgeJobAfter=2years\n"
    result = report(tmp_path, slurm_conf=HEAD + accounting + NODES + PARTITIONS, slurmdbd_conf=dbd)
    assert summaries(result) == [
        "warning slurmdbd.conf:2:9 slurm-value-harmful",
        "error slurmdbd.conf:5:15 slurm-value-wrong",
    ]


@pytest.mark.parametrize(
    ("release", "line", "expected"),
    [
        ("22.05", "AuthType=munge", "error slurmdbd.conf:4:10 slurm-plugin-unknown"),
        ("24.11", "AuthType=auth/Munge", "error slurmdbd.conf:4:10 slurm-plugin-unknown"),
        ("24.11", "StorageType=mysql", "error slurmdbd.conf:4:13 slurm-plugin-unknown"),
    ],
)
def test_plugins_of_slurmdbd(release: str, line: str, expected: str, tmp_path: Path) -> None:
    dbd = "DbdHost=db\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\n"
    assert expected in summaries(report(tmp_path, release, slurmdbd_conf=f"{dbd}{line}\n"))


def test_an_upgrade_is_a_question_of_the_release(tmp_path: Path) -> None:
    text = HEAD + "SelectType=select/cons_res\nSlurmctldPlugstack=nohold\nGetEnvTimeout=2\n" + NODES + PARTITIONS
    assert summaries(report(tmp_path, "22.05", slurm_conf=text)) == []
    assert summaries(report(tmp_path, "26.05", slurm_conf=text)) == [
        "error slurm.conf:5:12 slurm-plugin-unknown",
        "error slurm.conf:6:1 slurm-key-removed",
        "warning slurm.conf:7:1 slurm-key-defunct",
    ]


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("", "26.05"),
        ("SelectType=select/cons_res\n", "23.02"),
        ("SelectType=select/cons_res\nSlurmctldPlugstack=x\n", "22.05"),
        ("MetricsType=metrics/openmetrics\n", "26.05"),
        ("SelectType=select/cons_res\nMaxConcurrentJobs=4\n", "23.02"),
        ("CacheGroups=0\n", "22.05"),  # older than all releases
        ("FastSchedule=2\n", "22.05"),
        ("FastSchedule=1\n", "26.05"),
    ],
)
def test_the_release_is_guessed(text: str, release: str, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(HEAD + text)
    result = lint(tmp_path)
    assert result.guessed
    assert str(result.release) == release


@pytest.mark.parametrize(
    ("text", "release", "named"),
    [
        ("# for Slurm 24.11, identical on all nodes\n", "24.11", True),
        ("# taken over from slurm 20.02, for slurm 24.05\n", "24.05", True),
        ("# slurm 24.11\nSelectType=select/cons_res\n", "23.02", False),
        ("# 24.11\n", "26.05", False),
    ],
)
def test_a_comment_names_the_release(text: str, release: str, named: bool, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(HEAD + text)
    result = lint(tmp_path)
    assert result.guessed
    assert (str(result.release), result.guessed.named) == (release, named)
    assert str(read_originals(tmp_path, None, None).release) == release


def test_old_controllers_are_one_line_each(tmp_path: Path) -> None:
    text = "ClusterName=c\nControlMachine=a\nControlAddr=10.0.0.1\nBackupController=b\n"
    result = report(
        tmp_path, slurm_conf=text + "SlurmUser=slurm\nStateSaveLocation=/shared/state\n" + NODES + PARTITIONS
    )
    hints = [one.hint for one in result.diagnostics if one.code == "slurm-key-old-name"]
    assert hints == [
        "write SlurmctldHost=a(10.0.0.1)",
        "write SlurmctldHost=a(10.0.0.1)",
        "write SlurmctldHost=b",
    ]


@pytest.mark.parametrize(
    ("release", "expected"), [("24.11", []), ("26.05", ["error slurm.conf:3:11 slurm-value-wrong"])]
)
def test_the_newest_release_runs_no_daemon_as_nobody(release: str, expected: list[str], tmp_path: Path) -> None:
    text = HEAD.replace("SlurmUser=slurm", "SlurmUser=nobody") + NODES + PARTITIONS
    assert summaries(report(tmp_path, slurm_conf=text, release=release)) == expected


def test_an_old_name_beside_the_new_one_is_ignored(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-4] CPUs=96 Procs=48 RealMemory=64000\n"
    result = report(tmp_path, slurm_conf=HEAD + nodes + PARTITIONS)
    assert summaries(result) == ["warning slurm.conf:5:25 slurm-key-ignored"]
    [ignored] = [one for one in result.diagnostics if one.code == "slurm-key-ignored"]
    assert ignored.hint == "delete it: Procs is the old name of CPUs"


@pytest.mark.parametrize(
    ("state", "hint"),
    [
        ("/var/spool/slurmctld", "write SlurmdSpoolDir=/var/spool/slurmd"),
        ("/var/spool/slurmd", "write StateSaveLocation=/var/lib/slurm/slurmctld"),
        ("/var/spool", "write StateSaveLocation=/var/lib/slurm/slurmctld"),
    ],
)
def test_a_hint_is_not_what_is_written(state: str, hint: str, tmp_path: Path) -> None:
    head = HEAD.replace("/var/spool/slurmctld", state) + f"SlurmdSpoolDir={state}/slurmd\n"
    diagnostics = report(tmp_path, slurm_conf=head + NODES + PARTITIONS).diagnostics
    assert [one.hint for one in diagnostics if "inside" in one.message] == [hint]


@pytest.mark.parametrize("words", ["MinNodes=4", "OverSubscribe=YES:2", "OverSubscribe=FORCE:1", "OverSubscribe=FORCE"])
def test_values_of_partitions_at_their_bounds(words: str, tmp_path: Path) -> None:
    assert summaries(report(tmp_path, slurm_conf=f"{HEAD}{NODES}{PARTITIONS.strip()} {words}\n")) == []


@pytest.mark.parametrize(("memory", "count"), [(2097152, 1), (196608, 1), (2000000, 0), (64000, 0)])
def test_memory_that_is_what_is_installed(memory: int, count: int, tmp_path: Path) -> None:
    nodes = f"NodeName=n[1-4] Sockets=2 CoresPerSocket=4 RealMemory={memory}\n"
    texts = summaries(report(tmp_path, slurm_conf=HEAD + nodes + PARTITIONS))
    assert [line.rpartition(" ")[2] for line in texts] == ["node-memory-installed"] * count
    relaxed = HEAD + "SlurmdParameters=config_overrides\n" + nodes + PARTITIONS
    assert summaries(report(tmp_path, slurm_conf=relaxed)) == []


@pytest.mark.parametrize(
    ("gres_conf", "expected"),
    [
        ("AutoDetect=nvml\n", []),
        ("AutoDetect=nvml\nNodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n", []),
        ("AutoDetect=nvml\nNodeName=n[1-4] Name=gpu Type=A100 File=/dev/nvidia[0-1]\n", ["gres-mismatch"]),
        ("AutoDetect=nvml\nNodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia0\n", ["gres-mismatch"]),
        ("NodeName=n[1-4] AutoDetect=nvml Name=gpu Type=a100 File=/dev/nvidia[0-3]\n", ["gres-mismatch"]),
        ("NodeName=n[1-4] AutoDetect=nvml\n", []),
        ("NodeName=n[1-4] AutoDetect=nvml\nNodeName=n1 AutoDetect=NVML\n", []),
        ("NodeName=n[1-4] AutoDetect=nvml\nNodeName=n1 AutoDetect=off\n", ["slurm-value-wrong"]),
    ],
)
def test_detected_gpus_are_compared_with_the_lines_that_name_devices(
    gres_conf: str, expected: list[str], tmp_path: Path
) -> None:
    result = report(tmp_path, slurm_conf=HEAD + GPUS + GPU_NODES + PARTITIONS, gres_conf=gres_conf, cgroup_conf=CGROUP)
    assert [line.rpartition(" ")[2] for line in summaries(result)] == expected


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("JobCompType=jobcomp/slurmdbd", "delete it: AccountingStorageType=accounting_storage/slurmdbd records jobs"),
        ("TaskPluginParam=Sched", "delete it, and write TaskPlugin=task/cgroup,task/affinity"),
    ],
)
def test_replacements_of_plugins_and_words(line: str, hint: str, tmp_path: Path) -> None:
    result = report(tmp_path, slurm_conf=HEAD + f"{line}\n" + NODES + PARTITIONS)
    assert [one.hint for one in result.diagnostics if one.code.endswith("unknown")] == [hint]
