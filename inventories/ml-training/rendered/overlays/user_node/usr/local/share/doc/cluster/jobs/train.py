#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/train.py
"""Example of data-parallel training with PyTorch: a small model, with all parts that every training job needs.

Runs on GPUs with NCCL, and on CPUs with Gloo. Start it with a job template of this directory. Each process has a copy
of the model and a part of each batch. Checkpoints are written every --every steps, and when Slurm announces the end of
the job (SIGUSR1 or SIGTERM); the next run resumes from the last one. A process that makes no step for --stall seconds
prints where each of its threads is, and ends.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import profile, schedule, tensorboard_trace_handler

RESUME_LATER = 75  # exit status of a run that has to be continued (EX_TEMPFAIL)
TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
stop = False


def on_signal(_number: int, _frame: object) -> None:
    global stop
    stop = True


class Watchdog(threading.Thread):
    """Ends a process that hangs, to be continued where this run has written a checkpoint."""

    def __init__(self, limit: float) -> None:
        super().__init__(daemon=True)
        self.limit, self.last, self.status = limit, time.monotonic(), 1

    def run(self) -> None:
        while time.monotonic() - self.last < self.limit:
            time.sleep(min(1, self.limit / 4))
        print(f"no step for {self.limit:g} s; the process is here:", file=sys.stderr, flush=True)
        faulthandler.dump_traceback()
        os._exit(self.status)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=256, help="samples that a process computes at a time")
    parser.add_argument("--accumulate", type=int, default=1, help="batches before a step of the optimizer")
    parser.add_argument("--width", type=int, default=256, help="size of the model")
    parser.add_argument("--precision", choices=TYPES, default=os.environ.get("PRECISION", "fp32"))
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
    parser.add_argument(
        "--every", type=int, default=100, help="steps between checkpoints; 0: neither write nor read one"
    )
    parser.add_argument("--pause", type=float, default=0, help="seconds between steps, to try signals")
    parser.add_argument("--stall", type=float, default=0, help="seconds without a step after which to end; 0: never")
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoint.pt"))
    parser.add_argument("--profile", type=Path, help="directory for traces of a few steps, which Perfetto can open")
    return parser.parse_args()


def select_device(arguments: argparse.Namespace) -> torch.device:
    """The GPU of this process. Exits where the job would quietly train on less than it was started for."""
    cuda = torch.cuda.is_available() and not arguments.cpu
    if os.environ.get("SLURM_GPUS_ON_NODE", "0") != "0" and not cuda and not arguments.cpu:
        sys.exit("this job has GPUs, but PyTorch cannot use them; to train on CPUs nevertheless, add --cpu")
    if cuda and arguments.precision == "bf16" and torch.cuda.get_device_capability() < (8, 0):
        sys.exit("this GPU has no bf16, which begins with compute capability 8.0: --precision fp16")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if cuda else torch.device("cpu")


def tracer(directory: Path | None) -> profile | nullcontext[None]:
    """Records three steps, after those in which memory is allocated."""
    if directory is None:
        return nullcontext()
    handler = tensorboard_trace_handler(str(directory))
    return profile(schedule=schedule(wait=2, warmup=1, active=3), on_trace_ready=handler)


def resume(path: Path, parts: dict[str, Any], device: torch.device) -> int:
    """The step of the checkpoint; 0 without one."""
    if not path.exists():
        return 0
    state = torch.load(path, map_location=device, weights_only=True)
    for name, part in parts.items():
        if state[name]:  # the scaler's is empty after a run with another precision
            part.load_state_dict(state[name])
    return int(state["step"])


def save(path: Path, parts: dict[str, Any], step: int) -> None:
    unfinished = path.with_suffix(".new")
    torch.save({**{name: part.state_dict() for name, part in parts.items()}, "step": step}, unfinished)
    unfinished.replace(path)  # a job that is killed here leaves the old checkpoint whole


def stops(device: torch.device) -> bool:
    """A signal reaches the processes at different steps: all of them stop where the first one wants to."""
    wants = torch.tensor(float(stop), device=device)
    dist.all_reduce(wants, dist.ReduceOp.MAX)
    return bool(wants.item())


def main() -> None:
    arguments = options()
    signal.signal(signal.SIGUSR1, on_signal)
    signal.signal(signal.SIGTERM, on_signal)

    device = select_device(arguments)
    cuda = device.type == "cuda"
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, world = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(rank)
    width = arguments.width
    layers = torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, width), torch.nn.ReLU()
    network = torch.nn.Sequential(*layers, torch.nn.Linear(width, 1)).to(device)
    model = DistributedDataParallel(network, device_ids=[device.index] if cuda else None)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    kind = TYPES[arguments.precision]
    scaler = torch.amp.GradScaler(device.type, enabled=kind is torch.float16)  # small gradients of fp16 would become 0
    parts = {"model": network, "optimizer": optimizer, "scaler": scaler}
    step = resume(arguments.checkpoint, parts, device) if arguments.every else 0
    if step >= arguments.steps:
        if rank == 0:
            print(f"{arguments.checkpoint} has step {step} of {arguments.steps}: remove it to begin again", flush=True)
        dist.destroy_process_group()
        return

    watchdog = Watchdog(arguments.stall)
    if arguments.stall:
        watchdog.start()

    def train(inputs: torch.Tensor, is_last: bool) -> torch.Tensor:
        """Adds the gradients of a batch; all processes exchange their sums with the last one before a step."""
        with nullcontext() if is_last else model.no_sync():
            with torch.autocast(device.type, kind, enabled=kind is not torch.float32):
                loss = ((model(inputs).float() - inputs.sum(1, keepdim=True)) ** 2).mean()
            scaler.scale(loss / arguments.accumulate).backward()
        return loss.detach()

    loss = torch.zeros((), device=device)
    first, started, is_stopped = step, time.monotonic(), False
    with tracer(arguments.profile) as trace:
        while step < arguments.steps:
            for number in range(1, arguments.accumulate + 1):
                loss = train(torch.randn(arguments.batch, 64, device=device), number == arguments.accumulate)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            step += 1
            watchdog.last = time.monotonic()
            if trace:
                trace.step()
            is_stopped = stops(device)
            if is_stopped or (arguments.every and (step % arguments.every == 0 or step == arguments.steps)):
                if rank == 0:
                    save(arguments.checkpoint, parts, step)
                watchdog.status = RESUME_LATER
            if is_stopped:
                break
            time.sleep(arguments.pause)
    seconds = time.monotonic() - started
    if is_stopped:
        if rank == 0:
            print(f"stopped at step {step} of {arguments.steps}", flush=True)
        dist.destroy_process_group()
        sys.exit(RESUME_LATER)
    dist.all_reduce(loss)
    if rank == 0:
        rate = (step - first) * arguments.accumulate * arguments.batch * world / seconds
        result = f"loss {loss.item() / world:.4f}, {seconds:.1f} s, {rate:.0f} samples/s"
        print(f"{world} processes, {arguments.precision}, steps {first} to {step}, {result}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
