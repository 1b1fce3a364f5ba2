#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/train_deepspeed.py
"""Example of training with DeepSpeed: ZeRO divides what each process keeps, by stage.

1: states of the optimizer, 2: gradients as well, 3: parameters as well, for models that do not fit into one GPU. Each
process writes its part of a checkpoint, so a run resumes with the same number of processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import torch
from torch import nn


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--stage", type=int, choices=range(4), default=2, help="of ZeRO")
    parser.add_argument("--batch", type=int, default=64, help="samples that a process computes at a time")
    parser.add_argument("--accumulate", type=int, default=1, help="batches before a step of the optimizer")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--precision", choices=["bf16", "fp16", "fp32"], default=os.environ.get("PRECISION", "fp32"))
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint-deepspeed"), help="a directory")
    return parser.parse_args()


def main() -> None:
    arguments = options()
    cuda = torch.cuda.is_available() and not arguments.cpu
    if os.environ.get("SLURM_GPUS_ON_NODE", "0") != "0" and not cuda and not arguments.cpu:
        sys.exit("this job has GPUs, but PyTorch cannot use them; to train on CPUs nevertheless, add --cpu")
    os.environ.setdefault("DS_ACCELERATOR", "cuda" if cuda else "cpu")  # DeepSpeed reads it when it is imported
    import deepspeed

    if cuda:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    device = torch.device("cuda" if cuda else "cpu")
    deepspeed.init_distributed("nccl" if cuda else "gloo", verbose=False)

    torch.manual_seed(0)
    width = arguments.width
    model = nn.Sequential(nn.Linear(width, 4 * width), nn.ReLU(), nn.Linear(4 * width, 1))
    engine, _, _, _ = deepspeed.initialize(
        model=model,
        model_parameters=model.parameters(),
        optimizer=torch.optim.AdamW(model.parameters(), lr=0.001),
        config={
            "train_micro_batch_size_per_gpu": arguments.batch,
            "gradient_accumulation_steps": arguments.accumulate,
            "bf16": {"enabled": arguments.precision == "bf16"},
            "fp16": {"enabled": arguments.precision == "fp16"},  # with a scaled loss, as small gradients would become 0
            "zero_optimization": {"stage": arguments.stage},
            "zero_allow_untested_optimizer": True,  # PyTorch's own instead of one that is compiled on the node
        },
    )
    if arguments.checkpoint.exists():
        engine.load_checkpoint(str(arguments.checkpoint))
    first = engine.global_steps
    if first >= arguments.steps:
        sys.exit(f"{arguments.checkpoint} has step {first} of {arguments.steps}: remove it to begin again")
    rank, world = engine.global_rank, engine.world_size

    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(arguments.precision, torch.float32)
    torch.manual_seed(rank + 1)
    loss = torch.zeros((), device=device)
    started = time.monotonic()
    while engine.global_steps < arguments.steps:
        inputs = torch.randn(arguments.batch, width, device=device)
        loss = ((engine(inputs.to(kind)).float() - inputs[:, :8].sum(1, keepdim=True)) ** 2).mean()
        engine.backward(loss)
        engine.step()  # with the last of the accumulated batches, a step of the optimizer
    seconds = time.monotonic() - started
    engine.save_checkpoint(str(arguments.checkpoint))
    if rank == 0:
        form = f"{world} processes, ZeRO {arguments.stage}, {arguments.precision}"
        print(f"{form}, steps {first} to {engine.global_steps}, loss {loss.item():.4f}, {seconds:.1f} s", flush=True)
    deepspeed.comm.barrier()
    deepspeed.comm.destroy_process_group()


if __name__ == "__main__":
    main()
