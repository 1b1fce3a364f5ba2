#!/bin/bash
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/job.sh.j2
# PyTorch FSDP: a model that is larger than a GPU, sharded over all.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.
# Other users of the cluster can reach them, end the job, and read or change what the processes exchange.
# If your program exchanges Python objects, not just tensors, they may run code as you.
#SBATCH --job-name=fsdp
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu-training
# At most 7-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-node=h100:8
# 30 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=30
# The share of a GPU.
#SBATCH --mem-per-gpu=186613M

# Your program and its arguments: sbatch fsdp.sh my_training.py --epochs 10; without them, train_fsdp.py
# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install torch numpy
echo 'The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo. Other users of the cluster can reach them, end the job, and read or change what the processes exchange. If your program exchanges Python objects, not just tensors, they may run code as you.' >&2
# This file has the commands: to change them, copy it to a directory that all nodes see, and name your copy here.
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/job.sh
interface='' precision='bf16' job_fsdp "$@"
