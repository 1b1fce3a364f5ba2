#!/bin/bash
# Made by clustergen from manifest.yaml (cluster a6000-quad). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/pytorch-podman.sh.j2
# PyTorch in NVIDIA's container, with Podman.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=pytorch-podman
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu
# At most 2-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=a6000:2
# 24 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=48
# The share of a GPU.
#SBATCH --mem-per-gpu=123043M

# Your program and its arguments: sbatch pytorch-podman.sh my_training.py --epochs 10
if (($# == 0)); then set -- train.py --steps 200; fi

image=${IMAGE:-nvcr.io/nvidia/pytorch:25.08-py3}
# gpu=all: of the GPUs of the node, the job's control group admits those of the job.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  podman run --rm --device=nvidia.com/gpu=all --network=host --ipc=host --volume="$PWD:$PWD" --workdir="$PWD" "$image" \
  torchrun --standalone --nproc-per-node=2 "$@"
