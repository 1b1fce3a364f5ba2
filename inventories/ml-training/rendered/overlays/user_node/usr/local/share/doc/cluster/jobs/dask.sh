#!/bin/bash
# Made by clustergen from manifest.yaml (cluster ml-training). Changes made here are lost:
# edit the manifest and render again. Template: user_node/jobs/dask.sh.j2
# Dask cluster that runs one program.
# Copy it to a directory of your own, adapt it, and submit it with sbatch.
#SBATCH --job-name=dask
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

# Your program and its arguments: sbatch dask.sh my_program.py --epochs 10
: "${1:?name your program after the name of this script}"

# A virtual environment that all nodes see: python3 -m venv ~/venv && ~/venv/bin/pip install distributed
PATH=${VENV:-$HOME/venv}/bin:$PATH

# Keys and tokens of this job: a directory that only you can open, on all nodes. It is removed when the job ends.
private=$(mktemp -d "$HOME/.dask-$SLURM_JOB_ID.XXXXXX") || exit 1
trap 'rm -rf "$private"' EXIT
# Both ends of a connection prove that they have this key. It is made for this job alone.
if ! (umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
  -subj "/CN=dask job $SLURM_JOB_ID" -addext "subjectAltName=DNS:$SLURMD_NODENAME,DNS:localhost" \
  -keyout "$private/key.pem" -out "$private/cert.pem") 2>"$private/openssl.log"; then
  echo "openssl could not create the certificate:" >&2
  cat "$private/openssl.log" >&2
  exit 1
fi
# Files of programs for a while: on each node, a directory that only you can open. In a /tmp that all users share, another
# one could create what a program expects there, as the caches of torch.compile and Dask, which are run as code.
each=()
((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
temporary=$(mktemp -u "${TMPDIR:-/tmp}/dask-XXXXXX")
"${each[@]}" mkdir -m 700 "$temporary" || exit 1
trap '"${each[@]}" rm -rf "$temporary"; rm -rf "$private"' EXIT
export TMPDIR=$temporary
# Dask's processes and your program read these variables. Without TLS, any user of the cluster could run code as you.
export DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME=tls DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$private/cert.pem
for end in SCHEDULER WORKER CLIENT; do
  export "DASK_DISTRIBUTED__COMM__TLS__${end}__CERT=$private/cert.pem"
  export "DASK_DISTRIBUTED__COMM__TLS__${end}__KEY=$private/key.pem"
done
# Pages of the web server have no password: it serves none, and only on the node itself.
export DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES='[]' DASK_DISTRIBUTED__WORKER__HTTP__ROUTES='[]'
web=(--no-dashboard --dashboard-address 127.0.0.1:0)

# The scheduler writes its address to a file that all nodes see. It ends with the job, and so do the workers.
export DASK_SCHEDULER_FILE=$private/scheduler.json
dask scheduler --port 0 "${web[@]}" --scheduler-file "$DASK_SCHEDULER_FILE" &
until [[ -s $DASK_SCHEDULER_FILE ]]; do
  kill -0 $! || exit 1
  sleep 1
done
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" dask worker --scheduler-file "$DASK_SCHEDULER_FILE" \
  --nworkers 8 --nthreads $((SLURM_CPUS_PER_TASK / 8)) "${web[@]}" \
  --local-directory "$TMPDIR" &

# The program: client = distributed.Client(scheduler_file=os.environ["DASK_SCHEDULER_FILE"])
python3 "$@"
