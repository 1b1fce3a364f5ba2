#!/bin/bash
# Made by clustergen from manifest.yaml (cluster home). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/dask.sh.j2
# Dask cluster that runs one program.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=dask
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu
# The partition has no limit. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=rtx_3090:4
# 12 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=48
# The share of a GPU.
#SBATCH --mem-per-gpu=30617M

# Your program and its arguments: sbatch dask.sh my_program.py --epochs 10
: "${1:?name your program behind the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install distributed
PATH=${VENV:-$HOME/venv}/bin:$PATH

# The scheduler writes its address to a file that all nodes see. It ends with the job, and so do the workers.
export DASK_SCHEDULER_FILE=$PWD/dask-$SLURM_JOB_ID.json
trap 'rm -f "$DASK_SCHEDULER_FILE"' EXIT
dask scheduler --port 0 --no-dashboard --scheduler-file "$DASK_SCHEDULER_FILE" &
until [[ -s $DASK_SCHEDULER_FILE ]]; do
  kill -0 $! || exit 1
  sleep 1
done
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" dask worker --scheduler-file "$DASK_SCHEDULER_FILE" \
  --nworkers 4 --nthreads $((SLURM_CPUS_PER_TASK / 4)) --no-dashboard \
  --local-directory "${TMPDIR:-/tmp}" &

# The program: client = distributed.Client(scheduler_file=os.environ["DASK_SCHEDULER_FILE"])
python3 "$@"
