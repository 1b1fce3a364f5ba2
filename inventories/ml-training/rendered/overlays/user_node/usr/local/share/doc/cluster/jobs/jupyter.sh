#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/jupyter.sh.j2
# Jupyter on a compute node.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=jupyter
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu-training
# At most 7-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=h100:1
# 30 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=30
# The share of a GPU.
#SBATCH --mem-per-gpu=186613M

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install jupyterlab
PATH=${VENV:-$HOME/venv}/bin:$PATH

# Keys and tokens of this job: a directory that only you can open, on all nodes. It is removed when the job ends.
private=$(mktemp -d "$HOME/.jupyter-$SLURM_JOB_ID.XXXXXX") || exit 1
trap 'rm -rf "$private"' EXIT
(umask 077 && printf %s "$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')" >"$private/token") || exit 1
# A port by the job's number: two jobs may share a node.
port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
  echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch jupyter.sh …" >&2
  exit 1
fi
# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/jupyter-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"; rm -rf "$private"' EXIT
export TMPDIR=$temporary
# Kernels get sockets that only you can open: at TCP ports, other users of the node could read what cells print.
export JUPYTER_RUNTIME_DIR=$TMPDIR JUPYTER_TOKEN_FILE=$private/token
cat <<END
On your own computer, run: ssh -N -L $port:$SLURMD_NODENAME:$port $USER@login1
Then open http://127.0.0.1:$port/lab
The page requires a token, which this command prints: ssh $USER@login1 cat $private/token
The server ends with the job: scancel $SLURM_JOB_ID. End the ssh command then, too.
END
jupyter lab --no-browser --ip="$SLURMD_NODENAME" --port="$port" --port-retries=0 --KernelManager.transport=ipc
