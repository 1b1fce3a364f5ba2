#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/requeue.sh.j2
# PyTorch, saves a checkpoint and queues again when its time ends.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.
# Other users of the cluster can reach them, end the job, and read or change what the processes exchange.
# If your program exchanges Python objects, not just tensors, they may run code as you.
#SBATCH --job-name=requeue
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
# Slurm may start the job again, also after the failure of a node.
#SBATCH --requeue
# The output of all runs in one file.
#SBATCH --open-mode=append
# The tasks get this signal 120 s before the limit.
#SBATCH --signal=USR1@120

echo 'The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo. Other users of the cluster can reach them, end the job, and read or change what the processes exchange. If your program exchanges Python objects, not just tensors, they may run code as you.' >&2

# Your program and its arguments: sbatch requeue.sh my_training.py --epochs 10
if (($# == 0)); then set -- train.py --steps 200; fi

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install torch numpy
PATH=${VENV:-$HOME/venv}/bin:$PATH

# A port by the job's number: two jobs may share a node.
port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
  echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch requeue.sh …" >&2
  exit 1
fi
# All processes meet at the first node, which runs this script.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$port
export MASTER_ADDR MASTER_PORT
# NCCL needs no variables here: /etc/nccl.conf of the compute nodes names the fabric.
# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/requeue-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"' EXIT
export TMPDIR=$temporary
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK

# shellcheck disable=SC2016 # expanded in each task
in_each_task='
  export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=$SLURM_NTASKS_PER_NODE
  exec python3 "$@"
'

# Shortly before the time limit, or when a job with a higher priority takes the nodes, the program saves a checkpoint and
# ends with status 75. The job is then queued again under the same number, and goes on from there;
# Slurm waits about two minutes before it starts it again.
status=0
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c "$in_each_task" bash "$@" || status=$?
if ((status == 75)); then
  echo "run $((${SLURM_RESTART_COUNT:-0} + 1)) is not finished: queued again"
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
