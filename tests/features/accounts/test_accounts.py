"""The program that fills the accounting database, against real sacctmgr, slurmdbd and slurmctld of three releases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.cluster.slurm.rights import parents_first
from clustergen.features.accounts.section import Account
from clustergen.render.formats import RenderError
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import lay_out, text_of

VALUES = "/etc/clustergen/accounts.json"
QOS: dict[str, Any] = {
    "normal": {"description": "Everyday work", "priority": 10, "preempt": ["low"]},
    "high": {
        "priority": 100,
        "preempt": ["normal", "low"],
        "max_tres_per_user": {"gres/gpu": 16, "cpu": 64},
        "max_wall": "2-0",
        "exempt_time": 10,
        "max_jobs_per_account": 5,
        "max_submit_per_account": 50,
        "max_tres_per_account": {"gres/gpu": 32},
        "min_tres_per_job": {"gres/gpu": 1},
        "max_tres_per_node": {"mem": "1TiB"},
        "max_tres_minutes_per_job": {"gres/gpu": 100000},
        "group_jobs": 40,
        "group_submit": 400,
        "group_wall": "30d",
        "options": {"MaxJobsAccruePerUser": 4, "maxTRESRunMinsPerUser": "cpu=15", "LimitFactor": 2},
    },
    "low": {"usage_factor": 0.25, "grace_time": 120, "preempt_mode": "requeue", "flags": ["DenyOnLimit"]},
}
ACCOUNTS: dict[str, Any] = {
    "vision": {
        "parent": "science",
        "fairshare": 30,
        "users": ["alice", "bob"],
        "user_limits": {"bob": {"max_jobs": 1, "fairshare": 3, "qos": ["low"]}},
        "group_tres": {"gres/gpu": 8, "mem": "6GiB"},
        "group_tres_minutes": {"gres/gpu": 600000},
        "max_jobs": 3,
        "options": {"GrpJobsAccrue": 7},
    },
    "science": {
        "description": "All of science",
        "organization": "Faculty (A & B)",
        "fairshare": 70,
        "qos": ["normal", "low"],
        "default_qos": "low",
        "max_submit": 100,
        "max_wall": "1d",
        "group_wall": "2h",
        "group_tres_run_minutes": {"cpu": 5000},
        "max_tres_per_job": {"gres/gpu": 4},
        "coordinators": ["alice"],
    },
    "ops": {"qos": ["normal", "high"], "default_qos": "high", "users": ["alice"], "priority": 7},
    "plain": {"users": ["dave"]},
}
USERS: dict[str, Any] = {"alice": {"default_account": "ops", "admin_level": "operator"}}
PARTITIONS = {
    "main": {"nodes": "all", "default": True, "allow_qos": ["normal", "high"], "allow_accounts": ["vision", "ops"]}
}


def run(install: SlurmInstall, directory: Path, script: str, **slurm: Any) -> dict[str, str]:
    """The output of each step of the script, with its status in the last line; and the daemons' logs."""
    release = ".".join(install.version.split(".")[:2])
    slurm = {"mpi_default": "pmi2", "qos": QOS, "accounts": ACCOUNTS, "users": USERS, "partitions": PARTITIONS, **slurm}
    tree = cluster(directory, release, slurm=slurm)
    box = sandbox.Sandbox(
        install.path,
        files=((lay_out(tree, "head", directory / "root"), "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes={"script": DAEMONS + script})
    assert done.code == 0, done.stderr
    values = {}
    for part in done.stdout.split("== ")[1:]:
        name, _, text = part.partition("\n")
        values[name] = text.strip()
    return {**values, **{name.removesuffix(".log"): text for name, text in done.files.items() if name.endswith(".log")}}


QOS_FIELDS = "Name,Priority,Preempt,PreemptMode,GraceTime,MaxWall,UsageFactor,MaxTRESPerUser,Flags"
ASSOC_FIELDS = "Account,ParentName,User,Fairshare,MaxJobs,GrpTRES,QOS,DefaultQOS"
SHOW = f"""
step qos sacctmgr -nP show qos format={QOS_FIELDS}
step high sacctmgr -P show qos name=high \\
  format=PreemptExemptTime,GrpJobs,GrpSubmitJobs,GrpWall,MaxJobsPA,MaxSubmitJobsPA,MaxTRESPA,MinTRES,MaxTRESPerNode,\\
MaxTRESMins,MaxJobsAccruePU,MaxTRESRunMinsPU,LimitFactor
step assoc sacctmgr -nP show assoc where cluster=small format={ASSOC_FIELDS}
step limits sacctmgr -nP show assoc where cluster=small wopl \\
  format=Account,User,GrpTRESMins,GrpTRESRunMins,GrpWall,MaxSubmitJobs,MaxWall,MaxTRESPerJob,GrpJobsAccrue,Priority
step account sacctmgr -nP show account withcoord format=Account,Description,Organization,Coordinators
step user sacctmgr -nP show user format=User,DefaultAccount,AdminLevel
"""


# Where there is nothing to do, no command for it is called either: sacctmgr would refuse this one.
IDLE = """sed 's/"-iQ", /"-iQ", "refused", /' /usr/local/sbin/clustergen-accounts >/run/idle
step idle python3 -I /run/idle"""


def check_database(output: dict[str, str]) -> None:
    """Checks the QOS, accounts and users in the real database."""
    qos = set(output["qos"].splitlines())
    assert {
        "normal|10|low|cluster|00:00:00||1.000000||",
        "high|100|low,normal|cluster|00:00:00|2-00:00:00|1.000000|cpu=64,gres/gpu=16|",
        "low|0||requeue|00:02:00||0.250000||DenyOnLimit",
    } <= qos
    high = "00:10:00|40|400|30-00:00:00|5|50|gres/gpu=32|gres/gpu=1|mem=1T|gres/gpu=100000|4|cpu=15|2.000000"
    assert high in output["high"].splitlines()
    rows = set(output["assoc"].splitlines())
    assert "root|||1|||normal|" in {row.replace("root||||", "root|||1|") for row in rows}
    # vision states no QOS: those of science, and its default; so does alice, but for bob, who has a list of his own.
    assert "science|root||70|||low,normal|low" in rows
    assert "vision|science||30|3|gres/gpu=8,mem=6G|low,normal|low" in rows
    assert "vision||alice|1|3||low,normal|low" in rows
    assert "vision||bob|3|1||low|low" in rows
    assert {"ops|root||1|||high,normal|high", "ops||alice|1|||high,normal|high"} <= rows
    assert {"plain|root||1|||normal|", "plain||dave|1|||normal|"} <= rows
    limits = set(output["limits"].splitlines())
    assert "vision||gres/gpu=600000||||||7|" in limits
    assert "science|||cpu=5000|02:00:00|100|1-00:00:00|gres/gpu=4||" in limits
    assert "ops||||||||| 7".replace(" ", "") in limits
    accounts = set(output["account"].splitlines())
    assert "science|all of science|faculty (a & b)|alice" in accounts
    assert "vision|vision|science|alice" in accounts
    assert {row.split("|")[3] for row in accounts if row.startswith(("ops|", "plain|", "root|"))} == {""}
    assert {"alice|ops|Operator", "bob|vision|None", "dave|plain|None"} <= set(output["user"].splitlines())


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_a_new_database_is_as_the_manifest_says_and_stays_so(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = f"""
step names clustergen-accounts names
controller
step all clustergen-accounts
step again clustergen-accounts
{IDLE}
{SHOW}"""
    result = run(slurm, tmp_path, script)
    assert result["idle"] == "unchanged\nstatus 0"
    assert result["names"].endswith("changed\nstatus 0")
    # slurmctld starts with partitions that name QOS and accounts, and has no word against them.
    assert "fatal" not in result["slurmctld"]
    assert "QOS" not in result["slurmctld"]
    assert "No association for account" not in result["slurmctld"]
    assert result["all"].endswith("changed\nstatus 0")
    assert result["again"] == "unchanged\nstatus 0"
    check_database(result)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_changes_by_hand_and_removed_limits_are_corrected(slurm: SlurmInstall, tmp_path: Path) -> None:
    script = f"""
clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null
for change in \\
  'modify qos where name=high set Preempt=low MaxTRESPerUser=cpu=1,mem=5 GrpTRES=gres/gpu=1 Flags=NoDecay' \\
  'modify qos where name=high set MaxWall=5 Priority=1 GrpJobs=9 UsageThreshold=0.5 MinTRESPerJob=cpu=2' \\
  'modify qos where name=normal set Preempt=' 'modify qos where name=low set Preempt=normal' \\
  'modify account where name=root set QOS=normal,high,low DefaultQOS=high MaxJobs=2 GrpTRES=cpu=9 Fairshare=7' \\
  'modify account where name=vision set parent=root GrpTRES=cpu=5 MaxJobs=9 Fairshare=1 QOS=high DefaultQOS=high' \\
  'modify account where name=science set QOS=high DefaultQOS=high GrpTRESMins=cpu=9 MaxWall=5' \\
  'modify user where name=alice account=vision set QOS=high,low DefaultQOS=high MaxJobs=99' \\
  'modify user where name=dave set QOS=+high AdminLevel=administrator' \\
  'remove coordinator account=science names=alice' 'add coordinator account=ops names=bob' \\
  'add qos theirs' 'add account other' 'add user carol account=vision' 'remove user bob where account=vision'; do
  sacctmgr -iQ $change >/dev/null || echo "not done: $change"
done
step all clustergen-accounts
step again clustergen-accounts
{SHOW}"""
    result = run(slurm, tmp_path, script)
    assert result["all"].endswith("changed\nstatus 0")
    assert result["again"] == "unchanged\nstatus 0"
    check_database(result)
    rows = result["assoc"].splitlines()
    assert any(row.startswith("theirs|") for row in result["qos"].splitlines())
    assert {"alice", "bob", "carol"} == {row.split("|")[2] for row in rows if row.startswith("vision|")} - {""}
    assert any(row.startswith("other|root|") for row in rows)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_slurmctld_refuses_a_qos_that_an_account_does_not_inherit(slurm: SlurmInstall, tmp_path: Path) -> None:
    """AccountingStorageEnforce has qos: a job of nlp, below research, with a QOS that research does not have."""
    accounts = {
        "research": {"qos": ["normal", "low"], "default_qos": "low"},
        "nlp": {"parent": "research", "users": ["root"]},
        "ops": {"qos": ["normal", "high"], "users": ["root"]},
    }
    script = """
clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null
submit() { for qos in high normal low; do step "$1-$2-$qos" sbatch -A $2 --qos=$qos --gpus=1 --wrap true; done; }
submit first nlp; submit first ops
step first-nlp- sbatch -A nlp --gpus=1 --wrap true
step queue squeue -h -o '%a %q'
sacctmgr -iQ modify account where name=research set QOS=normal,low,high DefaultQOS=normal >/dev/null
sacctmgr -iQ modify account where name=nlp set QOS=normal,low,high >/dev/null
submit open nlp
clustergen-accounts >/dev/null
submit again nlp
sacctmgr -iQ modify user where name=root account=nlp set QOS=low DefaultQOS=low >/dev/null
clustergen-accounts >/dev/null
submit inherited nlp
shown() { scontrol -o show assoc_mgr | grep 'Account=nlp U.*=root' | grep -oE '(Priority|MaxJobs|MaxTRESPJ)=[^( ]*'; }
until_shown() { for _ in {1..300}; do shown | grep -qx "$1" && break; sleep 0.1; done; }
limit() { # limit BEFORE AFTER NAME LINE: slurmctld gets it a moment later
  sed -i "s/$1/$2/" /etc/clustergen/accounts.json; clustergen-accounts >/dev/null; until_shown "$4"; step "$3" shown
}
limit '"DefaultQOS": "low"' '&, "MaxJobs": "5", "MaxTRESPerJob": "cpu=8", "Priority": "7"' limited MaxJobs=5
limit ', "MaxJobs": "5", "MaxTRESPerJob": "cpu=8", "Priority": "7"' '' unlimited MaxJobs=
"""
    qos: dict[str, Any] = {"high": {"priority": 100}, "low": {}}
    result = run(slurm, tmp_path, script, qos=qos, accounts=accounts, users={}, partitions={})
    accepted = [name for name, text in result.items() if text.startswith("Submitted")]
    assert [name for name in accepted if name.startswith("first")] == [
        "first-nlp-normal",
        "first-nlp-low",
        "first-ops-high",
        "first-ops-normal",
        "first-nlp-",
    ]
    assert "Invalid qos specification" in result["first-nlp-high"]
    assert sorted(result["queue"].splitlines()[:-1]) == ["nlp low", "nlp low", "nlp normal", "ops high", "ops normal"]
    # Opened by hand, and closed by the script: for jobs that are submitted from now on, without a restart.
    assert "open-nlp-high" in accepted
    assert [name for name in accepted if name.startswith("again")] == ["again-nlp-normal", "again-nlp-low"]
    # A list that the user had for himself is taken back, and he has that of research again.
    assert [name for name in accepted if name.startswith("inher")] == ["inherited-nlp-normal", "inherited-nlp-low"]
    # The users of nlp inherit limits of research, and their end.
    assert result["limited"].split() == ["Priority=7", "MaxJobs=5", "MaxTRESPJ=cpu=8", "status", "0"]
    assert result["unlimited"].split() == ["Priority=0", "MaxJobs=", "MaxTRESPJ=", "status", "0"]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_limits_of_root_hold_until_the_manifest_states_them_no_more(slurm: SlurmInstall, tmp_path: Path) -> None:
    """Root's coordinators are those of every cluster of the database: they go only where the manifest names root."""
    qos: dict[str, Any] = {"high": {}}
    below: dict[str, Any] = {"science": {"users": ["alice"]}, "ops": {"qos": ["high"], "users": ["bob"]}}
    root = {"max_jobs": 4, "group_tres": {"cpu": 64}, "fairshare": 5, "coordinators": ["alice"]}
    (tmp_path / "first").mkdir()
    stated = {"mpi_default": "pmi2", "qos": qos, "accounts": {"root": root, **below}}
    first = cluster(tmp_path / "first", slurm.release, slurm=stated)
    script = f"""
cat >/run/first.json <<'END'
{text_of(first, "head", VALUES)}
END
show() {{
  step $1 sacctmgr -nP show assoc where cluster=small account=root user= wopl format=Fairshare,MaxJobs,GrpTRES,QOS
  step $1-coordinators sacctmgr -nP show account withcoord format=Account,Coordinators
}}
clustergen-accounts names >/dev/null; controller
step with accounts_of /run/first.json
show stated
step without clustergen-accounts
show gone
step again clustergen-accounts
"""
    result = run(slurm, tmp_path, script, qos=qos, accounts=below, users={}, partitions={})
    assert result["with"].endswith("changed\nstatus 0")
    assert result["stated"].splitlines()[0] == "5|4|cpu=64|normal"
    assert result["without"].endswith("changed\nstatus 0")
    assert result["gone"].splitlines()[0] == "1|||normal"
    assert "root|alice" in result["gone-coordinators"].splitlines()
    assert result["again"] == "unchanged\nstatus 0"


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_manual_steps_of_diff_can_be_pasted(slurm: SlurmInstall, tmp_path: Path) -> None:
    """sacctmgr removes no account that is somebody's default (22.05 does, and leaves them without any)."""
    all_users = {"vision": ["alice", "bob", "carol"], "physics": ["dave", "erin"], "ops": ["alice", "bob", "dave"]}
    fewer = {"vision": ["alice"], "ops": ["alice", "bob", "dave"]}
    sides = []
    for name, users in (("old", all_users), ("new", fewer)):
        (tmp_path / name).mkdir()
        sections = {"mpi_default": "pmi2", "accounts": {account: {"users": names} for account, names in users.items()}}
        sides.append(cluster(tmp_path / name, slurm.release, slurm=sections))
    manifests = (str(tmp_path / name / "manifest.yaml") for name in ("old", "new"))
    (plan,) = json.loads(CliRunner().invoke(group, ["diff", *manifests, "--format", "json"]).stdout)["clusters"]
    commands = plan["steps"][-1]["text"].partition(": ")[2].split("; ")
    first, second = (text_of(side, "head", VALUES) for side in sides)
    pasted = "\n".join(f"step {n} sacctmgr -iQ {each.removeprefix('sacctmgr ')}" for n, each in enumerate(commands))
    script = f"""
cat >/run/first.json <<'END'
{first}
END
cat >/run/second.json <<'END'
{second}
END
accounts_of /run/first.json names >/dev/null; controller; accounts_of /run/first.json >/dev/null
step second accounts_of /run/second.json
{pasted}
step users sacctmgr -nP show assoc where cluster=small format=User,Account
step defaults sacctmgr -nP show user format=User,DefaultAccount
"""
    result = run(slurm, tmp_path, script, qos={}, accounts={}, users={}, partitions={})
    assert commands[0] == "sacctmgr modify user where name=bob,dave cluster=small set DefaultAccount=ops"
    outputs = {command: result[str(n)] for n, command in enumerate(commands)}
    assert {command: text for command, text in outputs.items() if not text.endswith("status 0")} == {}
    rows = [row for row in result["users"].splitlines() if row.partition("|")[0] not in ("", "root", "status 0")]
    assert sorted(rows) == ["alice|ops", "alice|vision", "bob|ops", "dave|ops"]
    assert {"alice|vision", "bob|ops", "dave|ops"} <= set(result["defaults"].splitlines())


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_names_with_capitals_are_those_that_slurm_keeps(slurm: SlurmInstall, tmp_path: Path) -> None:
    """sacctmgr makes lower case of names, and fails where it is to add one that exists."""
    qos: dict[str, Any] = {"Gold": {"preempt": ["Low"]}, "Low": {}}
    texts = {"description": "a; rm -rf /tmp/x & {{ y }} #", "organization": "x | y > z"}
    accounts = {
        "Physics": {"qos": ["Gold", "normal"], "default_qos": "Gold", "users": ["dave"], **texts},
        "Optics": {"parent": "Physics", "users": ["dave", "root"], "user_limits": {"root": {"qos": ["Gold"]}}},
    }
    script = f"""
step names clustergen-accounts names
controller
step all clustergen-accounts
step again clustergen-accounts
{IDLE}
step qos sacctmgr -nP show qos format=Name,Preempt
step assoc sacctmgr -nP show assoc where cluster=small wopl format=Account,ParentName,User,QOS,DefaultQOS
step job sbatch -A Optics --qos=Gold --gpus=1 --wrap true
"""
    partitions = {"main": {"nodes": "all", "default": True, "allow_accounts": ["Optics"], "allow_qos": ["Gold"]}}
    users = {"dave": {"default_account": "Optics"}}
    result = run(slurm, tmp_path, script, qos=qos, accounts=accounts, users=users, partitions=partitions)
    assert [result[step].splitlines()[-1] for step in ("names", "all")] == ["status 0", "status 0"], result
    assert result["again"] == result["idle"] == "unchanged\nstatus 0"
    assert {"gold|low", "low|"} <= set(result["qos"].splitlines())
    rows = {"physics|root||gold,normal|gold", "optics|physics|||", "optics||dave||", "optics||root|gold|"}
    assert rows <= set(result["assoc"].splitlines())
    assert result["job"].startswith("Submitted")


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.many
def test_two_qos_change_places(slurm: SlurmInstall, tmp_path: Path) -> None:
    qos = {"a": {"preempt": ["b"]}, "b": {}}
    turn = "sacctmgr -iQ modify qos where name=a set Preempt=; sacctmgr -iQ modify qos where name=b set Preempt=a"
    filled = "clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null"
    script = f"{filled}\n{turn}\nstep all clustergen-accounts"
    assert run(slurm, tmp_path, script, qos=qos, accounts={}, users={}, partitions={})["all"].endswith(
        "changed\nstatus 0"
    )


@pytest.mark.real
@pytest.mark.slow
def test_without_the_resources_of_slurmctld_it_says_what_is_missing(
    current_slurm: SlurmInstall, tmp_path: Path
) -> None:
    hasty = "sed -i 's/^WAIT_SECONDS = 60/WAIT_SECONDS = 1/' /usr/local/sbin/clustergen-accounts"
    script = f"{hasty}\nstep all clustergen-accounts\nstep odd clustergen-accounts now"
    result = run(current_slurm, tmp_path, script)
    assert "slurmdbd does not know gres/gpu: start slurmctld, which tells it\nstatus 1" in result["all"]
    assert result["odd"] == "clustergen-accounts: no such step: now\nstatus 1"


@pytest.mark.real
@pytest.mark.slow
def test_a_cluster_without_accounts_has_its_name_in_the_database(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    show = "step show sacctmgr -nP show cluster format=cluster"
    script = f"step all clustergen-accounts\nstep again clustergen-accounts\n{show}"
    result = run(current_slurm, tmp_path, script, qos={}, accounts={}, users={}, partitions={})
    assert (result["again"], result["show"]) == ("unchanged\nstatus 0", "small\nstatus 0")


def test_parents_come_before_their_children() -> None:
    values = {
        "c": Account(parent="b"),
        "x": Account(parent="y"),
        "b": Account(parent="a"),
        "a": Account(),
        "y": Account(parent="x"),
    }
    order = [name for name, _ in parents_first(values)]
    assert order[:3] == ["a", "b", "c"]
    assert set(order) == set(values)


@pytest.mark.parametrize("value", ["two\nlines", "a\x00b"])
def test_control_characters_are_refused(value: str) -> None:
    from clustergen.render.formats import shell_word

    with pytest.raises(RenderError):
        shell_word(f"Description={value}")


# --- federations ------------------------------------------------------------------------------------------------------

# Two controllers on one machine: the second has its own configuration, state and ports, and slurmdbd of the first.
SECOND = """
mkdir -p /opt/two /run/two; cp -r /etc/slurm/. /opt/two
cp /run/clustergen/two.conf /opt/two/slurm.conf
mkdir -p /var/lib/slurm/two; chown -R slurm /var/lib/slurm /opt/two /run/two
for file in /etc/slurm/slurm.conf /opt/two/slurm.conf; do
  sed -i -E 's/^(TaskProlog|Prolog|Epilog|Health).*//' $file
done
sed -i 's#^StateSaveLocation=.*#StateSaveLocation=/var/lib/slurm/two#; s#^Slurmctld(Log|Pid)File=.*##' -E \\
  /opt/two/slurm.conf
echo SlurmctldPidFile=/run/two/slurmctld.pid >>/opt/two/slurm.conf # slurmctld ends the one whose number the file has
clustergen-accounts names >/dev/null; controller
SLURM_CONF=/opt/two/slurm.conf accounts_of /run/clustergen/two.json names >/dev/null
SLURM_CONF=/opt/two/slurm.conf slurmctld -D >/run/clustergen/second.log 2>&1 &
until_log 'Running as primary controller|fatal' /run/clustergen/second.log
"""


@pytest.mark.real
@pytest.mark.slow
def test_two_clusters_with_one_slurmdbd_are_a_federation(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(current_slurm.version.split(".")[:2])
    common = {"mpi_default": "pmi2", "federation": "campus", "accounting": {"enforce": []}}
    first = cluster(tmp_path, release, slurm=common)
    shared = {"enforce": [], "slurmdbd": "head"}
    ports = {"slurmctld": 6827, "slurmd": 6828}
    head = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller"]}
    second = cluster(
        tmp_path,
        release,
        nodes=[head, {"name": "c[1-2]", "type": "gpu", "address": "10.0.0.[11-12]"}],
        slurm={
            "mpi_default": "pmi2",
            "federation": "campus",
            "cluster_name": "two",
            "ports": ports,
            "accounting": shared,
        },
    )
    steps = """
step first clustergen-accounts
SLURM_CONF=/opt/two/slurm.conf step second accounts_of /run/clustergen/two.json
step again clustergen-accounts
step members sacctmgr -nP show federation format=Federation,Cluster
for _ in {1..300}; do timeout 30 scontrol show federation | grep -q Sibling && break; sleep 0.1; done
step siblings timeout 60 scontrol show federation
step remote timeout 60 sbatch --parsable -M two -J remote --wrap true
step there timeout 60 squeue -h -M two -n remote -o %j
step federated timeout 60 sbatch --parsable -J federated --wrap true
step everywhere timeout 60 squeue -h --federation -n federated -o %i
"""
    box = sandbox.Sandbox(
        current_slurm.path,
        files=((lay_out(first, "head", tmp_path / "root"), "/"),),
        empty=("/etc/slurm", "/opt"),
        hosts="10.0.0.1 head\n10.0.0.11 c1\n10.0.0.12 c2\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    notes = {
        "script": DAEMONS + SECOND + steps,
        "two.conf": text_of(second, "head", "/etc/slurm/slurm.conf"),
        "two.json": text_of(second, "head", VALUES),
    }
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=400, notes=notes)
    outputs = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in done.stdout.split("== ")[1:]}
    assert outputs["first"].endswith("changed\nstatus 0"), outputs
    assert outputs["second"].endswith("changed\nstatus 0"), outputs
    assert outputs["again"] == "unchanged\nstatus 0"
    assert set(outputs["members"].splitlines()) == {"campus|small", "campus|two|", "status 0"}
    assert "Sibling:" in outputs["siblings"], outputs
    assert outputs["there"].startswith("remote\n"), outputs
    number = int(outputs["federated"].split("\n")[0].partition(";")[0])
    assert number > 1 << 26, "the number of a federated job has the cluster's in it"
    assert str(number) in outputs["everywhere"], outputs


BY_HAND = """
step refused true
for change in \\
  'modify qos where name=high set Priority=7 GrpTRES=gres/gpu=1' \\
  'modify account where name=vision set parent=root Fairshare=1' 'add coordinator account=ops names=bob' \\
  'modify user where name=dave set AdminLevel=administrator' \\
  'modify user where name=bob account=vision set MaxJobs=9' 'delete qos where name=spare' 'add qos other' \\
  'add account apart' 'add user carol account=vision' 'add user carol,dave account=apart'; do
  sacctmgr -iQ $change >/dev/null || echo "not done: $change"
done
"""
CHANGES = [
    "QOS high Priority|7|100",
    "QOS high GrpTRES|gres/gpu=1|",
    "QOS spare|missing|",
    "account vision parent|root|science",
    "account vision Fairshare|1|30",
    "user bob in vision MaxJobs|9|1",
    "account ops coordinator bob|present|none",
    "user dave AdminLevel|Administrator|None",
]
UNLISTED = ["account apart", "user carol in vision", "user carol in apart", "user dave in apart"]


def check_of(text: str) -> tuple[list[str], list[str]]:
    """Differences, and entities that the manifest does not name, of `clustergen-accounts check`."""
    *lines, last = text.removesuffix("\nstatus 0").split("\n")
    assert last == "compared"
    rows = [line.split("\t") for line in lines]
    return ["|".join(row[1:]) for row in rows if row[0] == "differs"], [row[1] for row in rows if row[0] == "unlisted"]


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("removes", [False, True], ids=["keep", "remove"])
def test_a_check_names_changes_by_hand_and_what_is_repaired(slurm: SlurmInstall, tmp_path: Path, removes: bool) -> None:
    script = f"""
clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null
step clean clustergen-accounts check
{BY_HAND}
{"sacctmgr -iQ modify user where name=dave set DefaultAccount=apart >/dev/null" if removes else ""}
step check clustergen-accounts check
step twice clustergen-accounts check
step all clustergen-accounts
step after clustergen-accounts check
{SHOW}"""
    section = {"unlisted_accounts": "remove"} if removes else {}
    result = run(slurm, tmp_path, script, qos={**QOS, "spare": {"priority": 5}}, **section)
    assert check_of(result["clean"]) == ([], [])
    assert result["refused"] == "status 0"
    assert result["check"] == result["twice"]
    differs, unlisted = check_of(result["check"])
    owned = [f"{name}|not in the manifest|" for name in UNLISTED] if removes else []
    assert {*CHANGES, *owned} <= set(differs)
    assert set(unlisted) == {"QOS other", *(() if removes else UNLISTED)}
    assert result["all"].endswith("changed\nstatus 0")
    assert check_of(result["after"]) == ([], unlisted)
    check_database(result)
    users = {row.split("|")[2] for row in result["assoc"].splitlines() if row.startswith(("vision|", "apart|"))}
    assert ("carol" in users) is not removes
    assert any(row.startswith("apart|") for row in result["assoc"].splitlines()) is not removes
