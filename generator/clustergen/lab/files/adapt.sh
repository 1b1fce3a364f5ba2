# shellcheck shell=sh
# adapt.sh: the directories, users and GPUs that the manifest gives a container. Prints a line for each change, and
# "stale MOUNT_POINT" for each directory of an earlier manifest, which is unmounted if $UNMOUNT is set.
set -eu
umask 022
shared=/var/lib/clustergen-lab
# An image of a node's may have lines of another lab: their mounts fail without harm.
mark=bind,nofail,x-systemd.before=local-fs.target,x-clustergen.lab
touch /etc/fstab
before=$(cat /etc/fstab)
ours() { grep -F "$mark" /etc/fstab || true; }
unmount() {
  umount -l "$1" 2>/dev/null || true
  awk -v place="$1" -v mark="$mark" '$2 != place || $4 != mark' /etc/fstab >/etc/fstab.lab
  mv /etc/fstab.lab /etc/fstab
  echo "unmounted $1"
}
printf '%s\n' "$MOUNTS" | while read -r directory place; do
  line="$shared/$directory $place none $mark 0 0"
  if [ -z "$place" ] || grep -qxF "$line" /etc/fstab; then continue; fi
  if ours | grep -qF " $place none "; then unmount "$place"; fi
  mkdir -p "$place"
  mount --bind "$shared/$directory" "$place"
  echo "$line" >>/etc/fstab
  echo "mounted $place"
done
ours | sort -r | while read -r source place _; do
  if printf '%s\n' "$MOUNTS" | grep -qxF "${source#"$shared/"} $place"; then continue; fi
  if [ -n "$UNMOUNT" ]; then unmount "$place"; else echo "stale $place"; fi
done
if [ "$before" != "$(cat /etc/fstab)" ]; then systemctl daemon-reload 2>/dev/null || true; fi # systemd may still start

printf '%s\n' "$NAMES" | while read -r address host; do
  if [ -n "$host" ] && ! grep -qE "[[:space:]]$host([[:space:]]|$)" /etc/hosts; then echo "$address $host" >>/etc/hosts; fi
done

for user in $USERS; do # several nodes may share their homes
  if ! id "${user%:*}" >/dev/null 2>&1; then
    useradd --uid "${user#*:}" --create-home --shell /bin/bash "${user%:*}" 2>/dev/null || true
    echo "added user ${user%:*}"
  fi
done

conf=/etc/tmpfiles.d/lab-gpus.conf
if [ "$GPUS" -gt 0 ] && ! [ -e /usr/bin/nvidia-smi ]; then
  echo 'it was started without GPUs' >&2
  exit 1
fi
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
  } >$conf.new
elif [ -e $conf ]; then
  : >$conf.new
fi
if [ -e $conf.new ]; then
  if ! cmp -s $conf.new $conf; then # a device file that somebody removed stays away
    rm -rf /dev/nvidia*
    mv $conf.new $conf
    systemd-tmpfiles --create $conf
    echo "GPUs: $GPUS"
  fi
  rm -f $conf.new
fi
