#!/bin/bash
# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/job.sh.j2
# TensorFlow, one process per node with all its GPUs.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# The port at which the processes of TensorFlow meet has no authentication.
# Other users of the cluster can reach it, end the job, change data, and may run operations as you.
#SBATCH --job-name=tensorflow
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu-training
# At most 7-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=h100:8
# 30 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=240
# The share of a GPU.
#SBATCH --mem-per-gpu=186613M

# Your program and its arguments: sbatch tensorflow.sh my_training.py --epochs 10; without them, train_tensorflow.py
# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install tensorflow tf_keras
echo 'The port at which the processes of TensorFlow meet has no authentication. Other users of the cluster can reach it, end the job, change data, and may run operations as you.' >&2
# This file has the commands: to change them, copy it to a directory that all nodes see, and name your copy here.
# shellcheck source=/dev/null
. /usr/local/lib/clustergen/job.sh
interface='' precision='bf16' job_tensorflow "$@"
