#!/bin/bash
# Made by clustergen from manifest.yaml (cluster home). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/jupyter.sh.j2
# Jupyter on a compute node.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=jupyter
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu
# The partition has no limit. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=rtx_3090:1
# 12 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=12
# The share of a GPU.
#SBATCH --mem-per-gpu=30617M

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install jupyterlab
PATH=${VENV:-$HOME/venv}/bin:$PATH

# The output has the token that opens the server: only you may read it. Other users on this node can reach the port.
chmod 600 "${SLURM_JOB_NAME}-$SLURM_JOB_ID.out" || exit 1
port=$((20000 + SLURM_JOB_ID % 10000))
cat <<END
On your own computer, run: ssh -N -L $port:$SLURMD_NODENAME:$port $USER@titan
Then open the address below that begins with http://127.0.0.1. The server ends with the job: scancel $SLURM_JOB_ID
END
exec jupyter lab --no-browser --ip="$SLURMD_NODENAME" --port="$port" --port-retries=0 \
  --ServerApp.custom_display_url="http://127.0.0.1:$port"
