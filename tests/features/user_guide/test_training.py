"""Job templates for training: precision by GPU, the programs that they start, and refusals instead of doing less."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from strategies.job_runs import run
from strategies.job_templates import all_templates, files_of, guided, runnable_jobs
from strategies.trees import GPU

V100 = {**GPU, "gpus": {"model": "v100-sxm2-16", "count": 8}}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return runnable_jobs(all_templates(), tmp_path_factory.mktemp("templates"))


@pytest.mark.parametrize(
    ("kind", "precision"),
    [(GPU, "bf16"), (V100, "fp16"), ({key: GPU[key] for key in ("cpu", "memory")}, "fp32")],
)
def test_the_precision_is_what_the_gpu_computes_with(kind: dict[str, Any], precision: str, tmp_path: Path) -> None:
    files = files_of(guided(node_types={"gpu": kind}), tmp_path)
    assert f"precision='{precision}' job_pytorch_srun" in files["jobs/pytorch-srun.sh"]
    assert ("jobs/fsdp.sh" in files) is (precision == "bf16")
    if precision == "fp16":
        assert "requires GPUs with bf16, and Tesla V100-SXM2-16GB has none" in files["guide.md"]


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "option"), [("bf16", "bf16"), ("fp32", "no")])
def test_the_launcher_of_accelerate_gets_the_precision(
    scripts: dict[str, str], tmp_path: Path, precision: str, option: str
) -> None:
    chosen = {"PRECISION": precision} if precision != "bf16" else {}  # what the template says, or the user
    job = run(scripts["jobs/accelerate.sh"], tmp_path, **chosen)
    assert f"accelerate launch --mixed_precision={option} " in job.calls
    assert f"PRECISION={precision}\n" in job.environment


@pytest.mark.slow
def test_processes_of_tensorflow_know_each_other(scripts: dict[str, str], tmp_path: Path) -> None:
    job = run(scripts["jobs/tensorflow.sh"], tmp_path)
    (text,) = re.findall(r"^TF_CONFIG=(.*)$", job.environment, re.MULTILINE)
    assert json.loads(text) == {
        "cluster": {"worker": ["localhost:24711"]},
        "task": {"type": "worker", "index": 0},
    }


@pytest.mark.slow
def test_a_scaling_test_compares_with_one_node(scripts: dict[str, str], tmp_path: Path) -> None:
    job = run(scripts["jobs/scaling.sh"], tmp_path, "my.py", RATE="250")
    assert [words for line in job.output.splitlines() if len(words := line.split()) == 4] == [
        ["nodes", "processes", "samples/s", "efficiency"],
        ["1", "8", "250", "100%"],
        ["2", "16", "250", "50%"],
    ]
    steps = re.findall(r"^srun --cpus-per-task=16 --nodes=(\d+) --ntasks=(\d+) ", job.calls, re.MULTILINE)
    assert steps == [("1", "8"), ("2", "16")]


@pytest.mark.slow
def test_a_program_without_a_rate_is_not_compared(scripts: dict[str, str], tmp_path: Path) -> None:
    job = run(scripts["jobs/scaling.sh"], tmp_path, "my.py", RATE="no")
    assert job.code == 1
    assert 'the program printed no "N samples/s"' in job.output


@pytest.mark.slow
@pytest.mark.parametrize("words", [(), ("my.py",)])
@pytest.mark.parametrize("has_nsys", [True, False])
def test_a_profile_is_made_or_refused(
    scripts: dict[str, str], tmp_path: Path, has_nsys: bool, words: tuple[str, ...]
) -> None:
    script = scripts["jobs/profile.sh"].replace('"$@"', " ".join(words))
    script = script if has_nsys else script.replace("\n. /", '\nrm "$RECORD/bin/nsys"\n. /')
    job = run(script, tmp_path)
    python = re.findall(r"^python3 (.*)$", job.calls, re.MULTILINE)
    if has_nsys:
        assert re.search(r"^nsys profile .* --output=profile-4711/rank%q\{SLURM_PROCID\} ", job.calls, re.MULTILINE)
        assert python == [" ".join(words) or "train.py --steps 20 --every 0"]
    elif words:
        assert job.code == 1
        assert "my.py would run without a profile" in job.output
        assert python == []
    else:
        assert python == ["train.py --steps 20 --every 0 --profile profile-4711"]


@pytest.mark.slow
def test_a_model_over_two_nodes_is_divided_inside_them_and_staged_across(
    scripts: dict[str, str], tmp_path: Path
) -> None:
    job = run(scripts["jobs/vllm-nodes.sh"], tmp_path, "my/model", "--max-model-len", "8192")
    (call,) = re.findall(r"^vllm (.*)$", job.calls, re.MULTILINE)
    assert call.startswith("serve my/model --max-model-len 8192 --pipeline-parallel-size 2 ")
    assert " --distributed-executor-backend ray --host localhost --port 27211 --tensor-parallel-size 8 " in call
    assert call.endswith("--ssl-cert-reqs 2")
    assert "ray start --head --port=24711 " in job.calls


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["apptainer", "podman"])
def test_triton_runs_without_pyxis(tmp_path: Path, runtime: str) -> None:
    containers = {"podman": {"storage": "/srv/podman"}} if runtime == "podman" else {"apptainer": {}}
    scripts = runnable_jobs(guided(user_guide={"templates": ["triton"]}, containers=containers), tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    job = run(scripts["jobs/triton.sh"], work, IMAGE=str(work) if runtime == "apptainer" else "")
    (call,) = re.findall(rf"^{runtime} (.*)$", job.calls, re.MULTILINE)
    assert re.search(r"(image|tritonserver:\S+|work) tritonserver --model-repository=/models --allow-http=false", call)
    assert f"{work}:/models:ro" in call
    assert "--grpc-use-ssl-mutual=true" in call


def test_haproxy_is_on_compute_nodes_where_a_template_is_selected_that_needs_it(tmp_path: Path) -> None:
    files = files_of(guided(), tmp_path)
    assert "jobs/vllm-replicas.sh" not in files
    assert "| `vllm-replicas.sh` |" in files["guide.md"].partition("Not on this cluster")[2]
    selected = files_of(guided(user_guide={"templates": ["vllm-replicas"]}), tmp_path)
    assert {"jobs/vllm-replicas.sh", "jobs/api.py"} <= selected.keys()
