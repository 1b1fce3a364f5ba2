#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/train_tensor_parallel.py
"""Example of tensor parallel training with PyTorch: inside a node each layer is divided, across nodes the data.

The processes of a node compute every layer together and exchange activations several times per block, which NVLink is
fast enough for. Nodes exchange gradients once per step. `up` is divided by columns and `down` by rows, so a block needs
one sum over the processes of the node, forward and backward.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


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
    parser.add_argument("--batch", type=int, default=64, help="samples that the processes of a node compute together")
    parser.add_argument("--width", type=int, default=256, help="size of a block; four times as much is divided")
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--precision", choices=["bf16", "fp32"], default=os.environ.get("PRECISION", "fp32"))
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
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
    rank, world, local = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_WORLD_SIZE"])
    if local == 1:
        sys.exit("a node has one process, so no layer can be divided: submit the job with more GPUs per node")
    if 4 * arguments.width % local:
        sys.exit(f"{local} processes cannot divide {4 * arguments.width} columns evenly: choose another --width")

    torch.manual_seed(0)  # the same model in all processes, before it is divided
    with device:
        model = nn.Sequential(*(Block(arguments.width) for _ in range(arguments.blocks)), nn.Linear(arguments.width, 1))
    mesh = init_device_mesh(device.type, (world // local, local), mesh_dim_names=("nodes", "gpus"))
    for block in list(model)[:-1]:
        parallelize_module(block, mesh["gpus"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    kind = torch.bfloat16 if arguments.precision == "bf16" else torch.float32
    policy = MixedPrecisionPolicy(param_dtype=kind, reduce_dtype=torch.float32)
    for block in model:  # across nodes, parameters are sharded as well
        fully_shard(block, mesh=mesh["nodes"], mp_policy=policy)
    fully_shard(model, mesh=mesh["nodes"], mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.001, foreach=False)  # parameters of two meshes

    loss = torch.zeros((), device=device)
    started = time.monotonic()
    torch.manual_seed(rank // local + 1)  # the processes of a node need the same batch
    for _ in range(arguments.steps):
        inputs = torch.randn(arguments.batch, arguments.width, device=device)
        loss = ((model(inputs).float() - inputs[:, :8].sum(1, keepdim=True)) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    seconds = time.monotonic() - started
    if rank == 0:
        form = f"{world // local} nodes × {local} parts of a layer"
        shape = tuple(model[0].up.weight.to_local().shape)
        result = f"up has {shape} here, loss {loss.item():.4f}, {seconds:.1f} s"
        print(f"{form}, {arguments.precision}, {arguments.steps} steps, {result}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
