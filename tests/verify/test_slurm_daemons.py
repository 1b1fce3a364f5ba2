"""Real Slurm passes good files and names what is wrong with bad ones, in its own words."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from clustergen.records import replace
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from clustergen.verify.slurm_roots import SlurmInstall

pytestmark = pytest.mark.real

SLURM_CONF = """\
ClusterName=test
SlurmctldHost=head(10.0.0.1)
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd/%n
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldPidFile=/run/slurmctld/slurmctld.pid
SlurmctldParameters=enable_configless
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/none
TopologyPlugin=topology/tree
PrologFlags=Alloc,Contain
Prolog=/etc/slurm/prolog.sh
GresTypes=gpu
NodeName=c[01-04] NodeAddr=10.0.0.[11-14] Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=1500000 \\
  Gres=gpu:h100:8 CoreSpecCount=2 MemSpecLimit=16384
PartitionName=gpu Nodes=c[01-04] Default=YES MaxTime=INFINITE
"""
ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=acct
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu,gres/gpu:h100
PriorityType=priority/multifactor
"""
SLURMDBD_CONF = """\
DbdHost=acct
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageLoc=slurm_test_db
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd/slurmdbd.pid
"""
FILES = {
    "slurm.conf": SLURM_CONF,
    "gres.conf": """\
NodeName=c[01-04] Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-55
NodeName=c[01-04] Name=gpu Type=h100 File=/dev/nvidia[4-7] Cores=56-111
""",
    "topology.conf": """\
SwitchName=leaf1 Nodes=c[01-02]
SwitchName=leaf2 Nodes=c[03-04]
SwitchName=top Switches=leaf[1-2]
""",
    "cgroup.conf": "CgroupPlugin=cgroup/v2\nConstrainCores=yes\nConstrainDevices=yes\nConstrainRAMSpace=yes\n",
    "plugstack.conf": "optional /usr/lib/slurm/spank_pyxis.so\n",
    "prolog.sh": "#!/bin/sh\nexit 0\n",
}
HOSTS = "10.0.0.1 head\n10.0.0.2 acct\n" + "".join(f"10.0.0.1{n} c0{n}\n" for n in range(1, 5))
NO_PYXIS = ("plugstack.conf: /usr/lib/slurm/spank_pyxis.so is not in this root, so slurmd is checked without it",)

Ask = Callable[..., SlurmReport]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Asks a Slurm about the good files after some replacements: {file: (pattern, replacement)} or {file: text}."""

    def ask(
        install: SlurmInstall,
        changes: dict[str, str | tuple[str, str]] | None = None,
        *,
        hosts: str | None = HOSTS,
        nodes: tuple[str, ...] = ("c01",),
        timeout: float = 120,
    ) -> SlurmReport:
        files = dict(FILES)
        for name, change in (changes or {}).items():
            if isinstance(change, str):
                files[name] = files.get(name, "") + change
            else:
                files[name], count = re.subn(change[0], change[1], files[name])
                assert count, f"{change[0]} is not in {name}"
        for name, text in files.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        return read_config(install, tmp_path, hosts, nodes, timeout=timeout)

    return ask


def test_good_files_pass_with_accounting_and_a_database(ask: Ask, slurm: SlurmInstall) -> None:
    changes = {"slurm.conf": (r"(?m)^(PartitionName=.*)$", ACCOUNTING + r"\1 QOS=short")}
    report = ask(slurm, {**changes, "slurmdbd.conf": SLURMDBD_CONF}, nodes=("c01", "c04"))
    assert report.complaints == ()
    assert report.started
    assert report.passed
    assert report.omitted == NO_PYXIS
    assert report.version == slurm.version
    assert set(report.gres) == {"c01", "c04"}
    for listed in report.gres.values():
        lines = listed.splitlines()
        assert len(lines) == 2
        assert all("Type=h100 Count=4" in line for line in lines)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"slurm.conf": "SlurmctldTimeuot=60\n"}, "slurmctld: error: .*unrecognized key: SlurmctldTimeuot"),
        ({"slurm.conf": "ReturnToService=perhaps\n"}, "slurmctld: error: .*perhaps"),
        ({"slurm.conf": ("select/cons_tres", "select/cons_trees")}, "slurmctld: .*select/cons_trees"),
        ({"slurm.conf": "NodeName=c02 CPUs=4\n"}, "slurmctld: fatal: Duplicated NodeName c02"),
        ({"slurm.conf": ("Nodes=c", "Nodes=d")}, r"slurmctld: fatal: Invalid node names in partition gpu"),
        ({"cgroup.conf": "ConstrainKmemSpaec=yes\n"}, "slurmctld: error: .*unrecognized key: ConstrainKmemSpaec"),
    ],
    ids=["unknown-key", "bad-value", "unknown-plugin", "duplicate-node", "partition", "unknown-cgroup-key"],
)
def test_fatal_errors_of_slurmctld_are_reported(
    ask: Ask, slurm: SlurmInstall, changes: dict[str, str | tuple[str, str]], words: str
) -> None:
    report = ask(slurm, changes, nodes=())
    assert re.search(words, "\n".join(report.complaints), re.MULTILINE)
    assert not report.started
    assert not report.passed


@pytest.mark.many
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gres.conf": ("h100", "h200")}, r"slurmctld: error: .*INVAL with reason:gres/gpu count .* \(0 < 8\)$"),
        ({"gres.conf": ("56-111", "56-112")}, "slurmd: error: Invalid GRES data for gpu, Cores=56-112"),
        ({"gres.conf": "Name=gpu Fiel=/dev/nvidia8\n"}, "slurmd: error: .*unrecognized key: Fiel"),
        ({"slurm.conf": ("GresTypes=gpu", "GresTypes=nic")}, "error: .*gpu"),
        ({"slurm.conf": ("proctrack/cgroup", "proctrack/cgruop")}, "slurmd: .*proctrack/cgruop"),
        ({"slurm.conf": ("task/affinity", "task/afinity")}, "slurmd: .*task/afinity"),
        ({"slurm.conf": ("task/cgroup", "Task/Cgroup")}, "slurmd: .*Task/Cgroup"),
        ({"slurm.conf": ("proctrack/cgroup", "Proctrack/Cgroup")}, "slurmd: .*Proctrack/Cgroup"),
        ({"gres.conf": "AutoDetect=nmvl\n"}, "slurmd: error: unknown autodetect flag 'nmvl'"),
        ({"topology.conf": ("c\\[03-04\\]", "c[03-05]")}, "slurmctld: error: .*c05"),
    ],
    ids=[
        "type",
        "cores",
        "unknown-key",
        "gres-types",
        "proctrack",
        "task",
        "task-case",
        "proctrack-case",
        "autodetect",
        "topology",
    ],
)
def test_errors_that_slurm_only_logs_are_reported(
    ask: Ask, slurm: SlurmInstall, changes: dict[str, str | tuple[str, str]], words: str
) -> None:
    report = ask(slurm, changes)
    assert re.search(words, "\n".join(report.complaints), re.MULTILINE)
    assert not report.passed


@pytest.mark.many
@pytest.mark.parametrize(
    "change",
    [
        ("ProctrackType=.*\n", ""),
        ("TaskPlugin=.*", "taskplugin = cgroup"),
        ("TaskPlugin=.*", 'TaskPlugin="task/affinity,task/cgroup" # both'),
        (r"(?s)ProctrackType=[^\n]*\n(.*)\n$", r"\1"),
        ("MemSpecLimit=16384", "MemSpecLimit=16384 State=FUTURE"),
        ("PrologFlags=.*", "prologflags = Alloc,x11"),
    ],
    ids=["proctrack-default", "task-short", "task-quoted", "no-newline-at-the-end", "future-node", "x11"],
)
def test_plugins_that_query_this_machine_are_replaced_in_any_spelling(
    ask: Ask, slurm: SlurmInstall, change: tuple[str, str]
) -> None:
    report = ask(slurm, {"slurm.conf": change, "cgroup.conf": ("\n$", "")})
    assert report.complaints == ()
    assert report.passed


@pytest.mark.parametrize(("flags", "refused"), [("PrologFlags=Alloc,Contain", False), ("PrologFlags=Alloc", True)])
def test_a_private_tmp_takes_contain(ask: Ask, slurm: SlurmInstall, flags: str, refused: bool) -> None:
    change = ("PrologFlags=.*", f"{flags}\nJobContainerType=job_container/tmpfs")
    report = ask(slurm, {"slurm.conf": change, "job_container.conf": "AutoBasePath=true\nBasePath=/var/tmp/jobs\n"})
    output = [words for words in report.complaints if "NamespaceType" not in words]  # its name from 26.05 on
    assert any("PrologFlags=Contain is required" in words for words in output) == refused
    assert bool(output) == refused


@pytest.mark.parametrize(
    ("conf", "words"),
    [
        (SLURMDBD_CONF + "StorageHots=db\n", "slurmdbd: error: .*unrecognized key: StorageHots"),
        (SLURMDBD_CONF.replace("/mysql", "/oracle"), "slurmdbd: .*accounting_storage/oracle"),
    ],
    ids=["unknown-key", "unknown-plugin"],
)
def test_slurmdbd_reads_its_file_and_slurmctld_is_asked_all_the_same(
    ask: Ask, slurm: SlurmInstall, conf: str, words: str
) -> None:
    report = ask(slurm, {"slurm.conf": ACCOUNTING, "slurmdbd.conf": conf}, nodes=())
    assert re.search(words, "\n".join(report.complaints), re.MULTILINE)
    assert report.started
    assert not report.passed


def test_a_slurmdbd_host_outside_of_the_hosts_file_is_reported(ask: Ask, current_slurm: SlurmInstall) -> None:
    changes = {"slurm.conf": ACCOUNTING.replace("acct", "elsewhere"), "slurmdbd.conf": SLURMDBD_CONF}
    report = ask(current_slurm, changes, nodes=(), timeout=30)
    assert not report.started
    assert any("elsewhere" in line for line in report.complaints)


def test_node_names_must_resolve(ask: Ask, current_slurm: SlurmInstall) -> None:
    report = ask(current_slurm, {"slurm.conf": (r"NodeAddr=\S+ ", "")}, hosts="10.0.0.1 head\n", nodes=())
    assert any("c01" in line and ("resolve" in line or "getaddrinfo" in line) for line in report.complaints)


def test_a_missing_file_is_not_waited_for(ask: Ask, current_slurm: SlurmInstall) -> None:
    report = ask(current_slurm, {"slurm.conf": "Include racks.conf\n"}, nodes=())
    assert not report.started
    assert any("racks.conf" in line for line in report.complaints)
    assert not any("fatal" in line for line in report.complaints), (
        "Slurm says so itself when it has waited for a minute"
    )


def test_the_machine_around_the_files_is_made_to_fit(ask: Ask, slurm: SlurmInstall) -> None:
    """Paths, accounts and keys of another distribution are no mistake of the files."""
    foreign = """\
PluginDir=/usr/lib64/slurm
SlurmctldPort=7000-7003
AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=/srv/slurm/jwt.key
MailProg=/opt/site/mail
"""
    moved = SLURM_CONF.replace("SlurmUser=slurm", "SlurmUser=hpcadm").replace("/var/spool/slurmctld", "/srv/state/ctld")
    report = ask(slurm, {"slurm.conf": (r"(?s).+", moved + foreign)})
    assert report.complaints == ()
    assert report.passed


def test_a_node_root_is_read_with_its_own_hosts_file(slurm: SlurmInstall, tmp_path: Path) -> None:
    directory = tmp_path / "etc/slurm"
    directory.mkdir(parents=True)
    for name, text in FILES.items():
        (directory / name).write_text(text, encoding="utf-8")
    (tmp_path / "etc/hosts").write_text(HOSTS, encoding="utf-8")
    report = read_config(slurm, tmp_path, None, ["c02"])
    assert (report.passed, report.omitted) == (True, NO_PYXIS)


def test_without_a_hosts_file_every_name_gets_an_address(ask: Ask, current_slurm: SlurmInstall) -> None:
    report = ask(current_slurm, {"slurm.conf": (r"\(10.0.0.1\)|NodeAddr=\S+ ", "")}, hosts=None)
    assert report.passed
    assert report.omitted[-1] == "host names: there is no hosts file, so every name has a generated address"


def test_autodetect_is_not_asked_and_the_message_says_it(ask: Ask, current_slurm: SlurmInstall) -> None:
    report = ask(current_slurm, {"gres.conf": (r"(?s).+", "AutoDetect=nvml\n")})
    assert report.started
    assert report.gres == {}
    assert report.omitted[-1] == "gres.conf: AutoDetect is omitted; slurmd is not started"


def test_a_root_without_a_database_is_asked_without_accounting(ask: Ask, current_slurm: SlurmInstall) -> None:
    with _copied(current_slurm) as copy:
        shutil.rmtree(copy.path / "var/lib/clustergen/mariadb")
        changes = {"slurm.conf": ACCOUNTING, "slurmdbd.conf": SLURMDBD_CONF}
        report = ask(copy, changes)
    assert report.complaints == ()
    assert report.passed
    assert (
        report.omitted[-1]
        == f"accounting: {copy.path} has no database for slurmdbd, so slurmctld is checked without it"
    )


def test_running_out_of_time_is_a_failure_and_leaves_nothing_running(ask: Ask, current_slurm: SlurmInstall) -> None:
    name = f"acct-{uuid4().hex}"  # in the environment of every process in there
    changes = {"slurm.conf": ACCOUNTING.replace("acct", name), "slurmdbd.conf": SLURMDBD_CONF.replace("acct", name)}
    with _copied(current_slurm) as copy:
        controller = copy.path / "usr/sbin/slurmctld"
        controller.unlink()  # a hard link: the root itself keeps its own
        controller.write_text("#!/bin/sh\nexec sleep 600\n", encoding="utf-8")
        controller.chmod(0o755)
        report = ask(copy, changes, hosts=f"{HOSTS}10.0.0.3 {name}\n", timeout=2)
    assert not report.started
    assert report.complaints[-1] == "slurmctld: fatal: did not answer within 2 s"
    left = [pid for pid, environment in _environments() if name.encode() in environment]
    for _ in range(300):  # ending a dozen processes takes a moment on a busy machine
        if not left:
            break
        time.sleep(0.1)
        left = [pid for pid, environment in _environments() if name.encode() in environment]
    assert left == []


@contextlib.contextmanager
def _copied(install: SlurmInstall) -> Iterator[SlurmInstall]:
    """The same Slurm in a root of hard links, whose files a test may replace."""
    copy = install.path.with_name(f".{uuid4().hex}")
    try:
        subprocess.run(["cp", "-al", install.path, copy], check=True, timeout=300)
        yield replace(install, path=copy)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _environments() -> Iterator[tuple[str, bytes]]:
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            yield directory.name, (directory / "environ").read_bytes()


def test_several_at_once_do_not_meet_and_leave_the_root_as_it_was(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    def one(number: int) -> SlurmReport:
        directory = tmp_path / str(number)
        directory.mkdir()
        for name, text in FILES.items():
            (directory / name).write_text(text, encoding="utf-8")
        (directory / "slurm.conf").write_text(SLURM_CONF + ("Nonsense=1\n" if number % 2 else ""), encoding="utf-8")
        return read_config(current_slurm, directory, HOSTS)

    before = sorted(path.name for path in (current_slurm.path / "etc").rglob("*"))
    with ThreadPoolExecutor(4) as pool:
        reports = list(pool.map(one, range(4)))
    assert [report.passed for report in reports] == [True, False, True, False]
    assert sorted(path.name for path in (current_slurm.path / "etc").rglob("*")) == before
