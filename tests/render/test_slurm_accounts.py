"""The script that fills the accounting database, against real sacctmgr, slurmdbd and slurmctld of three releases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.manifest.slurm import Account
from clustergen.render.formats import RenderError
from clustergen.render.views.slurm.accounts import parents_first
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import lay_out, text_of

QOS: dict[str, Any] = {
    "normal": {"description": "Everyday work", "priority": 10, "preempt": ["low"]},
    "high": {
        "priority": 100,
        "preempt": ["normal", "low"],
        "max_tres_per_user": {"gres/gpu": 16, "cpu": 64},
        "max_wall": "2-0",
    },
    "low": {"usage_factor": 0.25, "grace_time": "2min", "preempt_mode": "requeue", "flags": ["DenyOnLimit"]},
}
ACCOUNTS: dict[str, Any] = {
    "vision": {
        "parent": "science",
        "fairshare": 30,
        "users": ["alice", "bob"],
        "group_tres": {"gres/gpu": 8},
        "max_jobs": 3,
    },
    "science": {"description": "All of science", "organization": "Faculty (A & B)", "fairshare": 70},
    "ops": {"qos": ["normal", "high"], "default_qos": "high", "users": ["alice"]},
}
PARTITIONS = {
    "main": {"nodes": "all", "default": True, "allow_qos": ["normal", "high"], "allow_accounts": ["vision", "ops"]}
}


def run(install: SlurmInstall, folder: Path, script: str, **slurm: Any) -> dict[str, str]:
    """What each step of the script said, with its status in the last line; and the daemons' logs."""
    release = ".".join(install.version.split(".")[:2])
    slurm = {"mpi_default": "pmi2", "qos": QOS, "accounts": ACCOUNTS, "partitions": PARTITIONS, **slurm}
    tree = cluster(folder, release, slurm=slurm)
    box = sandbox.Sandbox(
        install.path,
        files=((lay_out(tree, "head", folder / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=110, notes={"script": DAEMONS + script})
    assert done.code == 0, done.stderr
    said = {}
    for part in done.stdout.split("== ")[1:]:
        name, _, text = part.partition("\n")
        said[name] = text.strip()
    return {**said, **{name.removesuffix(".log"): text for name, text in done.files.items() if name.endswith(".log")}}


QOS_FIELDS = "Name,Priority,Preempt,PreemptMode,GraceTime,MaxWall,UsageFactor,MaxTRESPerUser,Flags"
ASSOC_FIELDS = "Account,ParentName,User,Fairshare,MaxJobs,GrpTRES,QOS,DefaultQOS"
SHOW = f"""
step qos sacctmgr -nP show qos format={QOS_FIELDS}
step assoc sacctmgr -nP show assoc where cluster=small format={ASSOC_FIELDS}
step account sacctmgr -nP show account format=Account,Description,Organization
"""


@pytest.mark.real
@pytest.mark.slow
def test_a_new_database_is_as_the_manifest_says_and_stays_so(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = f"""
step names clustergen-accounts names
controller
step all clustergen-accounts
step again clustergen-accounts
{SHOW}"""
    said = run(slurm, tmp_path, script)
    assert said["names"].endswith("changed\nstatus 0")
    # slurmctld starts with partitions that name QOS and accounts, and has no word against them.
    assert "fatal" not in said["slurmctld"]
    assert "QOS" not in said["slurmctld"]
    assert "No association for account" not in said["slurmctld"]
    assert said["all"].endswith("changed\nstatus 0")
    assert said["again"] == "unchanged\nstatus 0"
    assert set(said["qos"].splitlines()[:-1]) == {
        "normal|10|low|cluster|00:00:00||1.000000||",
        "high|100|low,normal|cluster|00:00:00|2-00:00:00|1.000000|cpu=64,gres/gpu=16|",
        "low|0||requeue|00:02:00||0.250000||DenyOnLimit",
    }
    rows = set(said["assoc"].splitlines())
    assert "science|root||70|||high,low,normal|normal" in rows
    assert "vision|science||30|3|gres/gpu=8|high,low,normal|normal" in rows
    assert "vision||alice|1|3||high,low,normal|normal" in rows
    assert {"ops|root||1|||high,normal|high", "ops||alice|1|||high,normal|high"} <= rows
    assert "science|all of science|faculty (a & b)" in said["account"]


@pytest.mark.real
@pytest.mark.slow
def test_what_was_changed_by_hand_or_is_said_no_more_is_put_right(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = f"""
clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null
for change in \\
  'modify qos where name=high set Preempt=low MaxTRESPerUser=cpu=1,mem=5 GrpTRES=gres/gpu=1 Flags=NoDecay' \\
  'modify qos where name=high set MaxWall=5 Priority=1' \\
  'modify qos where name=normal set Preempt=' 'modify qos where name=low set Preempt=normal' \\
  'modify account where name=vision set parent=root GrpTRES=cpu=5 MaxJobs=9 Fairshare=1' \\
  'add qos theirs' 'add account other' 'add user carol account=vision' 'remove user bob where account=vision'; do
  sacctmgr -iQ $change >/dev/null || echo "not done: $change"
done
step all clustergen-accounts
step again clustergen-accounts
{SHOW}"""
    said = run(slurm, tmp_path, script)
    assert said["all"].endswith("changed\nstatus 0")
    assert said["again"] == "unchanged\nstatus 0"
    rows = said["qos"].splitlines()
    assert "high|100|low,normal|cluster|00:00:00|2-00:00:00|1.000000|cpu=64,gres/gpu=16|" in rows
    assert "low|0||requeue|00:02:00||0.250000||DenyOnLimit" in rows
    assert any(row.startswith("theirs|") for row in rows)
    rows = said["assoc"].splitlines()
    assert "vision|science||30|3|gres/gpu=8|high,low,normal|normal" in rows
    assert {"alice", "bob", "carol"} == {row.split("|")[2] for row in rows if row.startswith("vision|")} - {""}
    assert any(row.startswith("other|root|") for row in rows)


@pytest.mark.real
@pytest.mark.slow
def test_two_qos_change_places(slurm: SlurmInstall, tmp_path: Path) -> None:
    qos = {"a": {"preempt": ["b"]}, "b": {}}
    turn = "sacctmgr -iQ modify qos where name=a set Preempt=; sacctmgr -iQ modify qos where name=b set Preempt=a"
    filled = "clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null"
    script = f"{filled}\n{turn}\nstep all clustergen-accounts"
    assert run(slurm, tmp_path, script, qos=qos, accounts={}, partitions={})["all"].endswith("changed\nstatus 0")


@pytest.mark.real
@pytest.mark.slow
def test_without_the_resources_of_slurmctld_it_says_what_is_missing(
    current_slurm: SlurmInstall, tmp_path: Path
) -> None:
    hasty = "sed -i 's/-lt 60/-lt 1/' /usr/local/sbin/clustergen-accounts"
    script = f"{hasty}\nstep all clustergen-accounts\nstep odd clustergen-accounts now"
    said = run(current_slurm, tmp_path, script)
    assert "slurmdbd does not know gres/gpu: start slurmctld, which tells it\nstatus 1" in said["all"]
    assert said["odd"] == "clustergen-accounts: no such step: now\nstatus 1"


@pytest.mark.real
@pytest.mark.slow
def test_a_cluster_without_accounts_has_its_name_in_the_database(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    show = "step show sacctmgr -nP show cluster format=cluster"
    script = f"step all clustergen-accounts\nstep again clustergen-accounts\n{show}"
    said = run(current_slurm, tmp_path, script, qos={}, accounts={}, partitions={})
    assert (said["again"], said["show"]) == ("unchanged\nstatus 0", "small\nstatus 0")


def test_texts_of_the_manifest_stay_words_of_the_shell(tmp_path: Path) -> None:
    """The manifest refuses quotes and dollars in such texts; what is left is quoted."""
    accounts = {"a": {"description": "a; rm -rf /tmp/x & {{ y }} #", "organization": "x | y > z"}}
    text = text_of(cluster(tmp_path, slurm={"accounts": accounts}), "head", "/usr/local/sbin/clustergen-accounts")
    (line,) = [line for line in text.splitlines() if line.startswith("  account a ")]
    assert "'Description=a; rm -rf /tmp/x & {{ y }} #' 'Organization=x | y > z'" in line


def test_parents_come_before_their_children() -> None:
    given = {
        "c": Account(parent="b"),
        "x": Account(parent="y"),
        "b": Account(parent="a"),
        "a": Account(),
        "y": Account(parent="x"),
    }
    order = [name for name, _ in parents_first(given)]
    assert order[:3] == ["a", "b", "c"]
    assert set(order) == set(given)


@pytest.mark.parametrize("value", ["two\nlines", "a\x00b"])
def test_control_characters_are_refused(value: str) -> None:
    from clustergen.render.formats import shell_word

    with pytest.raises(RenderError):
        shell_word(f"Description={value}")
