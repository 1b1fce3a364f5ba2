"""Sections of the guide for users on servers of a job: how their owner reaches them, and what others can reach."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.slurm.job_site import JobSite
from clustergen.features.user_guide.guide_tables import Part
from clustergen.features.user_guide.scripts import job_scripts

_CERTIFIED = ("vllm", "vllm-nodes", "vllm-replicas", "triton", "triton-replicas")


def servers(cluster: Cluster, site: JobSite) -> Iterator[Part]:
    scripts = job_scripts(cluster)
    names = [f"{name}.sh" for name in ("jupyter", *_CERTIFIED, "dask", "ray") if name in scripts]
    if not names:
        return
    yield Part(
        "Servers of a job",
        (
            f"{_listed(names)}: the server answers you alone. The job writes a token, or a key with its certificate, "
            "to a new directory below your home directory that only you can open, and removes it at its end. Do not "
            "copy them to a place that others can read.",
            *(
                ("`ray.sh` requires Ray 2.52 or later, with the same version on all nodes.",)
                if "ray" in scripts
                else ()
            ),
            *(
                (
                    "To open a notebook on your own computer, submit `jupyter.sh`. When the job runs, its output has "
                    "the two commands with the names of your job: a tunnel, which you leave open while you work, and "
                    "one that prints the token for the page in the browser.",
                )
                if "jupyter" in scripts
                else ()
            ),
        ),
        (
            (
                "sbatch jupyter.sh",
                "cat jupyter-JOBID.out",
                f"ssh -N -L PORT:NODE:PORT $USER@{site.login}",
                f"ssh $USER@{site.login} cat DIRECTORY/token",
            )
            if "jupyter" in scripts
            else ()
        ),
        (
            *(
                (
                    f"The output of {_listed(certified)} has the commands for a node and for your own computer, where "
                    "you need a copy of the key.",
                )
                if (certified := [f"{name}.sh" for name in _CERTIFIED if name in scripts])
                else ()
            ),
            *(
                (
                    "`vllm-nodes.sh` serves a model that is larger than a node: `sbatch vllm-nodes.sh MODEL`. The "
                    "output has `Application startup complete` when it answers.",
                )
                if "vllm-nodes" in scripts
                else ()
            ),
            *(
                (
                    "`vllm-replicas.sh` starts the model on each node. HAProxy passes requests to the nodes in turn, "
                    "and leaves out one that does not answer. Applications call `/generate` of `api.py`: adapt it.",
                )
                if "vllm-replicas" in scripts
                else ()
            ),
            "A job whose port is in use ends with a message that names another: `JOB_PORT=21000 sbatch …`.",
        ),
    )


def reachable(cluster: Cluster) -> Iterator[Part]:
    """Ports that no option of the programs can close."""
    scripts = job_scripts(cluster)
    warnings: dict[tuple[str, ...], list[str]] = {}
    for name, script in scripts.items():
        if script.warning:
            warnings.setdefault(script.warning, []).append(f"{name}.sh")
    if not warnings:
        return
    alone = (
        "On one node, `pytorch-podman.sh` closes these ports: its container has a network of its own."
        if "pytorch-podman" in scripts
        else ""
    )
    yield Part(
        "What other users can reach",
        (
            *(f"{_listed(names)}: {' '.join(warning)}" for warning, names in warnings.items()),
            "A node of your own (`--exclusive`) changes nothing: jobs on other nodes and users of the login nodes "
            "reach the ports over the network, also behind the nodes' firewall. Let programs exchange tensors alone, "
            "and load checkpoints with `weights_only=True`.",
            *filter(None, (alone,)),
        ),
    )


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(f"`{name}`" for name in names[:-1]), f"`{names[-1]}`")))
