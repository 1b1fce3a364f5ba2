#!/bin/bash
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/job.sh.j2
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

# Your program and its arguments: sbatch mpi.sh ./my_program input.dat
echo 'MPI does not authenticate the connections between processes. Over TCP, other users of the cluster can reach them, end the job, and read or change messages.' >&2
# This file has the commands: to change them, copy it to a directory that all nodes see, and name your copy here.
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/job.sh
mpi='pmix' job_mpi "$@"
