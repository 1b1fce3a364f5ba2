#!/bin/bash
# Made by clustergen from manifest.yaml (cluster superpod-h100). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/ray.sh.j2
# Ray cluster that runs one program.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=ray
#SBATCH --output=%x-%j.out
#SBATCH --partition=batch
# At most 2-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=h100:8
# 28 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=224
# The share of a GPU.
#SBATCH --mem-per-gpu=250183M

# Your program and its arguments: sbatch ray.sh my_program.py --epochs 10
: "${1:?name your program behind the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install ray
PATH=${VENV:-$HOME/venv}/bin:$PATH

head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$head:$((20000 + SLURM_JOB_ID % 10000))
resources=(--num-cpus="$SLURM_CPUS_PER_TASK" --num-gpus=8 --disable-usage-stats --block)

# The head first, then a worker on each other node. They end with the job.
srun --nodes=1 --ntasks=1 --nodelist="$head" --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  ray start --head --port="${address##*:}" --include-dashboard=false "${resources[@]}" &
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
