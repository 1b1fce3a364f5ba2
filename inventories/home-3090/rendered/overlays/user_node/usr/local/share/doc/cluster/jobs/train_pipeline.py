#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/train_pipeline.py
"""Example of pipeline parallel training with PyTorch: each node has some of the layers, each GPU of a node other data.

It pays where a model does not fit into one node: between nodes only activations travel, point to point. A batch is cut
into microbatches, so that the stages work at the same time. With few microbatches the stages wait: of the time,
(stages - 1) / (microbatches + stages - 1) is idle.
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
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.nn.parallel import DistributedDataParallel


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=64, help="samples of a step, for each pipeline")
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--blocks", type=int, default=4, help="layers of a stage")
    parser.add_argument("--stages", type=int, help="default: the nodes of the job, on one node its processes")
    parser.add_argument("--precision", choices=["bf16", "fp32"], default=os.environ.get("PRECISION", "fp32"))
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
    return parser.parse_args()


class Layers(nn.Module):
    """The layers of a stage: parameters are fp32, and computed with in another precision."""

    def __init__(self, layers: list[nn.Module], device: str, kind: torch.dtype) -> None:
        super().__init__()
        self.layers, self.device, self.kind = nn.Sequential(*layers), device, kind

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        with torch.autocast(self.device, self.kind, enabled=self.kind is not torch.float32):
            return self.layers(inputs)


def squared_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.mse_loss(outputs.float(), targets)


def main() -> None:
    arguments = options()
    cuda = torch.cuda.is_available() and not arguments.cpu
    if os.environ.get("SLURM_GPUS_ON_NODE", "0") != "0" and not cuda and not arguments.cpu:
        sys.exit("this job has GPUs, but PyTorch cannot use them; to train on CPUs nevertheless, add --cpu")
    if cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    device = torch.device("cuda" if cuda else "cpu")
    dist.init_process_group("nccl" if cuda else "gloo")
    world, nodes = dist.get_world_size(), dist.get_world_size() // int(os.environ["LOCAL_WORLD_SIZE"])
    stages = arguments.stages or (nodes if nodes > 1 else world)
    if stages == 1:
        sys.exit("one process is no pipeline: submit the job with more GPUs or nodes")
    if world % stages:
        sys.exit(f"{world} processes cannot form pipelines of {stages} stages: choose other --stages")
    if arguments.batch % arguments.microbatches:
        sys.exit(f"a batch of {arguments.batch} is not {arguments.microbatches} equal microbatches")

    # Ranks are numbered node by node, so a row of this mesh is a stage, and a column is a pipeline.
    mesh = init_device_mesh(device.type, (stages, world // stages), mesh_dim_names=("stage", "data"))
    number, copy = mesh.get_coordinate() or (0, 0)
    kind = torch.bfloat16 if arguments.precision == "bf16" else torch.float32
    torch.manual_seed(number)
    width = arguments.width
    layers = [layer for _ in range(arguments.blocks) for layer in (nn.Linear(width, width), nn.ReLU())]
    is_last = number == stages - 1
    if is_last:
        layers.append(nn.Linear(width, 1))
    part: nn.Module = Layers(layers, device.type, kind).to(device)
    if world > stages:
        part = DistributedDataParallel(part, process_group=mesh["data"].get_group())
    stage = PipelineStage(part, number, stages, device, group=mesh["stage"].get_group())
    pipeline = Schedule1F1B(stage, n_microbatches=arguments.microbatches, loss_fn=squared_error)
    optimizer = torch.optim.AdamW(part.parameters(), lr=0.001)

    losses: list[torch.Tensor] = []
    started = time.monotonic()
    torch.manual_seed(1000 + copy)  # the first and the last stage of a pipeline draw the same samples
    for _ in range(arguments.steps):
        inputs = torch.randn(arguments.batch, width, device=device)
        if number == 0:
            pipeline.step(inputs)
        elif is_last:
            losses.clear()
            pipeline.step(target=inputs[:, :8].sum(1, keepdim=True), losses=losses)
        else:
            pipeline.step()
        optimizer.step()
        optimizer.zero_grad()
    seconds = time.monotonic() - started
    if is_last and copy == 0:
        loss = torch.stack(losses).mean().item()
        form = f"{world // stages} pipelines of {stages} stages"
        print(f"{form}, {arguments.precision}, {arguments.steps} steps, loss {loss:.4f}, {seconds:.1f} s", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
