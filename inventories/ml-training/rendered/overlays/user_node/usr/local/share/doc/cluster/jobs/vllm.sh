#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/vllm.sh.j2
# vLLM: a language model behind an OpenAI-compatible server.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
# The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo.
# Other users of the cluster can reach them, end the job, and read or change what the processes exchange.
# Processes of vLLM exchange Python objects, so these users may run code as you.
#SBATCH --job-name=vllm
#SBATCH --output=%x-%j.out
#SBATCH --partition=gpu-training
# At most 7-00:00:00. Short jobs start earlier.
#SBATCH --time=01:00:00
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=h100:8
# 30 CPUs are the share of a GPU.
#SBATCH --cpus-per-task=240
# The share of a GPU.
#SBATCH --mem-per-gpu=186613M

echo 'The port at which the processes of PyTorch meet has no authentication, nor have connections of NCCL and Gloo. Other users of the cluster can reach them, end the job, and read or change what the processes exchange. Processes of vLLM exchange Python objects, so these users may run code as you.' >&2

# The model and its options: sbatch vllm.sh Qwen/Qwen2.5-7B-Instruct --max-model-len 8192
: "${1:?name a model after the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install vllm
PATH=${VENV:-$HOME/venv}/bin:$PATH

umask 077
# Keys and tokens of this job: a directory that only you can open, on all nodes. It is removed when the job ends.
private=$(mktemp -d "$HOME/.vllm-$SLURM_JOB_ID.XXXXXX") || exit 1
trap 'rm -rf "$private"' EXIT
# Both ends of a connection prove that they have this key. It is made for this job alone.
if ! (umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
  -subj "/CN=vllm job $SLURM_JOB_ID" -addext "subjectAltName=DNS:$SLURMD_NODENAME,DNS:localhost" \
  -keyout "$private/key.pem" -out "$private/cert.pem") 2>"$private/openssl.log"; then
  echo "openssl could not create the certificate:" >&2
  cat "$private/openssl.log" >&2
  exit 1
fi
# A port by the job's number: two jobs may share a node.
port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
  echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch vllm.sh …" >&2
  exit 1
fi
# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/vllm-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"; rm -rf "$private"' EXIT
export TMPDIR=$temporary
tls() { echo "curl --cacert $1/cert.pem --cert $1/cert.pem --key $1/key.pem https://$2:$port/v1/models"; }
cat <<END
On a node of the cluster: $(tls "$private" "$SLURMD_NODENAME")
On your own computer, run these commands, the second one in another terminal:
  scp -rp $USER@login1:$private vllm-$SLURM_JOB_ID
  ssh -N -L $port:$SLURMD_NODENAME:$port $USER@login1
  $(tls "vllm-$SLURM_JOB_ID" localhost)
END
# An API key would protect some paths only. --ssl-cert-reqs 2: no answer to anyone without the job's certificate.
vllm serve "$@" --host "$SLURMD_NODENAME" --port "$port" --tensor-parallel-size 8 \
  --ssl-certfile "$private/cert.pem" --ssl-keyfile "$private/key.pem" --ssl-ca-certs "$private/cert.pem" --ssl-cert-reqs 2
