#!/bin/bash
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/job.sh.j2
# Job array: the same program for many inputs.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=array
#SBATCH --output=%x-%A_%a.out
#SBATCH --partition=gpu-training
# At most 7-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=h100:1
# 30 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=30
# The share of a GPU.
#SBATCH --mem-per-gpu=186613M
# 10 tasks, 4 at the same time.
#SBATCH --array=0-9%4

# Your program: sbatch array.sh python3 my_program.py
# The program gets a last argument: the line of the task in inputs.txt, without that file its number.
# A larger array: sbatch --array=0-99 array.sh. The option on the command line takes precedence.
# This file has the commands: to change them, copy it to a directory that all nodes see, and name your copy here.
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/job.sh
job_array "$@"
