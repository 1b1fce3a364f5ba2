"""Sections of the guide for users on training: the forms that fit a model, precision, interruptions, and speed."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.job_site import JobSite
from clustergen.features.user_guide.guide_tables import Part, code_table
from clustergen.features.user_guide.job_site import precision
from clustergen.features.user_guide.scripts import job_scripts
from clustergen.render.views.tables import Table

_FORMS = {
    "pytorch-srun": ("The model fits into one GPU", "processes, steps, loss, samples/s", "--batch, --accumulate"),
    "fsdp": ("The model does not fit into one GPU", "parameters per process, loss", "--blocks, --accumulate"),
    "deepspeed": ("The same, with DeepSpeed", "stage of ZeRO, loss", "--stage 1, 2 or 3"),
    "tensor-parallel": (
        "A layer does not fit into one GPU",
        "parts of a layer, loss",
        "--width, the divided layers",
    ),
    "pipeline": ("The model does not fit into one node", "pipelines and stages, loss", "--microbatches, --stages"),
    "accelerate": ("A fine-tune of a model of Hugging Face", "loss of each epoch", "--model, --text"),
    "tensorflow": ("TensorFlow and Keras", "replicas, epochs, loss", "--batch, the model"),
}
"""Template → when to use it, what its example prints, and what to change first."""
_FORMATS = {
    "bf16": (
        "The GPUs compute with bf16, and so do the examples: activations take half the memory of fp32, and the loss "
        "needs no scaling. Parameters and optimizer states stay fp32."
    ),
    "fp16": (
        "The GPUs have fp16 and no bf16. The examples scale the loss, since small gradients would become zero. "
        "Parameters and optimizer states stay fp32."
    ),
    "fp32": "Without GPUs the examples compute with fp32.",
}


def training(cluster: Cluster, site: JobSite) -> Iterator[Part]:
    scripts = job_scripts(cluster)
    rows = [
        {"Template": f"{name}.sh", "Use it when": when, "Its example prints": output, "Change first": change}
        for name, (when, output, change) in _FORMS.items()
        if name in scripts
    ]
    if rows:
        yield _forms(rows, site)
    if "requeue" in scripts:
        yield Part(
            "Long trainings",
            (
                "A training that is longer than the time limit, or gives way to other jobs, runs with `requeue.sh`: "
                "shortly before the end it writes a checkpoint, and the job is queued again under the same number. "
                "`--stall` ends a process that makes no step for that many seconds, as when a collective operation "
                "hangs, and the job goes on from its last checkpoint.",
            ),
            ("sbatch requeue.sh train.py --steps 100000 --every 500 --stall 900", "squeue --me --states=all"),
            (
                "The output has `stopped at step N` and `queued again`, and after a hang the line of the program at "
                "which each thread was. Your program needs the same parts: signal, checkpoint, status 75, watchdog.",
            ),
        )
    if "profile" in scripts:
        yield _speed("scaling" in scripts)


def _forms(rows: list[dict[str, str]], site: JobSite) -> Part:
    table: Table = code_table("Forms of training", iter(rows))
    return Part(
        "Forms of training",
        (
            "Each template has an example that is short enough to read and to adapt. Processes of a node exchange "
            "more data than those of different nodes: layers are divided inside a node, data or stages across nodes.",
            f"{_FORMATS[precision(site)]} To select another format: `PRECISION=fp32 sbatch …`.",
            "If memory lacks for the batch, divide it: `--batch 64 --accumulate 4` has the gradients of 256 samples.",
        ),
        tables=(table,),
    )


def _speed(has_scaling: bool) -> Part:
    more = (
        (
            "`scaling.sh` prints the samples per second and the efficiency on 1, 2, 4 … nodes: 100 % means that twice "
            "the nodes do twice the work. It falls as the exchange of gradients takes a larger part of a step.",
        )
        if has_scaling
        else ()
    )
    return Part(
        "Where time is spent",
        (
            "`profile.sh` records a few steps of one node: with `nsys` where it is on your `PATH`, otherwise with the "
            "profiler of PyTorch. Long gaps between kernels mean that the GPU waits for data.",
        ),
        ("sbatch profile.sh", *(("sbatch scaling.sh", "cat scaling-*.out") if has_scaling else ())),
        more,
    )
