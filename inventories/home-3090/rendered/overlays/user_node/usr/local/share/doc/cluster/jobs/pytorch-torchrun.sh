#!/bin/bash
# Made by clustergen from manifest.yaml (cluster home). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/pytorch-torchrun.sh.j2
# PyTorch, started by torchrun.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=pytorch-torchrun
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu
# The partition has no limit. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=rtx_3090:4
# 12 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=48
# The share of a GPU.
#SBATCH --mem-per-gpu=30617M

# Your program and its arguments: sbatch pytorch-torchrun.sh my_training.py --epochs 10
if (($# == 0)); then set -- train.py --steps 200; fi

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install torch numpy
PATH=${VENV:-$HOME/venv}/bin:$PATH

# All processes meet at the first node. A port by the job's number: two jobs may share a node.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
export MASTER_ADDR MASTER_PORT
export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / 4))

# One torchrun per node starts 4 processes there; srun starts the torchruns.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" torchrun \
  --nnodes="$SLURM_NNODES" --nproc-per-node=4 \
  --rdzv-backend=c10d --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$MASTER_ADDR:$MASTER_PORT" \
  "$@"
