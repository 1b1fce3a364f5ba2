#!/bin/bash
# Made by clustergen from manifest.yaml (cluster midrange). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/triton.sh.j2
# Triton Inference Server in NVIDIA's container.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=triton
#SBATCH --output=%x-%j.out
#SBATCH --partition=batch
# At most 3-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=h100:1
# 30 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=30
# The share of a GPU.
#SBATCH --mem-per-gpu=237895M

# The model repository: sbatch triton.sh ~/models
models=$(realpath "${1:?name a directory with models behind the name of this script}")

# Triton requires no key: any user of the cluster can send requests to these ports.
port=$((20000 + SLURM_JOB_ID % 10000))
echo "curl http://$SLURMD_NODENAME:$port/v2/health/ready"
image=${IMAGE:-'nvcr.io#nvidia/tritonserver:25.08-py3'}
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" \
  --container-image="$image" --container-mounts="$models:/models:ro" \
  tritonserver --model-repository=/models --http-port="$port" --allow-grpc=false --allow-metrics=false
