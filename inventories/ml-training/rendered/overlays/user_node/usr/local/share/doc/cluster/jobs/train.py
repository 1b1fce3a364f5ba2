#!/usr/bin/env python3
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Program: jobs/train.py
"""Example of distributed training with PyTorch: fits a small model, and shows the parts that every training job needs.

Runs on GPUs with NCCL, and on CPUs with Gloo. Start it with a job template of this directory. Checkpoints are written
every --every steps, and when Slurm announces the end of the job (SIGUSR1 or SIGTERM); the next run resumes from the
last one.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

RESUME_LATER = 75  # exit status of a run that has to be continued (EX_TEMPFAIL)
stop = False


def on_signal(_number: int, _frame: object) -> None:
    global stop
    stop = True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=100, help="steps between checkpoints")
    parser.add_argument("--pause", type=float, default=0, help="seconds between steps, to try signals")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pt"))
    arguments = parser.parse_args()
    signal.signal(signal.SIGUSR1, on_signal)
    signal.signal(signal.SIGTERM, on_signal)

    started = time.monotonic()
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Linear(64, 1).to(device), device_ids=[device.index] if cuda else None)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    step = 0
    if arguments.checkpoint.exists():
        state = torch.load(arguments.checkpoint, map_location=device, weights_only=True)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]

    if step >= arguments.steps:
        if rank == 0:
            print(f"{arguments.checkpoint} has step {step} of {arguments.steps}: remove it to begin again", flush=True)
        dist.destroy_process_group()
        return

    def save() -> None:
        if rank == 0:
            unfinished = arguments.checkpoint.with_suffix(".new")
            torch.save(
                {"model": model.module.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, unfinished
            )
            unfinished.replace(arguments.checkpoint)  # a job that is killed here leaves the old checkpoint whole

    loss = torch.zeros((), device=device)
    first = step
    while step < arguments.steps:
        inputs = torch.randn(256, 64, device=device)
        loss = ((model(inputs) - inputs.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        # A signal reaches the processes at different steps: all of them stop where the first one wants to.
        wants = torch.tensor(float(stop), device=device)
        dist.all_reduce(wants, dist.ReduceOp.MAX)
        if wants.item():
            save()
            if rank == 0:
                print(f"stopped at step {step} of {arguments.steps}", flush=True)
            dist.destroy_process_group()
            sys.exit(RESUME_LATER)
        if step % arguments.every == 0:
            save()
        time.sleep(arguments.pause)
    save()
    dist.all_reduce(loss)
    if rank == 0:
        seconds = time.monotonic() - started
        result = f"loss {loss.item() / world:.4f}, {seconds:.1f} s"
        print(f"{world} processes, steps {first} to {step}, {result}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
