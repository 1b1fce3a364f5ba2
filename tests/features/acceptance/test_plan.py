"""Rounds of jobs, the nodes that are free, whom failures condemn, and the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.clustergen.cluster.plugins.module_utils import accept_plan as plan
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_report as reports
from ansible_collections.clustergen.cluster.plugins.module_utils import accept_run as runs
from ansible_collections.clustergen.cluster.plugins.module_utils.accept_verdicts import (
    changes,
    condemned,
    fail_slow,
    verdict,
)

PAIR: dict[str, Any] = {
    "name": "gpu/mpi-pair",
    "stage": "pair",
    "nodes": 2,
    "seconds": 60,
    "drains": True,
    "floors": [{"metric": "bandwidth", "relation": "least", "value": 40, "unit": "GB/s"}],
}
NODE = {**PAIR, "name": "gpu/gpus", "nodes": 1, "floors": []}
PASS = {"result": "pass"}
FAIL = {"result": "fail", "fail_reason": "performance error: \n  failed"}


def pairs(count: int, bad: set[int]) -> list[dict[str, Any]]:
    hosts = [f"n{number}" for number in range(count)]
    return [
        verdict(PAIR, job, FAIL if {int(host[1:]) for host in job} & bad else PASS, {"hosts": job, "readings": {}})
        for jobs in plan.rounds(PAIR, hosts)
        for job in jobs
    ]


@pytest.mark.slow
@given(st.integers(0, 40))
def test_a_round_uses_no_node_twice_and_every_node_is_in_two_pairs(count: int) -> None:
    rounds = plan.rounds(PAIR, [f"n{number:02}" for number in range(count)])
    for jobs in rounds:
        used = [host for job in jobs for host in job]
        assert len(used) == len(set(used))
    met = [host for jobs in rounds for job in jobs for host in job]
    assert {met.count(host) for host in met} <= ({1} if count == 2 else {2})
    assert len(set(met)) == (count if count > 1 else 0)


def test_a_gate_of_some_hosts_takes_those_that_are_free() -> None:
    gate = {**PAIR, "nodes": 0, "hosts": ["n1", "n2", "n3"]}
    assert plan.rounds(gate, ["n0", "n1", "n3", "n4"]) == [[["n1", "n3"]]]
    assert plan.rounds(gate, ["n0", "n1"]) == []


@pytest.mark.parametrize("count", [3, 4, 5, 8, 9])
def test_a_bad_node_is_named_by_both_of_its_pairs(count: int) -> None:
    for bad in range(count):
        guilty, remark = condemned(PAIR, pairs(count, {bad}))
        assert (list(guilty), remark) == ([f"n{bad}"], "")


def test_one_of_two_is_not_named() -> None:
    assert condemned(PAIR, pairs(2, {0})) == ({}, "n0 and n1: one of the two is at fault, so neither is drained")


def test_a_pair_that_fails_alone_condemns_no_node() -> None:
    results = pairs(5, set())
    results[0]["status"] = "failed"
    guilty, remark = condemned(PAIR, results)
    assert guilty == {}
    assert "both pass with their other neighbours" in remark


def test_where_everything_fails_nothing_is_drained() -> None:
    assert condemned(PAIR, pairs(4, {0, 1, 2, 3}))[0] == {}
    results = [verdict(NODE, [f"n{n}"], FAIL, {"hosts": [f"n{n}"], "problems": ["7 of 8"]}) for n in range(3)]
    assert condemned(NODE, results) == ({}, "3 of 3 nodes fail, so none is drained: look for a common cause")
    assert condemned(NODE, results[:1]) == ({"n0": "7 of 8"}, "")
    half = [*results[:2], *(verdict(NODE, [host], PASS, {"hosts": [host]}) for host in ("n8", "n9"))]
    assert condemned(NODE, half) == ({"n0": "7 of 8", "n1": "7 of 8"}, "")


TRAINING = {
    **NODE,
    "name": "gpu/training",
    "compare": {"metric": "images", "share": 0.9},
}


def trained(*rates: float) -> list[dict[str, Any]]:
    return [
        verdict(TRAINING, [f"n{number}"], PASS, {"hosts": [f"n{number}"], "readings": {"images": rate}})
        for number, rate in enumerate(rates)
    ]


@pytest.mark.parametrize(
    ("rates", "earlier", "slow"),
    [
        ((2511.0, 2498.0, 1874.0, 2520.0), {}, {"n2": "images 1874 < 2254: 90 % of the median 2504 of 4 nodes"}),
        ((2511.0, 2498.0, 2302.0, 2520.0), {}, {}),
        ((1874.0,), {}, {}),
        (
            (1874.0,),
            {"gpu/training@n5": {"images": 2500.0}, "gpu/training@n6": {"images": 2510.0}, "gpu/x@n7": {"images": 1.0}},
            {"n0": "images 1874 < 2250: 90 % of the median 2500 of 3 nodes"},
        ),
    ],
)
def test_a_node_that_trains_slower_than_the_others_of_its_type_is_named(
    rates: tuple[float, ...], earlier: dict[str, Any], slow: dict[str, str]
) -> None:
    results = trained(*rates)
    assert fail_slow(TRAINING, results, earlier) == ""
    assert {one["hosts"][0]: one["reason"] for one in results if one["status"] == "failed"} == slow
    assert condemned(TRAINING, results) == (slow, "")


def test_the_slower_one_of_two_is_a_remark() -> None:
    results = trained(1874.0, 2500.0)
    assert fail_slow(TRAINING, results, {}) == "n0 has the lower images of two nodes: 1874"
    assert {one["status"] for one in results} == {"passed"}


@pytest.mark.parametrize(
    ("states", "why"),
    [
        ({"idle"}, ""),
        ({"idle", "reserved"}, ""),
        ({"mixed"}, "has jobs"),
        ({"allocated"}, "has jobs"),
        ({"completing", "idle"}, "has jobs"),
        ({"idle", "drain"}, "drained"),
        ({"down", "not_responding"}, "down+not_responding"),
        ({"idle", "not_responding"}, "not_responding"),
        ({"unknown"}, "unknown"),
    ],
)
def test_only_idle_nodes_are_free(states: set[str], why: str) -> None:
    assert plan.why_not_free(states) == why


@pytest.mark.parametrize(
    ("case", "answer", "status", "reason"),
    [
        (PASS, {"hosts": ["a", "b"], "readings": {"bandwidth": 45.0}}, "passed", ""),
        (FAIL, {"hosts": ["a", "b"], "readings": {"bandwidth": 12.5}}, "failed", "bandwidth 12.5 < 40 GB/s"),
        (FAIL, {"hosts": ["a"], "problems": ["mlx5_0 is down"]}, "failed", "mlx5_0 is down"),
        (FAIL, {"hosts": ["a"], "missing": ["fio"]}, "not run", "not installed: fio"),
        (
            FAIL,
            {"hosts": [], "srun": ["srun: error: Unable to allocate resources: Requested nodes are busy"]},
            "not run",
            "no free node: srun: error: Unable to allocate resources: Requested nodes are busy",
        ),
        ({"result": "fail", "fail_reason": "job timed out (61s > 60s)"}, None, "failed", "no end within 60 s"),
        (None, None, "failed", "ended after its time"),
        (
            {"result": "fail", "fail_reason": "oserror: [Errno 28] No space left on device"},
            {"hosts": ["a", "b"], "readings": {"bandwidth": 45.0}},
            "not run",
            "on the controller: oserror: [Errno 28] No space left on device",
        ),
        (FAIL, {"hosts": [], "srun": []}, "failed", "performance error: failed"),
    ],
)
def test_verdict_of_a_job(case: Any, answer: Any, status: str, reason: str) -> None:
    result = verdict(PAIR, ["a", "b"], case, answer)
    assert (result["status"], result["reason"]) == (status, reason)


def test_readings_a_tenth_worse_are_listed_in_their_own_direction() -> None:
    assert changes({"bandwidth": 89.0, "latency": 1.2, "gpus": 7}, {"bandwidth": 100.0, "latency": 1.0, "gpus": 8}) == {
        "bandwidth": (100.0, 89.0),
        "latency": (1.0, 1.2),
    }
    assert changes({"bandwidth": 95.0}, {"bandwidth": 100.0}) == {}
    assert changes({"bandwidth": 95.0}, {}) == {}


def test_the_report_has_every_result_and_escapes_what_nodes_printed() -> None:
    results = [
        verdict(NODE, ["n1"], FAIL, {"hosts": ["n1"], "problems": ["<b>|x|</b>\n# y"], "readings": {"gpus": 7}}),
        verdict(NODE, ["n2"], PASS, {"hosts": ["n2"], "readings": {"gpus": 8, "power_limit": 650.0}}),
    ]
    document = reports.document(
        {
            "cluster": "small",
            "begin": "2026-01-01T00:00:00Z",
            "end": "2026-01-01T01:00:00Z",
            "nodes": ["n1", "n2"],
            "left_out": {"n3": "has jobs"},
            "drained": {"n1": "acceptance: gpu/gpus"},
            "remarks": [],
            "results": results,
            "baseline": {"gpu/gpus@n2": {"gpus": 8, "power_limit": 800.0}},
            "last": {},
        }
    )
    assert reports.summary(document) == "1 passed, 1 failed, 0 not run"
    assert document["worse"] == ["gpu/gpus on n2: power_limit 650, 800 in the baseline"]
    page = reports.markdown(document)
    assert "- n3: has jobs" in page
    assert r"\<b\>\|x\|\</b\> \# y" in page
    assert json.loads(json.dumps(document)) == document


def test_a_run_that_was_cut_off_goes_on_and_another_begins_anew(tmp_path: Path) -> None:
    path = str(tmp_path / "state.json")
    first = runs.State(path, "d1", again=False)
    first.data["results"]["g@n1"] = {"status": "passed"}
    first.save()
    assert runs.State(path, "d1", again=False).data["results"] == {"g@n1": {"status": "passed"}}
    assert runs.State(path, "d1", again=True).data["results"] == {}
    assert runs.State(path, "d2", again=False).data["results"] == {}
    first.finish()
    assert not runs.State(path, "d1", again=False).goes_on
    (tmp_path / "state.json").write_text("{", encoding="utf-8")
    assert not runs.State(path, "d1", again=False).goes_on


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 2}', '{"format": 1, "types": {}, "gates": []}'])
def test_a_file_of_another_version_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "gates.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(plan.UnfitError, match="render the tree again"):
        plan.load(str(path))
