"""The plan of a run from all hosts' answers: nodes to drain, nodes to ask about jobs, and steps to skip."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import emptied_by
from ansible_collections.clustergen.cluster.plugins.plugin_utils.plan import NOBODY, Asked, make_plan

HOSTS = ("head", "n1", "n2")
CONF = "/etc/slurm/slurm.conf"
SLURM = """ClusterName=c
SlurmctldHost=head
GresTypes=gpu
NodeName=n[1-2] CPUs=4 RealMemory=1000 Gres=gpu:8
PartitionName=all Nodes=n[1-2] MaxTime=60
"""


def answer(host: str, **more: Any) -> dict[str, Any]:
    """A host that differs in something harmless."""
    units = ["slurmctld.service"] if host == "head" else ["slurmd.service"]
    lists = ("refuse", "reasons", "effects", "later", "empties", "vacates", "packages", "paths", "start", "drained")
    empty: dict[str, Any] = {key: [] for key in (*lists, "clients", "withdrawn", "replaced_secrets")}
    return {
        **empty,
        "boot": {"at_once": False},
        "guarded": [],
        "behind": True,
        "cancels": {},
        "windows": {},
        "elsewhere": {},
        "secrets": {},
        "together": False,
        "serving": host != "head",
        "controlling": host == "head",
        "units": units,
        "host": host,
        "last_run": "none",
        **more,
    }


def plan(
    answers: dict[str, dict[str, Any]], hosts: Iterable[str] = HOSTS, **more: Any
) -> tuple[dict[str, Any], str, list[str]]:
    drew: tuple[dict[str, Any], str, list[str]] = make_plan(answers, Asked(["head"], hosts, HOSTS, **more))
    return drew


def cluster(**more: Any) -> dict[str, dict[str, Any]]:
    return {"head": answer("head", empties=["n1", "n2"]), **{name: answer(name, **more) for name in ("n1", "n2")}}


def test_nodes_that_only_slurmctld_sees_changed_are_emptied_too() -> None:
    answers = cluster(together=True)
    answers["n2"] |= {"together": False, "behind": False}
    drew, result, wrong = plan(answers)
    assert wrong == []
    assert drew["emptied"] == ["n1", "n2"]
    assert drew["together"] == "n1,n2"
    assert "drained first: n[1-2]" in result


def test_hosts_that_may_be_in_use_take_turns() -> None:
    """Only a compute node whose slurmd is down is idle; where no host runs slurmd, nobody knows who uses it."""
    later = {"serving": False, "later": ["reboot"]}
    hosts = {
        "down": answer("down", **later),
        "job": answer("job", later=["reboot"]),
        "login": answer("login", **later | {"units": []}),
        "gpu": answer("gpu", **later | {"units": []}),
    }
    drew, message, _ = make_plan(hosts, Asked(["head"], hosts, hosts))
    assert (drew["idle"], drew["rolling"]) == ("down", "login,gpu,job")
    assert "drained first: job" in message


def test_a_node_that_cannot_be_reached_is_drained_and_not_resumed() -> None:
    answers = cluster(together=True)
    del answers["n2"]
    drew, _, wrong = plan(answers)
    assert wrong == []
    assert drew["emptied"] == ["n1", "n2"]
    assert drew["together"] == "n1"


def test_a_node_that_leaves_the_manifest_is_drained() -> None:
    answers = cluster()
    answers["head"]["empties"] = ["n3"]
    drew, _, wrong = plan(answers)
    assert (drew["emptied"], wrong) == (["n3"], [])


def test_a_node_that_is_set_to_down_is_drained_and_not_resumed() -> None:
    answers = cluster(together=True)
    answers["head"]["vacates"] = ["n2"]
    drew, _, wrong = plan(answers)
    assert (drew["emptied"], drew["resumed"], wrong) == (["n1", "n2"], "n1", [])
    assert drew["kept"] == {"n2": "its State in slurm.conf"}


def test_nodes_that_a_killed_run_drained_are_resumed_last() -> None:
    """Nodes that this run drains itself are resumed after it, and one that does not answer stays drained."""
    answers = cluster()
    answers["head"] |= {"empties": [], "drained": ["n1", "n2", "n3"]}
    drew, _, _ = plan(answers)
    assert (drew["left"], drew["returning"], drew["resumed"]) == (["n1", "n2"], "head,n1,n2", NOBODY)
    answers["n1"] |= {"together": True}
    answers["head"]["empties"] = ["n1"]
    drew, _, _ = plan(answers)
    assert (drew["left"], drew["returning"], drew["resumed"]) == (["n2"], "head,n2", "n1")


def test_a_node_with_a_new_name_is_resumed_as_the_old_one_was_drained() -> None:
    answers = cluster()
    answers["head"]["empties"] = ["n3"]
    drew, _, _ = plan(answers)
    assert drew["together"] == NOBODY
    assert drew["resumed"] == "n1,n2"


def test_a_limit_that_leaves_out_what_has_to_be_emptied_is_refused() -> None:
    _, _, wrong = plan({"head": answer("head", empties=["n1", "n2"])}, ["head"])
    assert len(wrong) == 1
    assert "no job runs on n[1-2], which are not part of this run" in wrong[0]


def test_the_controller_is_asked_about_jobs_where_the_limit_leaves_it_out() -> None:
    drew, _, wrong = plan({"n1": answer("n1", refuse=["SelectType"], together=True)}, ["n1"])
    assert wrong == []
    assert (drew["gate"], drew["emptying"], drew["controller"]) == (NOBODY, NOBODY, "head")
    assert (drew["alone"], drew["by_themselves"], drew["live"]) == ("n1", ["n1"], NOBODY)


def test_a_node_with_stale_or_wrong_facts_is_served_last_and_alone() -> None:
    lies: dict[str, Any] = {"refuse": ["SelectType"], "cancels": {"p": "goes"}, "together": True, "later": ["reboot"]}
    answers = {"head": answer("head"), "n1": answer("n1", **lies), "n2": answer("n2")}
    drew, result, wrong = plan(answers)
    assert (wrong, drew["refuse"], drew["partitions"], drew["emptied"]) == ([], [], [], [])
    for name in ("gate", "stop", "emptying", "together", "rolling"):
        assert drew[name] == NOBODY, name
    assert (drew["live"], drew["behind"], drew["by_themselves"]) == ("head,n2", "head,n1,n2", ["n1"])
    assert drew["alone"] == "n1,head"  # the run goes on where n1 fails
    assert "last, one at a time: n1" in result
    # What controllers' files say holds for all.
    answers["head"] |= {"refuse": ["SelectType"]}
    drew, _, _ = plan(answers)
    assert (drew["gate"], drew["stop"], drew["refuse"]) == ("head,n2", "head,n2", ["SelectType"])


def test_a_node_that_calls_itself_by_anothers_name_is_left_out_alone() -> None:
    answers = cluster()
    answers["n1"]["host"] = "n2.cluster.local"
    drew, _, wrong = plan(answers)
    assert (wrong, list(drew["same"]), drew["clashing"]) == ([], ["n1"], "n1,head")
    assert plan(answers, same_ok=True)[0]["clashing"] == NOBODY


def test_without_a_slurmctld_the_jobs_are_unknown() -> None:
    answers = cluster(together=True)
    answers["head"] |= {"controlling": False}
    assert "so jobs cannot be counted" in plan(answers)[2][0]
    assert plan(answers, changes=False)[2] == []
    drew, _, wrong = plan(answers, lost_ok=True)
    assert wrong == []
    assert (drew["emptied"], drew["emptying"], drew["behind"]) == ([], NOBODY, "head,n1,n2")


def test_only_another_secret_than_the_controllers_is_replaced() -> None:
    """A host without one, and a secret that the controller lacks, are no others."""
    answers = {name: answer(name, secrets={"/munge.key": "c1"}) for name in HOSTS}
    assert plan(answers)[0]["other_secrets"] == []
    answers["n1"]["secrets"] = {"/munge.key": "c2", "/scratch.key": "5e"}
    answers["n2"]["secrets"] = {"/munge.key": None, "/scratch.key": "5e"}
    assert plan(answers)[0]["other_secrets"] == ["n1"]


def test_looking_gives_no_play_any_host() -> None:
    drew, _, _ = plan(cluster(together=True, later=["reboot"], refuse=["x"]), changes=False)
    plays = (
        "behind",
        "preparing",
        "booting",
        "settling",
        "controllers",
        "gate",
        "emptying",
        "together",
        "rolling",
        "idle",
        "logins",
    )
    assert {drew[name] for name in (*plays, "stop", "marks")} == {NOBODY}


@pytest.mark.parametrize(
    ("more", "plays"),
    [
        ({}, set()),
        ({"packages": ["chrony"]}, {"preparing"}),
        ({"paths": ["/srv/data"]}, {"preparing"}),
        ({"start": ["chrony.service"]}, {"preparing"}),
        ({"replaced_secrets": ["munge"]}, {"preparing"}),
        ({"secrets": {"/munge.key": None}}, {"preparing"}),
        ({"secrets": {"/munge.key": "another"}}, {"preparing"}),
        ({"boot": {"at_once": True}}, {"booting"}),
        ({"start": ["slurmd.service"]}, {"preparing", "settling"}),
        ({"effects": ["restart-slurmd"]}, {"settling"}),
        ({"effects": ["restart:slurmd.service"]}, {"settling"}),
        ({"effects": ["reconfigure"]}, {"settling"}),
        ({"effects": ["restart:chrony.service"]}, set()),
    ],
)
def test_a_play_without_work_for_any_host_has_no_host(more: dict[str, Any], plays: set[str]) -> None:
    answers = {name: answer(name, secrets={"/munge.key": "one"}) for name in HOSTS}
    answers["n2"] |= more
    drew, _, _ = plan(answers)
    assert drew["accounting"] == NOBODY
    assert {name: drew[name] for name in ("preparing", "booting", "settling")} == {
        name: "head,n1,n2" if name in plays else NOBODY for name in ("preparing", "booting", "settling")
    }


def test_nodes_do_not_read_values_that_slurmctld_sends() -> None:
    answers = {name: answer(name, effects=["reconfigure"]) for name in HOSTS}
    assert plan(answers)[0]["settling"] == NOBODY
    answers["head"]["effects"] = ["load-accounts"]
    assert plan(answers)[0]["settling"] == "head,n1,n2"


def test_nodes_restart_slurmd_for_a_file_of_the_controller() -> None:
    answers = cluster()
    answers["head"]["elsewhere"] = {"n1": ["restart"]}
    assert plan(answers)[0]["settling"] == "head,n1,n2"


def test_the_first_controller_that_answers_tries_out_the_files() -> None:
    answers = {name: answer(name, controlling=name == "head2", units=["slurmctld.service"]) for name in ("head2", "n1")}
    drew, _, _ = make_plan(answers, Asked(["head", "head2"], ["head", "head2", "n1"], HOSTS))
    assert (drew["tries"], drew["controller"], drew["marked"]) == ("head2", "head2", "head2")


def test_a_database_that_fails_does_not_end_the_run_for_all() -> None:
    db = answer("db", units=["slurmdbd.service"], serving=False)
    assert plan({"db": db, **cluster()}, [*HOSTS, "db"])[0]["accounting"] == NOBODY
    answers = {"db": {**db, "effects": ["restart-slurmdbd"]}, **cluster()}
    drew, _, _ = plan(answers, [*HOSTS, "db"])
    assert drew["accounting"] == "db,head"
    assert plan(cluster())[0]["accounting"] == NOBODY


def test_nodes_that_a_controllers_files_want_empty() -> None:
    def emptied(new: str) -> list[str]:
        texts: list[str] = emptied_by(["n1", "n2"], "24.11", {CONF: (SLURM, new)})
        return texts

    assert emptied(SLURM.replace("gpu:8", "gpu:4")) == ["n1", "n2"]
    assert emptied(SLURM.replace("n[1-2]", "n1")) == ["n2"]
    assert emptied(SLURM.replace("MaxTime=60", "MaxTime=90")) == []
    assert emptied_by(["n1", "n2"], "24.11", {CONF: (None, SLURM)}) == []


@pytest.mark.parametrize("serving", [True, False])
def test_in_a_window_all_clients_are_emptied_before_any_file_changes(serving: bool) -> None:
    """Clients that people unmounted, too, whose slurmd ended with it: nobody else resumes them."""
    drew, _, wrong = plan(cluster(windows={"home.mount": serving}, effects=["remount:home.mount"], serving=serving))
    assert wrong == []
    assert (drew["emptied"], drew["together"], drew["resumed"], drew["rolling"]) == (
        ["n1", "n2"],
        "n1,n2",
        "n1,n2",
        NOBODY,
    )
    assert (drew["why"], drew["windows"]) == ("site.yml: maintenance window for home.mount", True)


def test_routers_have_turns_of_their_own_before_those_of_nodes() -> None:
    """With those of nodes, a batch could hold two routers."""
    waiting = {"later": ["drain:lnet.service"]}
    answers = {"head": answer("head"), **{name: answer(name, **waiting) for name in ("n1", "n2")}}
    answers |= {name: answer(name, serving=False, units=[], **waiting) for name in ("rtr1", "rtr2", "login")}
    hosts = list(answers)
    drew, _, wrong = make_plan(answers, Asked(["head"], hosts, hosts, routers=["rtr1", "rtr2"]))
    assert wrong == []
    assert (drew["routers"], drew["rolling"]) == ("rtr1,rtr2", "login,n1,n2")


def test_a_window_of_servers_empties_their_clients() -> None:
    answers = cluster(behind=False)
    answers["head"] |= {"empties": [], "windows": {"scratch": True}, "clients": ["n1", "n2"]}
    drew, _, wrong = plan(answers)
    assert (drew["emptied"], drew["resumed"], drew["live"], wrong) == (["n1", "n2"], "n1,n2", "head", [])
    del answers["n2"]
    _, _, (wrong_limit,) = plan(answers, hosts=["head", "n1"])
    assert "no job runs on n2, which are not part of this run" in wrong_limit


def test_exports_that_servers_no_longer_offer_go_last() -> None:
    answers = cluster()
    assert plan(answers)[0]["withdrawing"] == NOBODY
    answers["head"] |= {"withdrawn": ["/etc/exports.d/clustergen-home.exports"]}
    assert plan(answers)[0]["withdrawing"] == "head"
