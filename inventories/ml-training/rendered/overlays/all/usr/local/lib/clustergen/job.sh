# Made by clustergen from manifest.yaml. Changes made here are lost:
# edit the manifest and render again. Program: jobs/job.sh
# What the job templates start. A job script sources this file, and calls one of the functions job_*. To change how a program
# starts, copy the file to a directory that all nodes see, adapt the function, and name your copy in the job script. Users have
# copies of job scripts: names and values of the functions stay.
# shellcheck shell=bash

private='' temporary='' each=() # variables of the user come along with sbatch
trap 'remove_files' EXIT

remove_files() {
  [[ -z $temporary ]] || "${each[@]}" rm -rf "$temporary"
  [[ -z $private ]] || rm -rf "$private"
}

# use_venv: a virtual environment that all nodes see
use_venv() { PATH=${VENV:-$HOME/venv}/bin:$PATH; }

# make_temporary TEMPLATE: files of programs for a while: on each node, a directory that only you can open. In a /tmp that all
# users share, another one could create what a program expects there, as the caches of torch.compile and Dask, which are run as
# code.
make_temporary() {
  ((SLURM_NNODES == 1)) || each=(srun --overlap --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" --ntasks-per-node=1)
  temporary=$(mktemp -u "${TMPDIR:-/tmp}/$1-XXXXXX")
  "${each[@]}" mkdir -m 700 "$temporary" || exit 1
  export TMPDIR=$temporary
}

# make_private TEMPLATE: a directory that only you can open, on all nodes, for keys and tokens of this job
make_private() {
  [[ -z $private ]] || return 0
  private=$(mktemp -d "$HOME/.$1-$SLURM_JOB_ID.XXXXXX") || exit 1
}

make_token() {
  make_private "$1"
  (umask 077 && printf %s "$(head -c 24 /dev/urandom | base64 | tr '+/' '-_')" >"$private/token") || exit 1
}

# make_certificate TEMPLATE: both ends of a connection prove that they have this key. It is made for this job alone.
make_certificate() {
  make_private "$1"
  if ! (umask 077 && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 \
    -subj "/CN=$1 job $SLURM_JOB_ID" -addext "subjectAltName=DNS:$SLURMD_NODENAME,DNS:localhost" \
    -keyout "$private/key.pem" -out "$private/cert.pem") 2>"$private/openssl.log"; then
    echo "openssl could not create the certificate:" >&2
    cat "$private/openssl.log" >&2
    exit 1
  fi
}

# select_port TEMPLATE: by the job's number, as two jobs may share a node; below those that Linux hands out by itself
select_port() {
  port=${JOB_PORT:-$((20000 + SLURM_JOB_ID % 10000))}
  if (: <"/dev/tcp/$SLURMD_NODENAME/$port") 2>/dev/null; then
    echo "port $port of $SLURMD_NODENAME is in use; to select another one: JOB_PORT=$((port + 1)) sbatch $1.sh …" >&2
    exit 1
  fi
}

first_node() { scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1; }

first_nodes() { scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n "$1" | paste -sd,; }

# meet TEMPLATE: all processes meet at the first node, which runs this script. NCCL needs no variables here: /etc/nccl.conf of
# the compute nodes names the fabric.
meet() {
  : "${interface?}"
  set_precision
  select_port "$1"
  MASTER_ADDR=$(first_node)
  MASTER_PORT=$port
  export MASTER_ADDR MASTER_PORT
  [[ -z $interface ]] || export GLOO_SOCKET_IFNAME=$interface
}

# A program that calls init_process_group() reads these variables.
# shellcheck disable=SC2016 # expanded in each task
in_each_task='
  export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID
  export WORLD_SIZE=$SLURM_STEP_NUM_TASKS LOCAL_WORLD_SIZE=$SLURM_NTASKS_PER_NODE
  exec python3 "$@"
'

# in_tasks [OPTION OF SRUN|PROGRAM THAT STARTS A CONTAINER…] -- PROGRAM…: a Python program in all tasks, with their ranks
in_tasks() {
  local before=()
  until [[ $1 == -- ]]; do before+=("$1") && shift; done
  shift
  export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" "${before[@]}" bash -c "$in_each_task" bash "$@"
}

# What a job script states before the call; shellcheck sees no assignment.
: "${gpus-}" "${interface-}" "${runtime-}" "${precision-}"

# set_precision: the examples read PRECISION, which is bf16, fp16 or fp32; that of the GPUs unless you name one
set_precision() { export PRECISION=${PRECISION:-${precision:-fp32}}; }

need_program() { : "${1:?name your program after the name of this script}"; }

job_array() { # each task has a number of its own, which selects a line of a list
  local input=$SLURM_ARRAY_TASK_ID
  [[ ! -e inputs.txt ]] || input=$(sed -n "$((SLURM_ARRAY_TASK_ID + 1))p" inputs.txt)
  (($#)) || set -- echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT on $SLURMD_NODENAME:"
  make_temporary array
  "$@" "$input"
}

job_transfer() { # what is interrupted stays in .rsync-partial, where the next run of rsync goes on
  local status=1 attempt differing options=(--archive --hard-links --no-whole-file --partial-dir=.rsync-partial)
  if (($# < 2)); then
    echo 'name the source and the target after the name of this script' >&2
    exit 2
  fi
  options+=('--rsh=ssh -o BatchMode=yes -o ServerAliveInterval=30')
  make_temporary transfer
  for attempt in 1 2 3 4 5; do
    status=0
    rsync "${options[@]}" --stats --human-readable "$@" || status=$?
    case $status in
      10 | 12 | 30 | 35 | 255) echo "attempt $attempt: the connection was lost (status $status)" >&2 ;;
      *) break ;;
    esac
    ((attempt == 5)) || sleep "${RETRY_SECONDS:-60}"
  done
  ((status == 0)) || exit "$status"
  [[ ${CHECKSUM:-yes} != no ]] || return 0
  differing=$(rsync "${options[@]}" --checksum --dry-run --out-format=%n "$@") || exit
  if [[ $differing ]]; then
    printf 'differs in the target:\n%s\n' "$differing" >&2
    exit 1
  fi
  echo 'checksums of all files are the same in the target'
}

job_pytorch_srun() {
  (($#)) || set -- train.py --steps 200
  use_venv
  meet pytorch-srun
  make_temporary pytorch-srun
  in_tasks -- "$@"
}

job_pytorch_torchrun() { # one torchrun per node starts the processes there; srun starts the torchruns
  (($#)) || set -- train.py --steps 200
  use_venv
  meet pytorch-torchrun
  make_temporary pytorch-torchrun
  export PROCESSES=$((gpus > 0 ? gpus : 1))
  export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / PROCESSES))
  # Not --rdzv-backend=c10d, nor --standalone: both run code that anybody who reaches their port writes there.
  # shellcheck disable=SC2016 # expanded in each task
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c '
    exec torchrun --nnodes="$SLURM_NNODES" --node-rank="$SLURM_NODEID" --nproc-per-node="$PROCESSES" \
      --master-addr="$MASTER_ADDR" --master-port="$MASTER_PORT" "$@"
  ' bash "$@"
}

# Shortly before the time limit, or when a job with a higher priority takes the nodes, the program saves a checkpoint and ends
# with status 75 (EX_TEMPFAIL of sysexits.h). The job is then queued again under the same number, and goes on from there; Slurm
# waits about two minutes before it starts it again.
job_requeue() {
  local status=0
  (($#)) || set -- train.py --steps 200
  use_venv
  meet requeue
  make_temporary requeue
  in_tasks -- "$@" || status=$?
  if ((status == 75)); then
    echo "run $((${SLURM_RESTART_COUNT:-0} + 1)) is not finished: queued again"
    scontrol requeue "$SLURM_JOB_ID"
  fi
  return "$status"
}

job_accelerate() { # the launcher passes the precision to Accelerator()
  (($#)) || set -- finetune.py
  use_venv
  meet accelerate
  make_temporary accelerate
  export PROCESSES=$((SLURM_NNODES * gpus))
  export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / gpus))
  ((PROCESSES == 1)) || set -- --multi_gpu "$@"
  # shellcheck disable=SC2016 # expanded in each task
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c '
    exec accelerate launch --mixed_precision="${PRECISION/fp32/no}" --dynamo_backend=no \
      --num_machines="$SLURM_NNODES" --machine_rank="$SLURM_NODEID" --num_processes="$PROCESSES" \
      --main_process_ip="$MASTER_ADDR" --main_process_port="$MASTER_PORT" "$@"
  ' bash "$@"
}

# train_in_tasks TEMPLATE PROGRAM…: one process per GPU, which meet at the first node
train_in_tasks() {
  use_venv
  meet "$1"
  make_temporary "$1"
  in_tasks -- "${@:2}"
}

job_fsdp() {
  (($#)) || set -- train_fsdp.py
  train_in_tasks fsdp "$@"
}

job_tensor_parallel() {
  (($#)) || set -- train_tensor_parallel.py
  train_in_tasks tensor-parallel "$@"
}

job_pipeline() {
  (($#)) || set -- train_pipeline.py
  train_in_tasks pipeline "$@"
}

job_deepspeed() { # the program calls deepspeed.initialize(); options such as --deepspeed_config are its own
  (($#)) || set -- train_deepspeed.py
  train_in_tasks deepspeed "$@"
}

job_tensorflow() { # one process per node has all GPUs of the node; TF_CONFIG names the processes
  local hosts
  (($#)) || set -- train_tensorflow.py
  use_venv
  set_precision
  select_port tensorflow
  make_temporary tensorflow
  hosts=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed "s/.*/\"&:$port\"/" | paste -sd,)
  export WORKERS=$hosts OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
  # shellcheck disable=SC2016 # expanded in each task
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c '
    export TF_CONFIG="{\"cluster\": {\"worker\": [$WORKERS]}, \"task\": {\"type\": \"worker\", \"index\": $SLURM_PROCID}}"
    exec python3 "$@"
  ' bash "$@"
}

# Where time is spent: Nsight Systems sees kernels, NCCL and the operating system; PyTorch's own profiler sees operators.
job_profile() {
  local before=()
  use_venv
  meet profile
  make_temporary profile
  mkdir -p "profile-$SLURM_JOB_ID"
  if command -v nsys >/dev/null; then
    (($#)) || set -- train.py --steps 20 --every 0
    before=(nsys profile --trace="cuda,nvtx,osrt" --output="profile-$SLURM_JOB_ID/rank%q{SLURM_PROCID}")
    echo "open the files of profile-$SLURM_JOB_ID with nsys-ui, or: nsys stats profile-$SLURM_JOB_ID/rank0.nsys-rep"
  elif (($#)); then
    echo "nsys is not on the PATH of $SLURMD_NODENAME, so $1 would run without a profile: load the module of Nsight Systems, or" \
      "call torch.profiler in your program as train.py does, and submit it with pytorch-srun.sh" >&2
    exit 1
  else
    set -- train.py --steps 20 --every 0 --profile "profile-$SLURM_JOB_ID"
    echo "no nsys here: PyTorch's profiler writes profile-$SLURM_JOB_ID, whose files https://ui.perfetto.dev can open"
  fi
  in_tasks "${before[@]}" -- "$@"
}

# The same program on 1, 2, 4 … nodes. It prints "N samples/s", and keeps the work of a process the same.
job_scaling() {
  local nodes=1 rate first='' all=$SLURM_NNODES
  (($#)) || set -- train.py --steps 50 --every 0 --width 4096
  use_venv
  meet scaling
  make_temporary scaling
  printf '%5s %9s %12s %10s\n' nodes processes samples/s efficiency
  while :; do
    # shellcheck disable=SC2153 # of Slurm
    if ! in_tasks --nodes="$nodes" --ntasks=$((nodes * SLURM_NTASKS_PER_NODE)) --nodelist="$(first_nodes "$nodes")" -- "$@" \
      >"scaling-$SLURM_JOB_ID-$nodes.log"; then
      echo "the run on $nodes of $all nodes failed: scaling-$SLURM_JOB_ID-$nodes.log" >&2
      exit 1
    fi
    rate=$(sed -nE 's#.* ([0-9.]+) samples/s.*#\1#p' "scaling-$SLURM_JOB_ID-$nodes.log" | tail -n 1)
    if [[ -z $rate ]]; then
      echo "the program printed no \"N samples/s\", so its runs cannot be compared: scaling-$SLURM_JOB_ID-$nodes.log" >&2
      exit 1
    fi
    first=${first:-$rate}
    awk -v n="$nodes" -v p=$((nodes * SLURM_NTASKS_PER_NODE)) -v r="$rate" -v f="$first" \
      'BEGIN { printf "%5d %9d %12.0f %9.0f%%\n", n, p, r, 100 * r / (f * n) }'
    ((nodes < all)) || break
    nodes=$((2 * nodes < all ? 2 * nodes : all))
  done
}

job_pytorch_container() {
  (($#)) || set -- train.py --steps 200
  meet pytorch-container
  in_tasks --container-image="${IMAGE:-${image:?}}" --container-mounts="$PWD:$PWD" --container-workdir="$PWD" -- "$@"
}

job_pytorch_apptainer() {
  local file=${IMAGE:-$HOME/pytorch.sif}
  (($#)) || set -- train.py --steps 200
  [[ -e $file ]] || { echo "there is no image $file" >&2; exit 1; }
  meet pytorch-apptainer
  make_temporary pytorch-apptainer
  # --nv: libraries and device files of the GPUs. The container has the job's own /tmp in place of the node's.
  in_tasks apptainer exec --nv --bind "$PWD" --bind "$TMPDIR:/tmp" --env TMPDIR=/tmp --pwd "$PWD" "$file" -- "$@"
}

job_pytorch_podman() {
  (($#)) || set -- train.py --steps 200
  set_precision
  # gpu=all: of the GPUs of the node, the job's control group admits those of the job.
  # The container has a network of its own: no other user reaches the port at which the processes meet.
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" \
    podman run --rm --device=nvidia.com/gpu=all --ipc=host --env=PRECISION --volume="$PWD:$PWD" --workdir="$PWD" \
    "${IMAGE:-${image:?}}" \
    torchrun --nproc-per-node="$gpus" "$@"
}

# start_ray TEMPLATE: a Ray cluster over the nodes of the job, at $RAY_ADDRESS
start_ray() {
  local head address head_step resources
  make_token "$1"
  # Ray's processes and the program read these variables. Without the token, any user of the cluster could run code as you.
  export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$private/token RAY_enable_metrics_collection=0
  if ! ray get-auth-token --help >/dev/null 2>&1; then
    echo "this Ray has no token authentication; install 2.52 or later: pip install --upgrade ray" >&2
    exit 1
  fi
  select_port "$1"
  head=$(first_node)
  address=$head:$port
  resources=(--num-cpus="$SLURM_CPUS_PER_TASK" --num-gpus="$gpus" --disable-usage-stats --block)
  make_temporary "$1"
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
}

job_ray() {
  need_program "$@"
  use_venv
  start_ray ray
  python3 "$@"
}

job_dask() { # the program: client = distributed.Client(scheduler_file=os.environ["DASK_SCHEDULER_FILE"])
  local end workers=$((gpus > 0 ? gpus : 1)) options=(--no-dashboard --dashboard-address 127.0.0.1:0)
  need_program "$@"
  use_venv
  make_certificate dask
  make_temporary dask
  # Dask's processes and the program read these variables. Without TLS, any user of the cluster could run code as you.
  export DASK_DISTRIBUTED__COMM__DEFAULT_SCHEME=tls DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True
  export DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$private/cert.pem
  for end in SCHEDULER WORKER CLIENT; do
    export "DASK_DISTRIBUTED__COMM__TLS__${end}__CERT=$private/cert.pem"
    export "DASK_DISTRIBUTED__COMM__TLS__${end}__KEY=$private/key.pem"
  done
  # Pages of the web server have no password: it serves none, and only on the node itself.
  export DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES='[]' DASK_DISTRIBUTED__WORKER__HTTP__ROUTES='[]'
  [[ -z $interface ]] || options+=(--interface "$interface")
  # The scheduler writes its address to a file that all nodes see. It ends with the job, and so do the workers.
  export DASK_SCHEDULER_FILE=$private/scheduler.json
  dask scheduler --port 0 "${options[@]}" --scheduler-file "$DASK_SCHEDULER_FILE" &
  until [[ -s $DASK_SCHEDULER_FILE ]]; do
    kill -0 $! || exit 1
    sleep 1
  done
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" dask worker --scheduler-file "$DASK_SCHEDULER_FILE" \
    --nworkers "$workers" --nthreads $((SLURM_CPUS_PER_TASK / workers)) "${options[@]}" --local-directory "$TMPDIR" &
  python3 "$@"
}

job_mpi() { # srun starts the processes, with a plugin: mpirun is not needed
  need_program "$@"
  make_temporary mpi
  # UCX and Open MPI read the names of the fabric's ports from files of the compute nodes.
  srun --mpi="${mpi:?}" --cpus-per-task="$SLURM_CPUS_PER_TASK" --cpu-bind=cores "$@"
}

job_jupyter() {
  use_venv
  make_token jupyter
  select_port jupyter
  make_temporary jupyter
  # Kernels get sockets that only you can open: at TCP ports, other users of the node could read what cells print.
  export JUPYTER_RUNTIME_DIR=$TMPDIR JUPYTER_TOKEN_FILE=$private/token
  cat <<END
On your own computer, run: ssh -N -L $port:$SLURMD_NODENAME:$port $USER@${login:?}
Then open http://127.0.0.1:$port/lab
The page requires a token, which this command prints: ssh $USER@$login cat $private/token
The server ends with the job: scancel $SLURM_JOB_ID. End the ssh command then, too.
END
  jupyter lab --no-browser --ip="$SLURMD_NODENAME" --port="$port" --port-retries=0 --KernelManager.transport=ipc
}

# announce TEMPLATE PORT PATH: how the owner reaches a server of HTTPS
announce() {
  tls() { echo "curl --cacert $1/cert.pem --cert $1/cert.pem --key $1/key.pem https://$2:$3"; }
  cat <<END
On a node of the cluster: $(tls "$private" "$SLURMD_NODENAME" "$2$3")
On your own computer, run these commands, the second one in another terminal:
  scp -rp $USER@${login:?}:$private $1-$SLURM_JOB_ID
  ssh -N -L $2:$SLURMD_NODENAME:$2 $USER@$login
  $(tls "$1-$SLURM_JOB_ID" localhost "$2$3")
END
}

need_model() { : "${1:?name a model after the name of this script}"; }

# serve_vllm PORT MODEL…: An API key would protect some paths only. --ssl-cert-reqs 2: no answer to anyone without the job's
# certificate.
serve_vllm() {
  vllm serve "${@:2}" --host "$SLURMD_NODENAME" --port "$1" --tensor-parallel-size "$gpus" \
    --ssl-certfile "$private/cert.pem" --ssl-keyfile "$private/key.pem" --ssl-ca-certs "$private/cert.pem" --ssl-cert-reqs 2
}

job_vllm() {
  need_model "$@"
  use_venv
  umask 077
  make_certificate vllm
  select_port vllm
  make_temporary vllm
  announce vllm "$port" /v1/models
  serve_vllm "$port" "$@"
}

# One model over all nodes: the GPUs of a node divide each layer, and nodes divide the layers, as the fabric is slower than NVLink.
job_vllm_nodes() {
  local server
  need_model "$@"
  use_venv
  umask 077
  start_ray vllm-nodes
  make_certificate vllm-nodes
  server=$((20000 + (port + 2500) % 10000))
  announce vllm-nodes "$server" /v1/models
  serve_vllm "$server" "$@" --pipeline-parallel-size "$SLURM_NNODES" --distributed-executor-backend ray
}

# start_balancer PORT REPLICAS [OPTION OF A SERVER…]: HAProxy on this node passes each request to the next replica that is
# healthy, REPLICAS being their port on all nodes. Both ends of each connection prove that they have the job's key.
start_balancer() {
  local host tls="ssl crt $private/both.pem ca-file $private/cert.pem verify required"
  if ! command -v haproxy >/dev/null; then
    echo "haproxy is not installed on $SLURMD_NODENAME: ask the operators of the cluster" >&2
    exit 1
  fi
  cat "$private/cert.pem" "$private/key.pem" >"$private/both.pem"
  {
    cat <<END
global
  maxconn 4096
  log stderr format raw local0 notice
defaults
  mode http
  log global
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend requests
  bind $SLURMD_NODENAME:$1 $tls alpn h2,http/1.1
  default_backend replicas
backend replicas
  balance roundrobin
  option redispatch
  default-server $tls check inter 2s fall 2 rise 1 init-addr last,libc,none ${*:3}
END
    [[ $* == *"alpn h2"* ]] || printf '  option httpchk GET /health\n  http-check expect status 200\n'
    for host in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
      echo "  server $host $host:$2"
    done
  } >"$private/haproxy.cfg"
  haproxy -c -f "$private/haproxy.cfg" >"$private/haproxy.log" 2>&1 || { cat "$private/haproxy.log" >&2; exit 1; }
  haproxy -db -f "$private/haproxy.cfg" &
}

# A model per node behind HAProxy, and an API of your own in front: api.py, which you adapt.
job_vllm_replicas() {
  local replicas balancer
  need_model "$@"
  use_venv
  umask 077
  make_certificate vllm-replicas
  select_port vllm-replicas
  make_temporary vllm-replicas
  replicas=$((20000 + (port + 2500) % 10000)) balancer=$((20000 + (port + 5000) % 10000))
  start_balancer "$balancer" "$replicas"
  export gpus private
  # shellcheck disable=SC2016 # expanded in each task
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" bash -c "$(declare -f serve_vllm)"'; serve_vllm "$@"' bash "$replicas" "$@" &
  announce vllm-replicas "$port" "/generate -H 'Content-Type: application/json' -d '{\"prompt\": \"Once upon a time\"}'"
  echo "The models themselves, behind HAProxy: https://$SLURMD_NODENAME:$balancer/v1/models, with the same options of curl"
  # api.py sends what it is asked to the balancer, with the job's key.
  export SERVER=https://$SLURMD_NODENAME:$balancer KEYS=$private MODEL=$1
  python3 -m uvicorn "${API:-api}:app" --host "$SLURMD_NODENAME" --port "$port" --ssl-certfile "$private/cert.pem" \
    --ssl-keyfile "$private/key.pem" --ssl-ca-certs "$private/cert.pem" --ssl-cert-reqs 2
}

# triton PORT MODELS: Triton on each node of the job. It has certificates for gRPC alone; over HTTP, any user of the cluster
# could send requests.
triton() {
  local models=$2 container
  local options=(--model-repository=/models --allow-http=false --allow-metrics=false --grpc-port="$1"
    --grpc-use-ssl=true --grpc-use-ssl-mutual=true --grpc-server-cert="$private/cert.pem"
    --grpc-server-key="$private/key.pem" --grpc-root-cert="$private/cert.pem")
  case ${runtime:=pyxis} in # copies of job scripts from before there were others state none
    pyxis) container=(--container-image="${IMAGE:-${image:?}}" --container-mounts="$models:/models:ro,$private:$private:ro") ;;
    apptainer)
      [[ -e ${IMAGE:=$HOME/triton.sif} ]] || { echo "there is no image $IMAGE" >&2; exit 1; }
      container=(apptainer exec --nv --bind "$models:/models:ro,$private:$private:ro" "$IMAGE") ;;
    podman)
      container=(podman run --rm --device=nvidia.com/gpu=all --ipc=host --publish="$1:$1" --volume="$models:/models:ro"
        --volume="$private:$private:ro" "${IMAGE:-${image:?}}") ;;
  esac
  srun --cpus-per-task="$SLURM_CPUS_PER_TASK" "${container[@]}" tritonserver "${options[@]}"
}

announce_triton() { # announce_triton TEMPLATE PORT
  cat <<END
On a node of the cluster, with tritonclient[grpc] from PyPI:
import tritonclient.grpc as triton
client = triton.InferenceServerClient("$SLURMD_NODENAME:$2", ssl=True, root_certificates="$private/cert.pem",
                                      private_key="$private/key.pem", certificate_chain="$private/cert.pem")
print(client.is_server_ready())
On your own computer, copy the keys, open a tunnel, and use localhost:$2 with the copied files:
  scp -rp $USER@${login:?}:$private $1-$SLURM_JOB_ID
  ssh -N -L $2:$SLURMD_NODENAME:$2 $USER@$login
END
}

job_triton() {
  local models
  models=$(realpath "${1:?name a directory with models after the name of this script}")
  make_certificate triton
  select_port triton
  announce_triton triton "$port"
  triton "$port" "$models"
}

# A Triton per node behind HAProxy. gRPC is HTTP/2, so requests of one connection go to all nodes in turn.
job_triton_replicas() {
  local models replicas
  models=$(realpath "${1:?name a directory with models after the name of this script}")
  make_certificate triton-replicas
  select_port triton-replicas
  replicas=$((20000 + (port + 2500) % 10000))
  start_balancer "$port" "$replicas" alpn h2
  announce_triton triton-replicas "$port"
  triton "$replicas" "$models"
}
