# shellcheck shell=bash
# detect_gpus.sh: inside the sandbox, asks slurmd -G of each node in /run/clustergen/nodes ("NUMBER NAME") which GPUs it
# detects. Each has NUMBER.nvml for the NVML library, NUMBER.minors and NUMBER.hwloc; leaves NUMBER.log. Exits with 124
# when an answer takes longer than LIMIT seconds, and with another status where slurmd could not be asked.
set -u
out=/run/clustergen
cd $out || exit
minors=/dev/null
if [ -e libnvidia-ml.so.1 ]; then
  mkdir /tmp/lib
  base64 -d libnvidia-ml.so.1 >/tmp/lib/libnvidia-ml.so.1 || exit
  ln -s libnvidia-ml.so.1 /tmp/lib/libnvidia-ml.so # the name by which Slurm 22.05 looks for it
  mount -t tmpfs driver /proc/driver || exit 1
  mkdir /proc/driver/nvidia-caps || exit 1
  minors=/proc/driver/nvidia-caps/mig-minors
fi
# tcc marks its libraries as if their stack had to be executable, which newer releases of glibc refuse unless told.
export LD_LIBRARY_PATH=/tmp/lib GLIBC_TUNABLES=glibc.rtld.execstack=2
mkdir -p /etc/slurm /dev/nvidia-caps
for device in {0..63}; do # slurmd wants devices, whichever, and waits 20 s for one that is missing
  ln -s /dev/null "/dev/nvidia$device"
done
while read -r device; do
  mkdir -p "${device%/*}"
  ln -sf /dev/null "$device"
done <devices
cp slurm.conf gres.conf cgroup.conf /etc/slurm || exit 1
while read -r number node; do
  mkdir -p "/var/spool/slurmd/$node" # slurmd keeps the topology there, so each node has its own
  while read -r _ minor; do
    ln -sf /dev/null "/dev/nvidia-caps/nvidia-cap$minor"
  done <"$number.minors"
  cp "$number.minors" $minors || exit 1
  CLUSTERGEN_NVML=$out/$number.nvml HWLOC_SYNTHETIC=$(<"$number.hwloc") \
    timeout -k 1 "$LIMIT" slurmd -G -N "$node" -vv -L "/run/$number.log" >"$number.log" 2>&1
  case $? in # any other status is a fatal error, which the log explains
    124 | 137) exit 124 ;;
  esac
  cat "/run/$number.log" >>"$number.log" # releases differ in where they say what
done <nodes
exit 0 # not that of the last cat: a fatal error may leave no log
