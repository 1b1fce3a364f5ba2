# shellcheck shell=sh
# prepare.sh: what a container needs to be reached as a node, after adapt.sh. Prints its ssh host key.
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

mkdir -p /etc/systemd/system/slurmd.service.d
{
  echo '[Service]'
  echo 'ExecStartPre=-/usr/bin/python3 /usr/local/lib/clustergen-lab/namespace_ids.py'
  if [ -e /usr/local/lib/cgroup2-view.so ]; then echo 'Environment=LD_PRELOAD=/usr/local/lib/cgroup2-view.so'; fi
} >/etc/systemd/system/slurmd.service.d/99-lab.conf
for _ in $(seq 100); do
  state=$(systemctl is-system-running 2>/dev/null || true)
  case $state in running | degraded) break ;; esac
  sleep 0.1
done
systemctl daemon-reload
export SYSTEMCTL_SKIP_SYSV=1 # init scripts are not enabled as well, for which systemd would read all units twice more
systemctl --quiet unmask ssh.service 2>/dev/null || true
# It may run already, with the keys of the image.
for unit in ssh.service sshd.service; do
  if systemctl --quiet enable $unit 2>/dev/null; then systemctl restart $unit && break; fi
done
systemctl --quiet is-active ssh.service sshd.service
cat /etc/ssh/ssh_host_ed25519_key.pub
