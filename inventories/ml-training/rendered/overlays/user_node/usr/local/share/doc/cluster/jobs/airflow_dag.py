# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/airflow_dag.py
"""Example of an Airflow DAG that submits a job of this cluster, watches it, and fails if the job does.

Copy it to ~/airflow/dags of an Airflow 3 that runs where users can call sbatch; jobs run as the user of Airflow. A task
that waits holds no worker: the sensor asks Slurm once a minute.
"""

from __future__ import annotations

import subprocess
from datetime import datetime, timedelta, timezone
from pathlib import Path

from airflow.sdk import PokeReturnValue, dag, task
from airflow.sdk.exceptions import AirflowFailException

JOBS = Path.home() / "jobs"  # a copy of the job templates
ACTIVE = {
    "COMPLETING",
    "CONFIGURING",
    "PENDING",
    "PREEMPTED",
    "REQUEUED",
    "REQUEUE_HOLD",
    "RUNNING",
    "STOPPED",
    "SUSPENDED",
}


def slurm(*command: str) -> str:
    done = subprocess.run(command, cwd=JOBS, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise AirflowFailException(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def state_of(job: str) -> str:
    """Of the controller, which forgets a job minutes after its end, or else of the accounting."""
    command = ("squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={job}")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 0 or "Invalid job id" not in done.stderr:
        return done.stdout.partition("\n")[0]  # nothing where the controller does not answer: asked again
    return slurm("sacct", "--allocations", "--noheader", "--parsable2", "--format=State", f"--jobs={job}").split()[0]


@dag(schedule=None, start_date=datetime(2026, 1, 1, tzinfo=timezone.utc), catchup=False, tags=["slurm"])
def train() -> None:
    @task(retries=0)  # a second try would submit a second job
    def submit(script: str) -> str:
        return slurm("sbatch", "--parsable", script).partition(";")[0]

    @task.sensor(poke_interval=60, timeout=timedelta(days=14).total_seconds(), mode="reschedule")
    def wait(job: str) -> PokeReturnValue:
        state = state_of(job)
        if not state or state in ACTIVE:
            return PokeReturnValue(is_done=False)
        if state != "COMPLETED":
            raise AirflowFailException(f"job {job} ended as {state}; its output is in {JOBS}")
        return PokeReturnValue(is_done=True, xcom_value=state)

    wait(submit("pytorch-srun.sh"))


train()
