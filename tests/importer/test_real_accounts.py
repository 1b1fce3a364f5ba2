"""A database that real sacctmgr has filled and dumps becomes a manifest, whose script leaves that database as it is."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from clustergen.compile import render, validate
from clustergen.importer.directory import import_directory
from clustergen.manifest.source import load
from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.slurm_trees import cluster
from strategies.trees import lay_out, text_of

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.many]

QOS: dict[str, Any] = {
    "normal": {"description": "everyday work", "priority": 10, "preempt": ["low"]},
    "high": {
        "priority": 100,
        "preempt": ["low", "normal"],
        "max_wall": "2-00:00:00",
        "max_jobs_per_user": 4,
        "max_submit_per_user": 9,
        "max_tres_per_user": {"cpu": 64, "gres/gpu": 16, "mem": 1000},
        "max_tres_per_job": {"gres/gpu:h100": 8},
        "group_tres": {"mem": 8 << 20},
    },
    "low": {"priority": 0, "usage_factor": 0.25, "grace_time": "00:02:00", "preempt_mode": "requeue"},
    "2024_late": {
        "priority": 0,
        "flags": ["DenyOnLimit", "NoDecay"],
        "exempt_time": "00:10:00",
        "max_jobs_per_account": 5,
        "max_submit_per_account": 50,
        "max_tres_per_account": {"gres/gpu": 32},
        "min_tres_per_job": {"cpu": 2},
        "max_tres_per_node": {"mem": 1000},
        "max_tres_minutes_per_job": {"gres/gpu": 100000},
        "group_jobs": 40,
        "group_submit": 400,
        "group_tres_minutes": {"cpu": 9, "gres/gpu": 7},
        "group_tres_run_minutes": {"cpu": 3},
        "group_wall": "30-00:00:00",
    },
}
ACCOUNTS: dict[str, Any] = {
    "ops": {"fairshare": 1, "qos": ["high", "normal"], "default_qos": "high", "users": ["alice"]},
    "science": {
        "description": "all of science",
        "organization": "faculty (a & b)",
        "fairshare": 70,
        "qos": ["2024_late", "normal"],
        "default_qos": "2024_late",
        "coordinators": ["bob"],
        "max_submit": 100,
        "max_wall": "1-00:00:00",
        "group_wall": "02:00:00",
        "group_submit": 500,
        "group_tres_run_minutes": {"cpu": 5000},
        "max_tres_per_job": {"gres/gpu": 4},
        "max_tres_per_node": {"cpu": 40},
        "max_tres_minutes_per_job": {"cpu": 70},
    },
    "2024-07": {
        "parent": "science",
        "fairshare": 2147483647,
        "users": ["alice", "bob"],
        "group_tres": {"gres/gpu:h100": 4, "gres/gpu": 8, "mem": 1000},
        "group_tres_minutes": {"gres/gpu": 600000},
        "max_jobs": 3,
        "priority": 7,
        "options": {"GrpJobsAccrue": 7},
        "user_limits": {"alice": {"max_jobs": 1, "qos": ["normal"]}},
    },
}
USERS = {"alice": {"default_account": "2024-07"}}
_BY_HAND = r"""
clustergen-accounts names >/dev/null; controller; clustergen-accounts >/dev/null
sm() { sacctmgr -iQ "$@" >/dev/null || echo "not done: $*"; }
sm add account old description='left: by `hand`' qos=normal
sm add account older parent=old
sm modify account where name=older set qos+=low maxjobs=2
sm add user carol account=older
sm modify account where name=science set GrpJobs=4
sm modify account where name=root set QOS=normal,low
sm modify qos where name=high set GrpJobs=7 MinTRES=gres/gpu=1 PreemptExemptTime=00:10:00
sm modify user where name=bob set adminlevel=operator fairshare=7
show() {
  sacctmgr -nP show qos
  sacctmgr -nP show assoc where cluster=small
  sacctmgr -nP show assoc where cluster=small wopl
  sacctmgr -nP show account withcoord
  sacctmgr -nP show user
}
"""
_DUMP = (
    _BY_HAND + "sacctmgr -iQ dump small file=/run/clustergen/dump >/dev/null; sacctmgr -P show qos >/run/clustergen/qos"
)
_APPLY = (
    _BY_HAND + "show >/run/clustergen/before; accounts_of /run/clustergen/imported.json; show >/run/clustergen/after"
)


def _run(install: SlurmInstall, root: Path, script: str, **notes: str) -> dict[str, str]:
    box = sandbox.Sandbox(
        install.path,
        files=((root, "/"),),
        empty=("/etc/slurm",),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    notes = {"script": DAEMONS + script, **notes}
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes=notes)
    assert done.code == 0, done.stderr
    assert "not done" not in done.stdout
    return {**done.files, "stdout": done.stdout, "stderr": done.stderr}


def _imported(tmp_path: Path, root: Path, release: str, books: list[Path]) -> tuple[dict[str, Any], Tree]:
    """The manifest's section slurm, and what it renders to."""
    import_result = import_directory(root / "etc/slurm", version=release, os="rocky-9", accounts=books)
    assert import_result.same, import_result.errors or import_result.compared
    path = tmp_path / "imported.yaml"
    path.write_text(import_result.text, encoding="utf-8")
    data = load(path).data
    tree, _ = render(validate(path), path)
    assert data is not None
    assert tree is not None
    return data["slurm"], tree


def test_a_dumped_database_comes_back(slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    before = cluster(tmp_path, release, slurm={"mpi_default": "pmi2", "qos": QOS, "accounts": ACCOUNTS, "users": USERS})
    root = lay_out(before, "head", tmp_path / "root")
    output = _run(slurm, root, _DUMP)
    books = [tmp_path / "dump", tmp_path / "qos"]
    for path in books:
        path.write_text(output[path.name])
    section, tree = _imported(tmp_path, root, release, books)
    tables = {name: {**spec} for name, spec in QOS.items()}
    tables["high"] |= {"group_jobs": 7, "min_tres_per_job": {"gres/gpu": 1}, "exempt_time": "00:10:00"}
    if release < "25.05":
        del tables["normal"]["description"]  # which the table does not say
    assert section["qos"] == tables
    books = deepcopy(ACCOUNTS)
    books["science"] |= {"group_jobs": 4}
    books["2024-07"]["user_limits"] |= {"bob": {"fairshare": 7}}
    assert section["accounts"] == {
        "root": {"qos": ["low", "normal"]},
        **books,
        "old": {"fairshare": 1, "qos": ["normal"]},
        "older": {"fairshare": 1, "parent": "old", "users": ["carol"], "qos": ["normal", "low"], "max_jobs": 2},
    }
    assert section["users"] == {**USERS, "bob": {"admin_level": "operator"}}
    after = _run(slurm, root, _APPLY, **{"imported.json": text_of(tree, "head", "/etc/clustergen/accounts.json")})
    assert after["stderr"] == ""
    assert after["before"].count("|") > 100
    assert after["before"] == after["after"]
