#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/array.sh.j2
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

# Each task gets a number of its own in SLURM_ARRAY_TASK_ID. Here it selects a line of a list of inputs:
# ls data/*.json >inputs.txt && sbatch array.sh
# A larger array: sbatch --array=0-99 array.sh. The option on the command line takes precedence.
input=$SLURM_ARRAY_TASK_ID
if [[ -e inputs.txt ]]; then
  input=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" inputs.txt)
fi

# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/array-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"' EXIT
export TMPDIR=$temporary
echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT on $SLURMD_NODENAME: $input"
# Replace the line above: python3 my_program.py "$input"
