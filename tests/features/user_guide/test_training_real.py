"""Examples for training as real jobs on two nodes of a real Slurm, with the real frameworks on CPUs.

What needs a GPU and is not run: NCCL, the speed of bf16 and fp16, nsys, vLLM, and the launcher of Accelerate, which
starts one process per machine on CPUs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from clustergen.render.engine import carried
from clustergen.verify.slurm_roots import parsers_directory
from strategies.frameworks import PLACE, ROOT, frameworks
from strategies.job_templates import LIBRARY, all_templates, runnable_jobs
from strategies.training_cluster import FAILED, JOBS, SUBMIT, adapted, submitted

pytestmark = [pytest.mark.long, pytest.mark.real]


@pytest.fixture(scope="module")
def packages() -> Path:
    return frameworks()


@pytest.fixture(scope="module")
def outputs(packages: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory = tmp_path_factory.mktemp("training")
    rendered = runnable_jobs(all_templates(), directory)
    # All nodes have the same /tmp here.
    library = (directory / "library.sh").read_text(encoding="utf-8").replace(" mkdir -m 700 ", " mkdir -p -m 700 ")
    texts = {path.removeprefix("jobs/"): text for path, text in rendered.items() if path.endswith(".py")}
    texts["library.sh"] = library
    texts["hang.py"] = texts["train.py"].replace(
        "step += 1\n",
        'step += 1\n            time.sleep(60 if step == 15 and "SLURM_RESTART_COUNT" not in os.environ else 0)\n',
    )
    commands = {}
    for name, (template, tasks, arguments, _) in JOBS.items():
        script = rendered[f"jobs/{template}.sh"].replace(str(directory / "library.sh"), "/tmp/jobs/library.sh")
        script = adapted(script, tasks).replace(LIBRARY, "/tmp/jobs/library.sh")
        texts[f"{name}.sh"] = re.sub(r"\bgpus='?8'?", "gpus=1", script)
        options = "--nodes=1" if name == "alone" else ""
        place = f"/{PLACE}/{'tensorflow' if template == 'tensorflow' else 'torch'}"
        exports = f"export VENV=/{PLACE} PYTHONPATH={place} DS_ACCELERATOR=cpu\n"
        commands[name] = exports + SUBMIT.format(options=options, script=f"{name}.sh", arguments=arguments)
    script = texts["ddp.sh"].replace('"$@"', "train.py --cpu --steps 5 --checkpoint dag.pt")
    # Airflow has packages of its own.
    texts["pytorch-srun.sh"] = script.replace("\n. /", f"\nexport PYTHONPATH=/{PLACE}/torch\n. /", 1)
    dag = texts["airflow_dag.py"].replace("poke_interval=60", "poke_interval=2")
    texts["dags.py"] = dag
    commands["airflow"] = f"""
export VENV=/{PLACE} AIRFLOW_HOME=/tmp/airflow AIRFLOW__CORE__LOAD_EXAMPLES=False
export AIRFLOW__CORE__DAGS_FOLDER=/tmp/airflow/dags
mkdir -p /tmp/airflow/dags; cp dags.py /tmp/airflow/dags/airflow_dag.py
export PYTHONPATH=/{PLACE}/airflow
python3 -m airflow db migrate >/dev/null 2>&1
python3 -m airflow dags test train 2>&1 | grep -aoE "Marking run .*(successful|failed)|DagRun failed|sbatch: .*"
cat pytorch-srun-*.out
"""
    return submitted(parsers_directory() / ROOT, packages, texts, commands, directory / "work")


@pytest.mark.parametrize("name", JOBS)
def test_a_job_trains_on_two_nodes_or_refuses(outputs: dict[str, str], name: str) -> None:
    expected = JOBS[name][3]
    assert re.search(expected, outputs[name]), outputs[name][-3000:]
    assert re.search(rf"(?m)^{'FAILED' if name in FAILED else 'COMPLETED'}$", outputs[name]), outputs[name][-3000:]


def test_deepspeed_shards_parameters_over_two_processes(packages: Path, tmp_path: Path) -> None:
    """On this machine: on CPUs, DeepSpeed compiles an extension, and the root has no C++ compiler."""
    place = packages / PLACE / "torch"
    python = shutil.which("python3.11")
    assert python is not None, "DeepSpeed was installed for Python 3.11, which this machine lacks"
    assert shutil.which("g++") is not None, "DeepSpeed requires a C++ compiler"
    names = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "24713", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    paths = {"PYTHONPATH": str(place), "PATH": f"{place / 'bin'}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    environment = {**os.environ, **names, **paths, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    program = carried("programs") / "jobs/train_deepspeed.py"
    words = [python, str(program), "--cpu", "--steps", "5", "--stage", "3", "--precision", "bf16"]
    ranks = [
        subprocess.Popen(
            words,
            cwd=tmp_path,
            env={**environment, "RANK": rank, "LOCAL_RANK": rank},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in "01"
    ]
    try:
        outputs = [rank.communicate(timeout=1800)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0, 0]
    assert "2 processes, ZeRO 3, bf16, steps 0 to 5, " in outputs[0]


def test_a_workflow_of_airflow_submits_a_job_and_sees_its_end(outputs: dict[str, str]) -> None:
    assert re.search(r"Marking run .* successful", outputs["airflow"]), outputs["airflow"]
    assert "2 processes, bf16, steps 0 to 5, " in outputs["airflow"]
