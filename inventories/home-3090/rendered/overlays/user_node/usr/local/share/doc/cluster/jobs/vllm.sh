#!/bin/bash
# Made by clustergen from manifest.yaml (cluster home). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/vllm.sh.j2
# vLLM: a language model behind an OpenAI-compatible server.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=vllm
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

# The model and its options: sbatch vllm.sh Qwen/Qwen2.5-7B-Instruct --max-model-len 8192
: "${1:?name a model behind the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install vllm
PATH=${VENV:-$HOME/venv}/bin:$PATH

# Requests carry this key: without it, any user of the cluster could use the server.
umask 077
VLLM_API_KEY=$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')
export VLLM_API_KEY
echo "$VLLM_API_KEY" >"vllm-$SLURM_JOB_ID.key"
port=$((20000 + SLURM_JOB_ID % 10000))
echo "curl -H \"Authorization: Bearer \$(cat $PWD/vllm-$SLURM_JOB_ID.key)\" http://$SLURMD_NODENAME:$port/v1/models"
exec vllm serve "$@" --host "$SLURMD_NODENAME" --port "$port" --tensor-parallel-size 4
