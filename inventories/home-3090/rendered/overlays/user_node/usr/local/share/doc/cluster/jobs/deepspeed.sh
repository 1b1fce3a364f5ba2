#!/bin/bash
# Made by clustergen from manifest.yaml (cluster home). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/deepspeed.sh.j2
# DeepSpeed, one process per GPU, started by srun.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.
# Other users of the cluster can reach them, end the job, and read or change what the processes exchange.
# If your program exchanges Python objects, not just tensors, they may run code as you.
#SBATCH --job-name=deepspeed
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu
# The partition has no limit. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=rtx_3090:4
# 12 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=12
# The share of a GPU.
#SBATCH --mem-per-gpu=30617M

echo 'The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo. Other users of the cluster can reach them, end the job, and read or change what the processes exchange. If your program exchanges Python objects, not just tensors, they may run code as you.' >&2

# Your program and its arguments: sbatch deepspeed.sh my_program.py --epochs 10
: "${1:?name your program after the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install torch numpy deepspeed
PATH=${VENV:-$HOME/venv}/bin:$PATH

# A port by the job's number: two jobs may share a node.
port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
  echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch deepspeed.sh …" >&2
  exit 1
fi
# All processes meet at the first node, which runs this script.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=$port
export MASTER_ADDR MASTER_PORT
# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/deepspeed-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"' EXIT
export TMPDIR=$temporary
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK

# shellcheck disable=SC2016 # expanded in each task
in_each_task='
  export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS LOCAL_WORLD_SIZE=$SLURM_NTASKS_PER_NODE
  exec python3 "$@"
'

# The program calls deepspeed.initialize(), which reads these variables. Options such as --deepspeed_config are its own.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c "$in_each_task" bash "$@"
