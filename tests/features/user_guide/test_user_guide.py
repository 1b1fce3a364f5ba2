"""The guide for users and its job templates: they request what the cluster has, and say what it cannot run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from clustergen.catalogue.job_templates import template_kinds
from clustergen.render.formats import html_prose, markdown_prose
from strategies.job_templates import all_templates, files_of, guided
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, node_files, tree_of

MIG = {"mig": {"0": "small", "1": "small", "2": "small", "3": "half"}, "model": "a100-sxm-40", "count": 4}


def options(script: str) -> dict[str, str]:
    return dict(re.findall(r"^#SBATCH --([a-z-]+)=(.*)$", script, re.MULTILINE))


def test_templates_request_two_whole_nodes_and_the_share_of_one_gpu(tmp_path: Path) -> None:
    files = files_of(guided(), tmp_path)
    training = options(files["jobs/pytorch-srun.sh"])
    assert (training["partition"], training["nodes"], training["ntasks-per-node"]) == ("main", "2", "8")
    assert (training["gpus-per-node"], training["cpus-per-task"]) == ("h100:8", "16")
    array = options(files["jobs/array.sh"])
    assert (array["nodes"], array["gpus-per-node"], array["cpus-per-task"]) == ("1", "h100:1", "16")
    assert training["mem-per-gpu"] == array["mem-per-gpu"]
    assert {"account", "qos"}.isdisjoint(training)


@pytest.mark.parametrize(
    ("slurm", "guide", "expected"),
    [
        ({"partitions": {"a": {"nodes": "c1"}, "b": {"nodes": "all"}}}, {}, {"nodes": "1"}),
        ({"partitions": {"a": {"nodes": "all", "default": True, "max_nodes": 1}}}, {}, {"nodes": "1"}),
        ({"partitions": {"a": {"nodes": "all", "max_time": 20}}}, {}, {"time": "00:20:00"}),
        ({"partitions": {"a": {"nodes": "all", "cpus_per_gpu": 3}}}, {}, {"cpus-per-task": "3"}),
        ({"partitions": {"a": {"nodes": "all", "max_cpus_per_node": 64}}}, {}, {"cpus-per-task": "8"}),
        ({"partitions": {"a": {"nodes": "all", "memory_per_gpu": "2GiB"}}}, {}, {"mem-per-gpu": "2048M"}),
        (
            {"partitions": {"a": {"nodes": "all", "default": True}, "b": {"nodes": "c[1-2]"}}},
            {"partition": "b"},
            {"partition": "b"},
        ),
        (
            {"partitions": {"a": {"nodes": "all", "hidden": True}, "b": {"nodes": "c[1-2]"}}},
            {},
            {"partition": "b"},
        ),
        (
            {
                "partitions": {"a": {"nodes": "all", "allow_accounts": ["lab"]}},
                "accounts": {"lab": {"users": ["ada"]}},
            },
            {},
            {"account": "lab"},
        ),
        (
            {
                "partitions": {"a": {"nodes": "all", "allow_qos": ["high"]}},
                "qos": {"normal": {}, "high": {}},
                "accounts": {"lab": {"users": ["ada"], "qos": ["normal", "high"]}},
            },
            {},
            {"qos": "high"},
        ),
    ],
)
def test_limits_of_the_partition_are_kept(
    tmp_path: Path, slurm: dict[str, Any], guide: dict[str, Any], expected: dict[str, str]
) -> None:
    script = options(files_of(guided(slurm, user_guide=guide), tmp_path)["jobs/pytorch-srun.sh"])
    assert {name: script.get(name) for name in expected} == expected


def test_mig_instances_are_requested_by_their_type(tmp_path: Path) -> None:
    kind = {**GPU, "gpus": MIG}
    plans = {"small": {"profiles": {"1g.5gb": 7}}, "half": {"profiles": {"3g.20gb": 2}}}
    files = files_of(guided(node_types={"gpu": kind}, gpu={"mig_plans": plans}), tmp_path)
    typed = options(files["jobs/array.sh"])["gpus-per-node"]
    assert re.fullmatch(r"\S*1g\.5gb:1", typed)
    assert f"`{typed.removesuffix(':1')}" in files["guide.md"]


@pytest.mark.parametrize(
    ("preemption", "qos", "sentence"),
    [
        ({}, {}, None),
        ({"by": "qos", "mode": "requeue"}, {"low": {}, "high": {"preempt": ["low"]}}, "Jobs of QOS high from low take"),
        ({"by": "partition", "mode": "requeue"}, {}, "Jobs of partition urgent take nodes from others"),
    ],
)
def test_symptoms_name_who_preempts_whom(
    preemption: dict[str, str], qos: dict[str, Any], sentence: str | None, tmp_path: Path
) -> None:
    partitions = {"batch": {"nodes": "all", "default": True}, "urgent": {"nodes": "all", "priority_tier": 5}}
    slurm = {"partitions": partitions, "qos": qos, **({"preemption": preemption} if preemption else {})}
    guide = files_of(guided(slurm), tmp_path)["guide.md"]
    assert "| a job waits | `why JOBID` |" in guide
    assert ("| a job stops and waits again" in guide) == bool(sentence)
    assert sentence is None or sentence in guide


def test_without_shared_home_directories_the_guide_says_why_templates_are_missing(tmp_path: Path) -> None:
    files = files_of(guided(storage={}), tmp_path)
    assert sorted(files) == ["guide.html", "guide.md"]
    assert "| `pytorch-srun.sh` | PyTorch, one process per GPU, started by srun | requires home" in files["guide.md"]
    assert "No job template is installed" in files["guide.md"]
    assert "Options on the command line" not in files["guide.md"]
    assert not re.search(r"^\| --- .*\n\n", files["guide.md"], re.MULTILINE), "a table without rows"


def test_without_login_nodes_the_controller_has_the_guide(tmp_path: Path) -> None:
    data = guided(nodes=[HEAD, COMPUTE], user_guide={"directory": "/opt/doc"})
    tree = tree_of(data, tmp_path)
    assert "/opt/doc/guide.md" in node_files(tree, "head")
    assert "/opt/doc/guide.md" not in node_files(tree, "c1")


def test_the_guide_prints_free_text_as_text(tmp_path: Path) -> None:
    wild = "Ask <b>Ada</b> | *now* [here](x) ; rm -rf /"
    accounts = {"a+b@c": {"description": "<script>|x", "users": ["ada"]}}
    guide = files_of(guided({"accounts": accounts}, user_guide={"contact": wild}), tmp_path)["guide.md"]
    assert r"Help: Ask \<b\>Ada\</b\> \| \*now\* \[here\](x) ; rm -rf /." in guide
    assert r"| `a+b@c` | \<script\>\|x |" in guide


@pytest.mark.parametrize(
    "guide",
    [
        {"contact": "`id`"},
        {"contact": "a\nb"},
        {"directory": "/opt/$(id)"},
        {"directory": "/opt/../etc"},
        {"partition": "a b"},
        {"partition": "$(id)"},
        {"service_partition": "nowhere"},
        {"templates": ["../x"]},
        {"directory": "/etc"},
        {"directory": "/tmp/guide"},
    ],
)
def test_text_that_could_leave_its_place_is_refused(tmp_path: Path, guide: dict[str, Any]) -> None:
    assert codes_of(guided(user_guide=guide), tmp_path)


def test_every_template_of_the_catalogue_can_be_named_and_is_rendered(tmp_path: Path) -> None:
    """On a cluster that has everything."""
    names = list(template_kinds())
    files = files_of(all_templates(), tmp_path)
    assert {path.removeprefix("jobs/").removesuffix(".sh") for path in files if path.endswith(".sh")} == set(names)
    assert "Not on this cluster" not in files["guide.md"]


def test_services_have_a_partition_of_their_own(tmp_path: Path) -> None:
    partitions = {"a": {"nodes": "all", "default": True}, "b": {"nodes": "c1", "max_time": 30}}
    files = files_of(guided({"partitions": partitions}, user_guide={"service_partition": "b"}), tmp_path)
    assert options(files["jobs/jupyter.sh"])["partition"] == "b"
    assert options(files["jobs/dask.sh"])["partition"] == "a"


def test_without_gpus_jobs_request_cpus(tmp_path: Path) -> None:
    kind = {**GPU, "gpus": None, "nics": None}
    files = files_of(guided(node_types={"gpu": {key: value for key, value in kind.items() if value}}), tmp_path)
    training = options(files["jobs/pytorch-srun.sh"])
    assert "gpus-per-node" not in training
    assert int(training["cpus-per-task"]) > 4
    assert options(files["jobs/jupyter.sh"])["cpus-per-task"] == "4"
    assert training["ntasks-per-node"] == "1"
    assert {"jobs/vllm.sh", "jobs/deepspeed.sh"}.isdisjoint(files)


def test_both_pages_say_the_same(tmp_path: Path) -> None:
    accounts = {"lab": {"description": "R&D <x>", "users": ["ada"]}}
    files = files_of(guided({"accounts": accounts}), tmp_path)
    page = ElementTree.fromstring(files["guide.html"])
    words = re.sub(r"\W+", " ", " ".join(page.find("body").itertext()))  # type: ignore[union-attr]
    text = re.sub(r"<!--.*-->|^\|[-|]+\|$|```sh|\\(?=_)", "", files["guide.md"], flags=re.MULTILINE)
    assert re.sub(r"\W+", " ", text).split() == words.split()


def test_a_sentence_has_code_between_backquotes() -> None:
    assert markdown_prose("use `a_b` or a_b") == r"use `a_b` or a\_b"
    assert html_prose("use `a<b` & c") == "use <code>a&lt;b</code> &amp; c"
