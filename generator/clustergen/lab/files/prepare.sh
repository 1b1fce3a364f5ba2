# shellcheck shell=sh
# prepare.sh: what a container needs to be reached and to have a node's devices. Prints its ssh host key.
set -eu
umask 022
mkdir -p /root/.ssh
chmod 700 /root/.ssh
printf '%s\n' "$KEY" >/root/.ssh/authorized_keys
chmod 600 /root/.ssh/authorized_keys
rm -f /etc/ssh/ssh_host_*
ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
# Nobody in here may set the clock of the machine outside.
mkdir -p /etc/default
echo 'DAEMON_OPTS="-F 1 -x"' >/etc/default/chrony
echo 'OPTIONS="-F 1 -x"' >/etc/sysconfig/chronyd 2>/dev/null || true
for unit in chrony chronyd; do # which would not start without the right to set it
  mkdir -p /etc/systemd/system/$unit.service.d
  printf '[Unit]\nConditionCapability=\n' >/etc/systemd/system/$unit.service.d/99-lab.conf
done

number=2001
for user in $USERS; do # several nodes may share their homes
  id "$user" >/dev/null 2>&1 || useradd --uid $number --create-home --shell /bin/bash "$user" 2>/dev/null || true
  number=$((number + 1))
done
if [ "$GPUS" -gt 0 ]; then
  echo "$GPU_MODEL" >/etc/clustergen-lab-gpu
  echo "$NVLINKS" >/etc/clustergen-lab-nvlinks
  printf '%s\n' "$MIG" | tr ' ' '\n' >/etc/clustergen-lab-mig
  {
    echo "c /dev/nvidiactl 0666 root root - 195:255"
    echo "c /dev/nvidia-uvm 0666 root root - 510:0"
    gpu=0
    while [ "$gpu" -lt "$GPUS" ]; do
      echo "c /dev/nvidia$gpu 0666 root root - 195:$gpu"
      gpu=$((gpu + 1))
    done
    for part in $MIG; do # GPU:PROFILE:MINOR, the compute part's number is the next
      minor=${part##*:}
      echo "c /dev/nvidia-caps/nvidia-cap$minor 0666 root root - 510:$minor"
      echo "c /dev/nvidia-caps/nvidia-cap$((minor + 1)) 0666 root root - 510:$((minor + 1))"
    done
  } >/etc/tmpfiles.d/lab-gpus.conf
  systemd-tmpfiles --create /etc/tmpfiles.d/lab-gpus.conf
fi
if [ -e /usr/local/lib/cgroup2-view.so ]; then
  mkdir -p /etc/systemd/system/slurmd.service.d
  printf '[Service]\nEnvironment=LD_PRELOAD=/usr/local/lib/cgroup2-view.so\n' >/etc/systemd/system/slurmd.service.d/99-lab.conf
fi
for _ in $(seq 100); do
  state=$(systemctl is-system-running 2>/dev/null || true)
  case $state in running | degraded) break ;; esac
  sleep 0.1
done
systemctl daemon-reload
systemctl --quiet unmask ssh.service 2>/dev/null || true
systemctl --quiet enable --now ssh.service 2>/dev/null || systemctl --quiet enable --now sshd.service
cat /etc/ssh/ssh_host_ed25519_key.pub
