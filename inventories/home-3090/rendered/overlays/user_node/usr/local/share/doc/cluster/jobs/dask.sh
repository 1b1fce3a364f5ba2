#!/bin/bash
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/job.sh.j2
# Dask cluster that runs one program.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=dask
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

# Your program and its arguments: sbatch dask.sh my_program.py --epochs 10
# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install distributed
# This file has the commands: to change them, copy it to a directory that all nodes see, and name your copy here.
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/job.sh
gpus='4' interface='' job_dask "$@"
