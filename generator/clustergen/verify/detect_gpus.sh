# shellcheck shell=bash
# detect_gpus.sh: inside the sandbox, asks slurmd -G of each node in /run/clustergen/nodes ("NUMBER NAME") which GPUs it
# detects. Each has NUMBER.nvml for the NVML library, NUMBER.devices, NUMBER.minors and NUMBER.hwloc; leaves NUMBER.log.
set -u
out=/run/clustergen
cd $out || exit
if cat ./*.nvml | grep -q .; then
  for compiler in tcc cc gcc; do
    if command -v $compiler >/dev/null; then break; fi
  done
  mkdir /tmp/lib
  $compiler -shared -fPIC -nostdlib -Wl,-soname=libnvidia-ml.so.1 -o /tmp/lib/libnvidia-ml.so.1 nvml.c || exit
  ln -s libnvidia-ml.so.1 /tmp/lib/libnvidia-ml.so # the name by which Slurm 22.05 looks for it
fi
# tcc marks its libraries as if their stack had to be executable, which newer releases of glibc refuse unless told.
export LD_LIBRARY_PATH=/tmp/lib GLIBC_TUNABLES=glibc.rtld.execstack=2
mkdir -p /etc/slurm /dev/nvidia-caps
cp slurm.conf gres.conf cgroup.conf /etc/slurm
mount -t tmpfs driver /proc/driver && mkdir /proc/driver/nvidia-caps
while read -r number node; do
  mkdir -p "/var/spool/slurmd/$node" # slurmd keeps the topology there, so each node has its own
  rm -f /dev/nvidia[0-9]* /dev/nvidia-caps/*
  while read -r device; do
    ln -s /dev/null "$device" # slurmd wants a device, whichever
  done <"$number.devices"
  cp "$number.minors" /proc/driver/nvidia-caps/mig-minors
  CLUSTERGEN_NVML=$out/$number.nvml HWLOC_SYNTHETIC=$(<"$number.hwloc") \
    timeout -k 1 60 slurmd -G -N "$node" -vv -L "/run/$number.log" >"$number.log" 2>&1
  cat "/run/$number.log" >>"$number.log" # releases differ in where they say what
done <nodes
