#!/usr/bin/env python3
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/finetune.py
"""Example of a fine-tune with Transformers and Accelerate: a language model learns the text of a file.

Without --model it is a small model with random weights that reads bytes, which needs no download; its text is this
file.
With --model, a name of the hub or a directory, it is that model with its tokenizer:
finetune.py --model Qwen/Qwen2.5-0.5B --text my.txt
The launcher sets the precision.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GPT2Config,
    GPT2LMHeadModel,
    get_cosine_schedule_with_warmup,
)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", help="name of the hub, or a directory that all nodes see")
    parser.add_argument("--text", type=Path, default=Path(__file__))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=8, help="sequences that a process computes at a time")
    parser.add_argument("--accumulate", type=int, default=1, help="batches before a step of the optimizer")
    parser.add_argument("--length", type=int, default=128, help="tokens of a sequence")
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate")
    parser.add_argument("--cpu", action="store_true", help="train on CPUs, also in a job with GPUs")
    parser.add_argument("--output", type=Path, default=Path("finetuned"))
    return parser.parse_args()


def read(arguments: argparse.Namespace) -> tuple[Any, Any, list[int]]:
    """Model, tokenizer or None, and the tokens of the text."""
    if arguments.model is None:
        ends = {"bos_token_id": 0, "eos_token_id": 0}
        config = GPT2Config(n_layer=2, n_head=4, n_embd=128, vocab_size=256, n_positions=arguments.length, **ends)
        return GPT2LMHeadModel(config), None, list(arguments.text.read_bytes())
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModelForCausalLM.from_pretrained(arguments.model)
    return model, tokenizer, tokenizer(arguments.text.read_text(encoding="utf-8"))["input_ids"]


def main() -> None:
    arguments = options()
    accelerator = Accelerator(cpu=arguments.cpu, gradient_accumulation_steps=arguments.accumulate)
    if os.environ.get("SLURM_GPUS_ON_NODE", "0") != "0" and accelerator.device.type != "cuda" and not arguments.cpu:
        sys.exit("this job has GPUs, but PyTorch cannot use them; to train on CPUs nevertheless, add --cpu")
    # Without GPUs, Accelerate ignores --use_fsdp and --use_deepspeed, or starts processes that do not know each other.
    form = accelerator.distributed_type.value
    for name in ("FSDP", "DEEPSPEED"):
        if os.environ.get(f"ACCELERATE_USE_{name}", "false").lower() in ("1", "true") and form != name:
            sys.exit(f"--use_{name.lower()} has no effect here: Accelerate would train with {form}")
    expected = int(os.environ.get("PROCESSES") or os.environ.get("WORLD_SIZE") or 1)
    if accelerator.num_processes != expected:
        sys.exit(f"{expected} processes were started, and {accelerator.num_processes} of them would train together")

    set_seed(0)
    model, tokenizer, tokens = read(arguments)
    pieces = [torch.tensor(tokens[at : at + arguments.length]) for at in range(0, len(tokens), arguments.length)]
    pieces = [piece for piece in pieces if len(piece) == arguments.length]
    if len(pieces) < arguments.batch * expected:
        sys.exit(f"the text has {len(pieces)} sequences of {arguments.length} tokens; shorten --length or --batch")
    batches: Any = torch.utils.data.DataLoader(pieces, batch_size=arguments.batch, shuffle=True, drop_last=True)
    optimizer: Any = torch.optim.AdamW(model.parameters(), lr=arguments.rate)
    model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
    steps = arguments.epochs * len(batches) // arguments.accumulate
    schedule = get_cosine_schedule_with_warmup(optimizer, steps // 10, steps)

    first = loss = torch.tensor(0.0)
    started = time.monotonic()
    for epoch in range(arguments.epochs):
        for batch in batches:
            with accelerator.accumulate(model):
                loss = model(input_ids=batch, labels=batch).loss
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                if accelerator.sync_gradients:
                    schedule.step()
                optimizer.zero_grad()
        mean = accelerator.reduce(loss.detach().float(), "mean")
        first = mean if epoch == 0 else first
        loss = mean
        accelerator.print(f"epoch {epoch + 1}: loss {mean.item():.3f}")
    seconds = time.monotonic() - started
    accelerator.wait_for_everyone()
    state = accelerator.get_state_dict(model)
    if accelerator.is_main_process:
        accelerator.unwrap_model(model).save_pretrained(arguments.output, state_dict=state)
        if tokenizer is not None:
            tokenizer.save_pretrained(arguments.output)
    words = f"{accelerator.num_processes} processes, {form}, {accelerator.mixed_precision}, {steps} steps"
    accelerator.print(f"{words}, loss {first.item():.3f} → {loss.item():.3f}, {seconds:.1f} s, {arguments.output}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
