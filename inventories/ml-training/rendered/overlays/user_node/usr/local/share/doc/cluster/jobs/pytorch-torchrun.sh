#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/pytorch-torchrun.sh.j2
# PyTorch, started by torchrun.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.
# Other users of the cluster can reach them, end the job, and read or change what the processes exchange.
# If your program exchanges Python objects, not just tensors, they may run code as you.
#SBATCH --job-name=pytorch-torchrun
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

echo 'The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo. Other users of the cluster can reach them, end the job, and read or change what the processes exchange. If your program exchanges Python objects, not just tensors, they may run code as you.' >&2

# Your program and its arguments: sbatch pytorch-torchrun.sh my_training.py --epochs 10
if (($# == 0)); then set -- train.py --steps 200; fi

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install torch numpy
PATH=${VENV:-$HOME/venv}/bin:$PATH

# A port by the job's number: two jobs may share a node.
port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
  echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch pytorch-torchrun.sh …" >&2
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
temporary=$(mktemp -u "${TMPDIR:-/tmp}/pytorch-torchrun-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"' EXIT
export TMPDIR=$temporary
export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / 8))

# One torchrun per node starts 8 processes there; srun starts the torchruns.
# Not --rdzv-backend=c10d, nor --standalone: both run code that anybody who reaches their port writes there.
# shellcheck disable=SC2016 # expanded in each task
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c '
  exec torchrun --nnodes="$SLURM_NNODES" --node-rank="$SLURM_NODEID" --nproc-per-node=8 \
    --master-addr="$MASTER_ADDR" --master-port="$MASTER_PORT" "$@"
' bash "$@"
