# shellcheck shell=sh
# boot.sh: the first process of a node of docker's, until it becomes systemd.
# Control groups: docker mounts them read-only, and those of version 1 where the machine has both.
umount -R -l /sys/fs/cgroup
mount -t cgroup2 -o nosuid,nodev,noexec,nsdelegate none /sys/fs/cgroup
if [ ! -e /sys/fs/cgroup/cgroup.events ]; then # which only the machine's own root group lacks
  echo 'docker gave this container no control group of version 2' >&2
  exit 1
fi
# docker mounts these over the node's own, which then cannot be replaced.
for file in /etc/hosts /etc/hostname; do umount "$file" 2>/dev/null; done
uname -n >/etc/hostname
exec /sbin/init
