#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/train_fsdp.py
"""Example of sharded training with PyTorch (FSDP2): for a model that does not fit into the memory of one GPU.

Each process keeps a part of the parameters, gradients and optimizer states. It gathers the parameters of a block just
before it computes the block. Each process writes its part of a checkpoint, which a run with another number of processes
can read as well.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


class Block(nn.Module):
    """Stands for a layer of a transformer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return inputs + self.down(torch.relu(self.up(self.norm(inputs))))


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=64, help="samples that a process computes at a time")
    parser.add_argument("--accumulate", type=int, default=1, help="batches before a step of the optimizer")
    parser.add_argument("--width", type=int, default=256, help="size of a block")
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--precision", choices=["bf16", "fp32"], default=os.environ.get("PRECISION", "fp32"))
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint-fsdp"), help="a directory")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    cuda = torch.cuda.is_available() and not arguments.cpu
    if os.environ.get("SLURM_GPUS_ON_NODE", "0") != "0" and not cuda and not arguments.cpu:
        sys.exit("this job has GPUs, but PyTorch cannot use them; to train on CPUs nevertheless, add --cpu")
    if cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    device = torch.device("cuda" if cuda else "cpu")
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    if world == 1:
        sys.exit("one process has nothing to shard: submit the job with more GPUs or nodes")

    torch.manual_seed(0)  # the same model in all processes, before it is divided
    with device:
        model = nn.Sequential(*(Block(arguments.width) for _ in range(arguments.blocks)), nn.Linear(arguments.width, 1))
    mesh = init_device_mesh(device.type, (world,))
    kind = torch.bfloat16 if arguments.precision == "bf16" else torch.float32
    policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)  # sums of gradients stay exact
    for block in model:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001)

    # A directory per checkpoint, with the step as its name; .metadata is its last file, so the others are whole.
    step = max((int(file.parent.name) for file in arguments.checkpoint.glob("*/.metadata")), default=0)
    if step:
        parts, states = get_state_dict(model, optimizer)
        dcp.load({"model": parts, "optimizer": states}, checkpoint_id=arguments.checkpoint / str(step))
        set_state_dict(model, optimizer, model_state_dict=parts, optim_state_dict=states)
    if step >= arguments.steps:
        sys.exit(f"{arguments.checkpoint} has step {step} of {arguments.steps}: remove it to begin again")
    first, started = step, time.monotonic()
    torch.manual_seed(rank + 1)
    loss = torch.zeros((), device=device)
    while step < arguments.steps:
        for number in range(1, arguments.accumulate + 1):
            model.set_requires_gradient_sync(number == arguments.accumulate)  # exchange gradients once a step
            inputs = torch.randn(arguments.batch, arguments.width, device=device)
            loss = ((model(inputs).float() - inputs[:, :8].sum(1, keepdim=True)) ** 2).mean()
            (loss / arguments.accumulate).backward()
        optimizer.step()
        optimizer.zero_grad()
        step += 1
    seconds = time.monotonic() - started
    parts, states = get_state_dict(model, optimizer)
    dcp.save({"model": parts, "optimizer": states}, checkpoint_id=arguments.checkpoint / str(step))
    whole = sum(each.numel() for each in model.parameters())
    shard = sum(each.to_local().numel() for each in model.parameters())
    if rank == 0:
        size = f"{shard} of {whole} parameters in this process"
        result = f"loss {loss.item():.4f}, {seconds:.1f} s"
        print(f"{world} processes, {arguments.precision}, steps {first} to {step}, {size}, {result}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
