#!/bin/bash
# Made by clustergen from manifest.yaml (cluster superpod-h100). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/pytorch-container.sh.j2
# PyTorch in NVIDIA's container.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=pytorch-container
#SBATCH --output=%x-%j.out
#SBATCH --partition=batch
# At most 2-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=h100:8
# 28 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=28
# The share of a GPU.
#SBATCH --mem-per-gpu=250183M

# Your program and its arguments: sbatch pytorch-container.sh my_training.py --epochs 10
if (($# == 0)); then set -- train.py --steps 200; fi

# All processes meet at the first node. A port by the job's number: two jobs may share a node.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$((20000 + SLURM_JOB_ID % 10000))
export MASTER_ADDR MASTER_PORT
# NCCL needs no variables here: /etc/nccl.conf of the compute nodes names the fabric.
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK

# shellcheck disable=SC2016 # expanded in each task
in_each_task='
  export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=$SLURM_NTASKS_PER_NODE
  exec python3 "$@"
'

# The image is imported at the first start, which takes minutes. To import it once, into a file that all nodes see:
# srun enroot import --output ~/pytorch.sqsh docker://nvcr.io#nvidia/pytorch:25.08-py3, and then IMAGE=~/pytorch.sqsh sbatch …
image=${IMAGE:-'nvcr.io#nvidia/pytorch:25.08-py3'}
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  --container-image="$image" --container-mounts="$PWD:$PWD" --container-workdir="$PWD" \
  bash -c "$in_each_task" bash "$@"
