#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/mpi.sh.j2
# MPI program, one process per core.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# MPI does not authenticate the connections between processes.
# Over TCP, other users of the cluster can reach them, end the job, and read or change messages.
#SBATCH --job-name=mpi
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu-training
# At most 7-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=124
# One core with all its threads.
#SBATCH --cpus-per-task=2

echo 'MPI does not authenticate the connections between processes. Over TCP, other users of the cluster can reach them, end the job, and read or change messages.' >&2

# Your program and its arguments: sbatch mpi.sh ./my_program input.dat
: "${1:?name your program after the name of this script}"

# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/mpi-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"' EXIT
export TMPDIR=$temporary

# srun starts the processes, with the plugin pmix: mpirun is not needed.
# UCX and Open MPI read the names of the fabric's ports from files of the compute nodes.
srun --mpi=pmix --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores "$@"
