#!/bin/bash
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/job.sh.j2
# Move data between file systems, or from and to another machine, and compare checksums.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=transfer
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu
# The partition has no limit. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
# 12 are the share of a GPU.
#SBATCH --cpus-per-task=4
#SBATCH --mem=8192M
# Slurm may start the job again after the failure of a node: it goes on.
#SBATCH --requeue
# The output of all runs in one file.
#SBATCH --open-mode=append

# The source, with a slash at its end for what is in it, and the target: sbatch transfer.sh /data/set/ /scratch/set/
# From or to another machine, by a key of ssh: sbatch transfer.sh you@host.example.org:set/ /scratch/set/
# More options of rsync come first: sbatch transfer.sh --delete /data/set/ /scratch/set/
# When its time ends, submit it again: it goes on. Without a comparison at the end: CHECKSUM=no sbatch …
# This file has the commands: to change them, copy it to a directory that all nodes see, and name your copy here.
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/job.sh
job_transfer "$@"
