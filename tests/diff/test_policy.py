"""Changes of accounts and QOS, setting by setting, for a reviewer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from strategies.diffs import MANIFEST, diff, write

POLICY = """\
  qos:
    normal: {priority: 1}
    high: {priority: 5, max_jobs_per_user: 4, max_tres_per_user: {gres/gpu: 16}}
  accounts:
    research: {qos: [normal, high], coordinators: [alice]}
    vision: {parent: research, users: [alice, bob], group_tres_minutes: {gres/gpu: 600}}
  users: {alice: {admin_level: operator}}
"""


def changes(tmp_path: Path, *edits: tuple[str, str]) -> dict[tuple[str, str, str | None], tuple[Any, Any]]:
    """Kind, name and key → old and new value, of all changes of accounts."""
    old = write(tmp_path / "a", text=MANIFEST + POLICY)
    new = write(tmp_path / "b", *edits, text=MANIFEST + POLICY)
    (cluster,) = json.loads(diff(old, new, "--format", "json").stdout)["clusters"]
    result = [change for change in cluster["changes"] if change["file"].endswith("accounts.json")]
    assert {change["effects"][0]["kind"] for change in result} <= {"load-accounts"}
    return {(change["kind"], change["name"], change["key"]): (change["old"], change["new"]) for change in result}


GROUPS = """\
  qos:
    normal: {priority: 1}
    scavenger: {priority: 0}
    high: {priority: 5}
  accounts:
    research: {qos: [normal, scavenger], default_qos: normal, group_tres: {gres/gpu: 8}}
    language: {parent: research, users: [carol, erin]}
    operations: {qos: [normal, high], default_qos: high, max_jobs: 4, users: [dave]}
"""
LANGUAGE = "{parent: research, users: [carol, erin]}"


def pending(tmp_path: Path, edit: tuple[str, str]) -> dict[str, str]:
    """Sentence → reason."""
    old = write(tmp_path / "a", text=MANIFEST + GROUPS)
    new = write(tmp_path / "b", edit, text=MANIFEST + GROUPS)
    (cluster,) = json.loads(diff(old, new, "--format", "json").stdout)["clusters"]
    waiting = [each for change in cluster["changes"] for each in change["pending"]]
    assert waiting == cluster["pending"]
    assert ("no job is lost" in cluster["verdict"]) is not bool(waiting)
    return {each["text"]: each["reason"] for each in waiting}


def lost(who: str, left: str, heirs: str = "") -> dict[str, str]:
    inherits = f"; also those of {heirs}, which inherit it" if heirs else ""
    return {f"pending jobs of {who} with a QOS other than {left} may wait{inherits}": "InvalidQOS"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (
            ("language: {parent: research", "language: {parent: operations"),
            lost("account language", "normal,high")
            | {"pending jobs of account language wait while 4 of a user run": "AssocMaxJobsLimit"},
        ),
        ((LANGUAGE, LANGUAGE.replace("users", "qos: [normal], users")), lost("account language", "normal")),
        (
            (LANGUAGE, LANGUAGE[:-1] + ", user_limits: {carol: {qos: [normal], max_jobs: 1}}}"),
            lost("user carol in language", "normal")
            | {"pending jobs of user carol in language wait while 1 of them run": "AssocMaxJobsLimit"},
        ),
        # Once, with the accounts that inherit the list.
        (("[normal, scavenger]", "[normal]"), lost("account research", "normal", heirs="language")),
        (
            (", group_tres: {gres/gpu: 8}", ", group_tres: {gres/gpu: 4}"),
            {"pending jobs of account research beyond gres/gpu=4 wait": "AssocGrpGRES"},
        ),
        (
            ("language: {parent: research", "language: {qos: [normal, scavenger, high], parent: operations"),
            {"pending jobs of account language wait while 4 of a user run": "AssocMaxJobsLimit"},
        ),
        (("operations: {qos", "operations: {parent: research, group_tres: {gres/gpu: 8}, qos"),
         {"pending jobs of account operations beyond gres/gpu=8 wait": "AssocGrpGRES"}),
        ((LANGUAGE, LANGUAGE.replace("users", "qos: [normal, scavenger], users")), {}),  # as it inherited
        ((LANGUAGE, LANGUAGE.replace("users", "group_tres: {gres/gpu: 9}, users")), {}),  # research has 8
        ((", max_jobs: 4", ""), {}),
        (
            ("{gres/gpu: 8}", "{gres/gpu: 8}, group_tres_minutes: {gres/gpu: 600, mem: 1GiB}"),
            {"pending jobs of account research wait once its jobs have used gres/gpu=600,mem=1024 minutes":
             "AssocGrpGRESMinutes, AssocGrpMemMinutes"},
        ),
        (
            ("priority: 0", "priority: 0, max_tres_per_node: {cpu: 4, license/matlab: 1}, group_wall: 1d"),
            {"pending jobs of QOS scavenger that ask for more than cpu=4,license/matlab=1 on a node wait":
             "QOSMaxCpuPerNode, QOSMaxUnknownPerNode",
             "pending jobs of QOS scavenger wait once its jobs have run for 1-00:00:00 together": "QOSGrpWallLimit"},
        ),
    ],
)  # fmt: skip
def test_jobs_beyond_what_is_left_with_what_is_inherited_wait(
    tmp_path: Path, edit: tuple[str, str], expected: dict[str, str]
) -> None:
    assert pending(tmp_path, edit) == expected


@pytest.mark.slow
def test_limits_lost_with_a_parent_are_shown_with_the_parent(tmp_path: Path) -> None:
    edits = (("research: {", "research: {fairshare: 5, "), ("{parent: research", "{parent: operations"))
    old, new = (write(tmp_path / name, *some, text=MANIFEST + GROUPS) for name, some in (("a", ()), ("b", edits)))
    (cluster,) = json.loads(diff(old, new, "--format", "json").stdout)["clusters"]
    assert {change["key"] for change in cluster["changes"] if change["pending"]} == {"Parent"}


@pytest.mark.slow
def test_limits_that_change_come_and_go(tmp_path: Path) -> None:
    edits = (
        ("max_jobs_per_user: 4, max_tres_per_user: {gres/gpu: 16}", "max_jobs_per_user: 2, max_wall: 1d"),
        ("{gres/gpu: 600}}", "{gres/gpu: 900}, user_limits: {bob: {max_jobs: 1}}}"),
    )
    assert changes(tmp_path, *edits) == {
        ("qos", "high", "MaxJobsPerUser"): ("4", "2"),
        ("qos", "high", "MaxTRESPerUser"): ("gres/gpu=16", None),
        ("qos", "high", "MaxWallDurationPerJob"): (None, "1-00:00:00"),
        ("account", "vision", "GrpTRESMins"): ("gres/gpu=600", "gres/gpu=900"),
        ("user", "bob in vision", "MaxJobs"): (None, "1"),
    }


@pytest.mark.slow
def test_rights_that_change(tmp_path: Path) -> None:
    edits = (
        ("qos: [normal, high], coordinators: [alice]", "qos: [normal]"),
        ("admin_level: operator", "default_account: vision"),
        ("users: [alice, bob]", "users: [alice, bob, carol]"),
    )
    assert changes(tmp_path, *edits) == {
        ("account", "research", "QOS"): ("normal,high", "normal"),
        ("account", "research", "Coordinators"): ("alice", None),
        ("account", "vision", "Coordinators"): ("alice", None),
        ("user", "alice", "AdminLevel"): ("Operator", None),
        ("user", "alice", "DefaultAccount"): (None, "vision"),
        ("user", "carol in vision", None): (None, ""),
    }


ROOT = "    root: {qos: [normal, high], group_tres: {gres/gpu: 8}, fairshare: 5, coordinators: [carol]}\n"
GROUPS_OF_ROOT = """\
  qos:
    normal: {priority: 1}
    high: {priority: 5}
  accounts:
    research: {users: [carol]}
    language: {parent: research}
    operations: {qos: [normal, high], users: [dave]}
"""


def plan_of(directory: Path, old: str, new: str) -> dict[str, Any]:
    """The document of one cluster; the texts come behind the small manifest."""
    sides = [write(directory / name, text=MANIFEST + text) for name, text in (("a", old), ("b", new))]
    (cluster,) = json.loads(diff(*sides, "--format", "json").stdout)["clusters"]
    assert isinstance(cluster, dict)
    return cluster


@pytest.mark.slow
def test_limits_removed_from_root_are_reset_and_their_heirs_named(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, GROUPS_OF_ROOT.replace("  accounts:\n", f"  accounts:\n{ROOT}"), GROUPS_OF_ROOT)
    of_root = {change["key"]: (change["old"], change["new"]) for change in plan["changes"] if change["name"] == "root"}
    assert of_root == {
        "Fairshare": ("5", None),
        "GrpTRES": ("gres/gpu=8", None),
        "QOS": ("normal,high", "normal"),
        "Coordinators": ("carol", None),
    }
    text = "pending jobs of account root with a QOS other than normal may wait; also those of research, language"
    assert plan["pending"] == [{"text": f"{text}, which inherit it", "reason": "InvalidQOS"}]
    # Coordinators are those of all clusters of the database, so only the step by hand removes them.
    assert plan["steps"][-1]["text"].endswith(": sacctmgr remove coordinator account=root names=carol")


@pytest.mark.slow
def test_without_any_account_root_is_reset_by_hand(tmp_path: Path) -> None:
    old = GROUPS_OF_ROOT.replace("  accounts:\n", f"  accounts:\n{ROOT}")
    step = plan_of(tmp_path, old, old.partition("  accounts:")[0])["steps"][-1]
    assert step["by"] == "manual"
    assert step["text"].endswith(
        "; sacctmgr modify account where name=root cluster=small set Fairshare=1 GrpTRES=gres/gpu=-1 QOS=normal"
        "; sacctmgr remove coordinator account=root names=carol"
    )


@pytest.mark.slow
def test_without_any_qos_the_lists_are_reset_by_hand(tmp_path: Path) -> None:
    """The script leaves the rights of accounts alone where the manifest says nothing about QOS."""
    old = "  accounts: {research: {qos: [normal], users: [carol]}}\n"
    plan = plan_of(tmp_path, old, "  accounts: {research: {users: [carol]}}\n")
    assert [change["key"] for change in plan["changes"] if change["kind"] in ("account", "user")] == []
    assert plan["steps"][-1]["text"].endswith(": sacctmgr modify account where name=research cluster=small set QOS=")


@pytest.mark.slow
@pytest.mark.parametrize("under", ["research", "operations"])
def test_another_parent_says_nothing_of_root(tmp_path: Path, under: str) -> None:
    moved = GROUPS_OF_ROOT.replace("operations: {qos: [normal, high],", "operations: {parent: research,")
    moved = moved.replace("research: {", "research: {qos: [normal, high], ")  # nobody inherits from root any more
    plan = plan_of(tmp_path, *((GROUPS_OF_ROOT, moved) if under == "research" else (moved, GROUPS_OF_ROOT)))
    assert "root" not in {change["name"] for change in plan["changes"]}


@pytest.mark.slow
def test_functions_of_the_script_are_no_users(tmp_path: Path) -> None:
    root = "  accounts:\n    root: {qos: [normal, high]}\n"
    old = write(tmp_path / "a", text=MANIFEST + GROUPS.replace("  accounts:\n", root))
    new = write(tmp_path / "b", text=MANIFEST + GROUPS.replace("  accounts:\n", root.replace(", high", "")))
    assert "$" not in diff(old, new, "--format", "json").stdout
