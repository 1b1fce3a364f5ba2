# shellcheck shell=bash
# read_slurm.sh: inside the sandbox, starts what stands around slurmctld, then slurmctld, then slurmd -G per node.
# Reads its orders from /run/clustergen (surroundings, qos, accounts, nodes) and leaves one log per daemon there.
set -u
# shellcheck source=generator/clustergen/verify/surroundings.sh
. /run/clustergen/surroundings.sh
# shellcheck source=generator/clustergen/verify/database.sh
. /run/clustergen/database.sh

registers() { # registers HOST PID [NODE]: waits until slurmctld has heard of it
  local until=$((SECONDS + 30))
  while kill -0 "$2" 2>/dev/null && [ $SECONDS -lt $until ]; do
    timeout -k 1 30 scontrol -a -F -o show node ${3:+"$3"} | grep -E "^NodeName=${3:-.* NodeHostName=$1} " >"$out/registered.$1"
    if grep -q ' Version=' "$out/registered.$1"; then return 0; fi
    sleep 0.04
  done
  return 1
}

# Who is ended in the middle of a talk is missed by the other, and that one says so. So slurmd ends between two of them,
# and at the end all stop where they are.
ends() { # ends PID
  local until=$((SECONDS + 30))
  kill -STOP $controller
  while [ -n "$(sockets "$1" '01|08')" ] && [ $SECONDS -lt $until ]; do
    kill -CONT $controller
    sleep 0.02
    kill -STOP $controller
  done
  kill -9 "$1"
  wait "$1"
  kill -CONT $controller
}

begins() { # begins LOG: slurmctld starts again, without what it has saved
  kill -9 $controller
  wait $controller 2>/dev/null
  while read -r what path _; do
    [ "$what" != state ] || find "$path" -mindepth 1 -delete
  done <"$out/surroundings"
  slurmctld -D -v >"$out/$1.log" 2>&1 &
  controller=$!
  wait_for 'Running as primary controller' "$out/$1.log" $controller && serves $controller
}
trap 'kill -STOP -1' EXIT

if [ "$ACCOUNTING" = yes ]; then
  mariadb_starts
  # Where slurmdbd.conf is missing or wrong, slurmctld is asked all the same, beside a slurmdbd that works.
  if [ ! -e /etc/slurm/slurmdbd.conf ] || ! slurmdbd_starts "$out/slurmdbd.log"; then
    install -m 600 -o "$DBD_USER" "$out/spare-slurmdbd.conf" /etc/slurm/slurmdbd.conf
    slurmdbd_starts /run/spare-slurmdbd.log
  fi
  # slurmctld complains of accounts and QOS that the database does not have; the tree's own script makes them first.
  accounts=/usr/local/sbin/clustergen-accounts
  if [ -x "$accounts" ]; then
    timeout -k 1 200 "$accounts" names >"$out/accounts.txt" 2>&1 || sed 's/^/error: /' "$out/accounts.txt" >"$out/accounts.log"
  elif [ -s "$out/qos" ]; then
    timeout -k 1 60 sacctmgr -i add qos "$(paste -sd, "$out/qos")" >/dev/null 2>&1
  fi
fi

if [ "$ACCOUNTING" = "left out" ]; then
  find /etc/slurm -type f -name '*.conf' -exec sed -i -E '/^\s*(AccountingSto|JobAcctGather)\w+\s*=/Id' {} +
fi
slurmctld -D -v >"$out/slurmctld.log" 2>&1 &
controller=$!
if wait_for 'Running as primary controller' "$out/slurmctld.log" $controller; then
  # An answer to a request shows that it serves, and gives it the time to say more.
  serves $controller
  timeout -k 1 60 scontrol -a -F -o show node >"$out/nodes.txt" 2>"$out/scontrol.log" && echo yes >"$out/started"
fi

[ -e "$out/started" ] || exit 0

# All of the tree's accounts, now that slurmdbd knows what this cluster counts; a second run has nothing left to do.
if [ "$ACCOUNTING" = yes ] && [ -x "$accounts" ]; then
  for run in first second; do
    if ! timeout -k 1 200 "$accounts" >"$out/accounts.txt" 2>&1; then
      sed 's/^/error: /' "$out/accounts.txt" >>"$out/accounts.log"
    elif [ $run = second ] && [ "$(tail -1 "$out/accounts.txt")" != unchanged ]; then
      sed 's/^/error: a second run changes: /' "$out/accounts.txt" >>"$out/accounts.log"
    fi
  done
fi

# slurmd asks this machine for cgroups, memory and GPU drivers, which is not what the files are about; those few values
# change, now that slurmctld has read them as they are. They are matched as Slurm spells them, the keys in any case:
# plugins are files, and another case is for slurmd to refuse.
cd /etc/slurm || exit
exchange() { find . -type f -name '*.conf' -exec sed -i -E "$@" {} +; }
exchange \
  -e '/^\s*ProctrackType\s*=/Is#(=\s*"?)proctrack/cgroup\b#\1proctrack/linuxproc#' \
  -e '/^\s*JobAcctGatherType\s*=/Is#(=\s*"?)jobacct_gather/cgroup\b#\1jobacct_gather/linux#' \
  -e '/^\s*TaskPlugin\s*=/Is#([=,]\s*"?)(task/)?cgroup\b#\1task/affinity#' \
  -e '/^\s*PrologFlags\s*=/Is#\bX11\b#Contain#I' # which it implies; X11 takes proctrack/cgroup
if ! find . -type f -name '*.conf' -exec grep -qiE '^\s*ProctrackType\s*=' {} +; then
  printf '\n\nProctrackType=proctrack/linuxproc\n' >>slurm.conf # left out it is proctrack/cgroup
fi
touch cgroup.conf
sed -i -E '/^\s*CgroupPlugin\s*=\s*"?(autodetect|disabled|cgroup\/v[12])\b/d' cgroup.conf
# Any other one is for slurmd to refuse; in capitals the known ones are too.
grep -qiE '^\s*CgroupPlugin\s*=' cgroup.conf || printf '\n\nCgroupPlugin=%s\n' "$CGROUP" >>cgroup.conf
while read -r spank; do
  find . -type f -name '*.conf' -path '*plugstack*' -exec sed -i "\\#^\\s*[a-z]*\\s*$spank\\b#d" {} +
done <"$out/absent-spank"
# A method of AutoDetect that this release does not know is the one thing that can be asked without a driver.
while read -r node; do
  timeout -k 1 30 slurmd -G -N "$node" 2>&1 | grep 'unknown autodetect' >"$out/slurmd.$node.autodetect"
done <"$out/autodetect"
exchange -e "s#\bAutoDetect\s*=\s*\w+#AutoDetect=$AUTODETECT#I"

# Hardware that is simulated, see simulated_hardware.py.
if [ -e "$out/memory.so" ]; then
  mkdir -p /tmp/lib /dev/nvidia-caps
  for library in memory.so libnvidia-ml.so.1; do base64 -d "$out/$library" >/tmp/lib/$library; done
  ln -s libnvidia-ml.so.1 /tmp/lib/libnvidia-ml.so # the name by which Slurm 22.05 looks for it
  mount -t tmpfs driver /proc/driver && mkdir /proc/driver/nvidia-caps
  if [ -s "$out/gres-lines" ]; then cat "$out/gres-lines" >>gres.conf; fi
fi

# In a configless cluster, slurmctld hands out what has been exchanged, and a node has only its own files.
conf_server=$(<"$out/conf-server")
if [ -n "$conf_server" ]; then
  begins conf-server
  cp -a /etc/slurm /run/controller
  SLURM_CONF=/run/controller/slurm.conf
fi

slurmd=
made=
while read -r node; do
  [ -z "$slurmd" ] || ends "$slurmd"
  slurmd=
  hardware=$(sed -nE "s/^NodeName=$node .*/&/p" "$out/nodes.txt")
  value() { echo "$hardware" | sed -E "s/.* $1=([0-9]+) .*/\1/"; }
  at=$out/hardware.$node
  options=(${conf_server:+--conf-server "$conf_server"})
  # slurmd asks hwloc for sockets and cores, and hwloc can be told.
  if [ -e "$at.hwloc" ]; then
    mapfile -t options <"$at.options"
    if [ -n "$conf_server" ] && [ -e "$at.files" ]; then
      cp -a /run/controller/. /etc/slurm
      find /etc/slurm -type f ! -name '*.key' | grep -vxFf "$at.files" | xargs -d '\n' -r rm
    fi
    HWLOC_SYNTHETIC=$(<"$at.hwloc")
    memory=$(<"$at.memory")
    cp "$at.minors" /proc/driver/nvidia-caps/mig-minors
    [ -z "$made" ] || xargs -d '\n' rm <<<"$made"
    made=$(while read -r device; do
      if [ ! -e "$device" ]; then mkdir -p "${device%/*}" && ln -s /dev/null "$device" && echo "$device"; fi
    done <"$at.devices")
    disk=$(<"$at.disk")
  elif [ -z "$hardware" ]; then
    echo "fatal: slurmctld knows no node $node" >"$out/slurmd.$node.log"
    continue
  else
    HWLOC_SYNTHETIC="pack:$(value Sockets) numa:1 core:$(value CoresPerSocket) pu:$(value ThreadsPerCore)"
    memory=$(value RealMemory) disk=$(value TmpDisk)
  fi
  export HWLOC_SYNTHETIC
  simulated=()
  if [ -e "$out/memory.so" ]; then
    # tcc marks its libraries as if their stack had to be executable, which newer releases of glibc refuse unless told.
    simulated=(env "CLUSTERGEN_MEMORY=$memory" "CLUSTERGEN_DISK=$disk" "CLUSTERGEN_NVML=$at.nvml" LD_PRELOAD=/tmp/lib/memory.so
      LD_LIBRARY_PATH=/tmp/lib GLIBC_TUNABLES=glibc.rtld.execstack=2)
  fi
  # A node that is to become one of the state FUTURE has a host name alone; slurmctld gives it the name of a node.
  name=$node
  [[ " ${options[*]}" != *" -F"* ]] || name=
  conf=(SLURM_CONF=/etc/slurm/slurm.conf)
  [[ " ${options[*]}" != *" --conf-server"* ]] || conf=(-u SLURM_CONF)
  if [ ! -e "$at.hwloc" ]; then
    timeout -k 1 30 env "${conf[@]}" "${simulated[@]}" slurmd -G -N "$node" "${options[@]}" -L "$out/slurmd.$node.file" \
      >"$out/slurmd.$node.gres" 2>&1
  fi
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --uts sh -c 'hostname "$1"; shift; exec "$@"' sh "$node" \
    env "${conf[@]}" "${simulated[@]}" slurmd -D -v ${name:+-N "$name"} "${options[@]}" >"$out/slurmd.$node.log" 2>&1 &
  slurmd=$!
  if wait_for 'slurmd started on' "$out/slurmd.$node.log" $slurmd; then
    registers "$node" $slurmd "$name" || echo "error: $node did not register" >>"$out/slurmd.$node.log"
  fi
done <"$out/nodes"

# A login node of a configless cluster has the files that sackd fetches, and no others; commands look for them there.
if [ -s "$out/sackd" ]; then
  [ -z "$slurmd" ] || ends "$slurmd"
  slurmd=
  mapfile -t options <"$out/sackd"
  find /etc/slurm -type f ! -name '*.key' -delete
  rm -rf /run/slurm
  mkdir /run/slurm
  env -u SLURM_CONF sackd -D "${options[@]}" >"$out/sackd.log" 2>&1 &
  if wait_for running "$out/sackd.log" $!; then
    answer=$(timeout -k 1 30 env -u SLURM_CONF scontrol show partition 2>&1) || echo "error: $answer" >>"$out/sackd.log"
  fi
  kill -9 $!
fi

[ -s "$out/jobs" ] || exit 0

# sbatch --test-only finds a place for each job on nodes that are idle, which only a slurmd or slurm.conf can say. So a
# slurmctld without saved state reads its own file once more, with every node idle, and knows the users of the accounts.
[ -z "$slurmd" ] || ends "$slurmd"
if [ -n "$conf_server" ]; then
  cp -a /run/controller/. /etc/slurm
  SLURM_CONF=/etc/slurm/slurm.conf
fi
users=()
if [ "$ACCOUNTING" = yes ]; then
  mapfile -t users < <(timeout -k 1 60 sacctmgr -nP show user format=user | grep -vx root | head -n 200)
fi
for number in "${!users[@]}"; do
  id "${users[number]}" >/dev/null 2>&1 || echo "${users[number]}:x:$((70000 + number)):65534::/nonexistent:/bin/false" >>/etc/passwd
done
# A partition that is drained for maintenance takes the jobs again later.
exchange -e '/^\s*NodeName\s*=/Is/\bState=UNKNOWN\b/State=IDLE/I' -e '/^\s*PartitionName\s*=/Is/\bState=[A-Z]*/State=UP/I'
# Two seconds after its start slurmctld has noticed that no node answers, and has none for any job: it starts once more.
takes() { # takes JOB USER: whether Slurm would take the job of this user; its answer is in $words
  for _ in {1..5}; do
    if words=$(timeout -k 1 30 sbatch --test-only --uid="$2" "$1" 2>&1); then return 0; fi
    if ! grep -q 'agent/is_node_resp' "$out/jobs.log"; then return 1; fi
    begins jobs
  done
  return 1
}
begins jobs
while read -r job; do
  answer='failed - '
  # The first user of whom Slurm would take the job; one that took the job before is asked first.
  for user in "${users[@]:-root}"; do
    if takes "$job" "$user"; then
      answer="passed $user "
      users=("$user" "${users[@]}")
      break
    fi
  done
  echo "$job $answer$(tr '\n' ' ' <<<"$words")" >>"$out/jobs.txt"
done <"$out/jobs"
