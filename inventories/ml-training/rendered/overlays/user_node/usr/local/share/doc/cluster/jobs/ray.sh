#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/ray.sh.j2
# Ray cluster that runs one program.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=ray
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

# Your program and its arguments: sbatch ray.sh my_program.py --epochs 10
: "${1:?name your program after the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install ray
PATH=${VENV:-$HOME/venv}/bin:$PATH

# Keys and tokens of this job: a directory that only you can open, on all nodes. It is removed when the job ends.
private=$(mktemp -d "$HOME/.ray-$SLURM_JOB_ID.XXXXXX") || exit 1
trap 'rm -rf "$private"' EXIT
(umask 077 && printf %s "$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')" >"$private/token") || exit 1
# Ray's processes and your program read these variables. Without the token, any user of the cluster could run code as you.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$private/token RAY_enable_metrics_collection=0
if ! ray get-auth-token --help >/dev/null 2>&1; then
  echo "this Ray has no token authentication; install 2.52 or later: pip install --upgrade ray" >&2
  exit 1
fi

# A port by the job's number: two jobs may share a node.
port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
  echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch ray.sh …" >&2
  exit 1
fi
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$head:$port
resources=(--num-cpus="$SLURM_CPUS_PER_TASK" --num-gpus=8 --disable-usage-stats --block)

# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/ray-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"; rm -rf "$private"' EXIT
export TMPDIR=$temporary

# The head first, then a worker on each other node. They end with the job. Ray lets all users write to its own directory.
srun --nodes=1 --ntasks=1 --nodelist="$head" --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  ray start --head --port="$port" --include-dashboard=false --temp-dir="$TMPDIR/ray" \
  --ray-client-server-port=$((20000 + (port + 5000) % 10000)) "${resources[@]}" &
head_step=$!
until ray status --address="$address" >/dev/null 2>&1; do
  kill -0 "$head_step" || exit 1
  sleep 2
done
srun --nodes=$((SLURM_NNODES - 1)) --ntasks=$((SLURM_NNODES - 1)) --exclude="$head" \
  --cpus-per-task="$SLURM_CPUS_PER_TASK" ray start --address="$address" "${resources[@]}" &

# ray.init() of the program finds the cluster by this variable.
export RAY_ADDRESS=$address
python3 "$@"
