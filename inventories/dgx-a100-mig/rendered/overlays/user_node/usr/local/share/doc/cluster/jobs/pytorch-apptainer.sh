#!/bin/bash
# Made by clustergen from manifest.yaml (cluster dgx-a100). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/pytorch-apptainer.sh.j2
# PyTorch in NVIDIA's container, with Apptainer.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=pytorch-apptainer
#SBATCH --output=%x-%j.out
#SBATCH --partition=training
# At most 3-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=a100:8
# 32 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=32
# The share of a GPU.
#SBATCH --mem-per-gpu=124518M

# Your program and its arguments: sbatch pytorch-apptainer.sh my_training.py --epochs 10
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

# A file that all nodes see: apptainer pull ~/pytorch.sif docker://nvcr.io/nvidia/pytorch:25.08-py3
image=${IMAGE:-$HOME/pytorch.sif}
[[ -e $image ]] || { echo "there is no image $image" >&2; exit 1; }
# --nv: libraries and device files of the GPUs.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  apptainer exec --nv --bind "$PWD" --pwd "$PWD" "$image" bash -c "$in_each_task" bash "$@"
