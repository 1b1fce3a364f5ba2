#!/bin/bash
# A ResNet of PyTorch learns to tell made-up pictures apart, with one task for each GPU, or one on a node without. The GPU computes
# in bf16 where it can. Pictures are made on the device, so that neither storage nor the processor limits the rate.
command -v "$GATE_PYTHON" >/dev/null || { echo "@missing $GATE_PYTHON"; exit 0; }
"$GATE_PYTHON" -c 'import torch' 2>/dev/null || { echo "@missing torch of $GATE_PYTHON"; exit 0; }
export MASTER_ADDR MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
MASTER_ADDR=127.0.0.1
[ "${SLURM_NNODES:-1}" = 1 ] || MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
exec timeout -k 5 "$((GATE_SECONDS * 3 + 400))" "$GATE_PYTHON" - "$GATE_SECONDS" "$GATE_GPUS" <<'PYTHON'
import math, os, statistics, sys, time
import torch
import torch.distributed as dist
from torch import nn

seconds, gpus = float(sys.argv[1]), int(sys.argv[2])
rank, size = int(os.environ.get("SLURM_PROCID", "0")), int(os.environ.get("SLURM_NTASKS", "1"))
if gpus and torch.cuda.device_count() < gpus:
    sys.exit(print("@why PyTorch sees %d of %d GPUs" % (torch.cuda.device_count(), gpus)))
device = torch.device("cuda", int(os.environ.get("SLURM_LOCALID", "0"))) if gpus else torch.device("cpu")
if gpus:
    torch.cuda.set_device(device)
torch.manual_seed(1)
CLASSES = 10
# ResNet-50 on pictures of 224 pixels; on processors a small one. Less memory than 20 GiB holds a smaller batch.
layers, width, pixels, batch = ((3, 4, 6, 3), 64, 224, 128) if gpus else ((1, 1, 1, 1), 8, 32, 16)
if gpus and torch.cuda.get_device_properties(device).total_memory < 20 << 30:
    batch = 32
bf16 = bool(gpus) and torch.cuda.get_device_capability() >= (8, 0)


class Block(nn.Module):
    """1x1, 3x3 and 1x1 convolutions beside a shortcut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        parts = []
        for number, (a, b, kernel, step) in enumerate(((inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1))):
            parts += [nn.Conv2d(a, b, kernel, step, kernel // 2, bias=False), nn.BatchNorm2d(b)]
            parts += [nn.ReLU()] if number < 2 else []
        self.body = nn.Sequential(*parts)
        direct = stride == 1 and inputs == outputs
        self.shortcut = nn.Identity() if direct else nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


parts, inputs = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], width
for stage, count in enumerate(layers):
    for number in range(count):
        parts.append(Block(inputs, width << stage, 2 if stage and not number else 1))
        inputs = 4 * (width << stage)
model = nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))
model = model.to(device, memory_format=torch.channels_last)
if size > 1:
    dist.init_process_group("nccl" if gpus else "gloo", rank=rank, world_size=size)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[device.index] if gpus else None)
optimizer = torch.optim.SGD(model.parameters(), 0.02, momentum=0.9)
patterns = torch.randn(CLASSES, 3, pixels, pixels, device=device)
torch.manual_seed(rank)


def step():
    """The loss of a batch that the model then learns from."""
    labels = torch.randint(CLASSES, (batch,), device=device)
    pictures = (patterns[labels] + torch.randn(batch, 3, pixels, pixels, device=device)).contiguous(memory_format=torch.channels_last)
    with torch.autocast(device.type, torch.bfloat16, enabled=bf16):
        loss = nn.functional.cross_entropy(model(pictures).float(), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def rounds(count, limit):
    """Losses of rounds of steps until the time is over; all tasks make as many."""
    losses, begin = [], time.monotonic()
    while True:
        losses += [step() for _ in range(count)]
        if gpus:
            torch.cuda.synchronize()
        over = torch.tensor(float(time.monotonic() - begin >= limit), device=device)
        if size > 1:
            dist.all_reduce(over, dist.ReduceOp.MAX)
        if over.item():
            return [loss.item() for loss in losses], time.monotonic() - begin


first, _ = rounds(5, 0)  # memory is allocated and kernels are chosen
losses, spent = rounds(20, seconds)
before, after = statistics.mean(first), statistics.mean(losses[-5:])
print("@reading images %.1f" % (len(losses) * batch / spent))
print("@reading loss %.4f" % after if math.isfinite(after) else "@why the loss is not finite: %s" % after)
if not all(map(math.isfinite, losses)) or not after < before * 0.9:
    print("@why the loss does not fall: %.4f at the start, %.4f after %d steps" % (before, after, len(first + losses)))
if rank == 0:
    print("@reading ranks %d" % (dist.get_world_size() if size > 1 else 1))
if size > 1:
    dist.destroy_process_group()
PYTHON
