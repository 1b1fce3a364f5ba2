# shellcheck shell=bash
# sandbox.sh WORK ROOT PROGRAM…: runs a program in a copy-on-write view of ROOT; called inside fresh namespaces.
# WORK/empty lists directories whose own content is hidden; WORK/copy lists "directory here<TAB>directory there<TAB>L or P" (links
# are followed or kept); WORK/devices names device files; WORK/hosts becomes /etc/hosts; WORK/addresses are this
# machine's, beside loopback; WORK/out is /run/clustergen inside.
set -eu
work=$1 root=$2
shift 2

mount -t tmpfs -o mode=755 sandbox "$work/fs"
mkdir "$work/fs/upper" "$work/fs/scratch" "$work/fs/root" "$work/fs/staged"
new=$work/fs/root
# An ordinary user may change nothing in a copy-on-write view of another user's files, such as this machine's.
if ! [ -O "$root/etc" ] && ! [ -w "$root/etc" ]; then
  view=copy
  for at in "${root%/}"/*; do [ ! -L "$at" ] || cp -P "$at" "$new/"; done
  mkdir -p "$new/etc" "$new/var/lib" "$new/var/log" "$new/root" "$new/home"
  cp -r --preserve=mode "${root%/}/etc/." "$new/etc/" 2>/dev/null || true # but for what only root may read
else
  view=overlay
  layers=lowerdir=$root,upperdir=$work/fs/upper,workdir=$work/fs/scratch
  mount -t overlay -o "userxattr,$layers" overlay "$new" 2>/dev/null || mount -t overlay -o "$layers" overlay "$new"
fi
if [ "$root" = / ] && [ $view = overlay ]; then # it shows the root file system alone; programs may live on others
  findmnt -rno TARGET | grep -E '^/(usr|opt)(/|$)' | while read -r at; do mount --bind "$at" "$new$at"; done
fi

# A table of mounts starts one program for all of them: "source<TAB>place in the new root<TAB>type<TAB>options".
mount_all() {
  while IFS='	' read -r source at type options; do
    printf '%s %s %s %s 0 0\n' "$source" "${new// /\\040}${at// /\\040}" "$type" "$options"
  done >"$work/fs/table"
  [ ! -s "$work/fs/table" ] || mount -a -T "$work/fs/table"
}

mkdir -p "$new/dev" "$new/run" "$new/tmp" "$new/proc" "$new/sys"
printf '%s\t/%s\ttmpfs\tmode=%s\n' dev dev 755 run run 755 tmp tmp 1777 | mount_all
whole=yes
mount -t proc proc "$new/proc" 2>/dev/null || { mount --rbind /proc "$new/proc" && whole=; }
{
  printf '/sys\t/sys\tnone\trbind\n'
  printf '%s\t/run/clustergen\tnone\tbind,X-mount.mkdir\n' "${work// /\\040}/out"
  for at in null zero full random urandom; do
    : >"$new/dev/$at"
    printf '/dev/%s\t/dev/%s\tnone\tbind\n' $at $at
  done
  while read -r at; do # a device of the node that this machine lacks: any device will do, it is only looked at
    [ -d "$new${at%/*}" ] || mkdir -p "$new${at%/*}"
    [ -e "$new$at" ] || : >"$new$at"
    printf '/dev/null\t%s\tnone\tbind\n' "$at"
  done <"$work/devices"
} | mount_all
ln -s /proc/self/fd "$new/dev/fd"

rm -f "$new/etc/resolv.conf" "$new/etc/hosts"
: >"$new/etc/resolv.conf"
printf 'passwd: files\ngroup: files\nshadow: files\nhosts: files\n' >"$new/etc/nsswitch.conf"
while read -r at; do
  [ -d "$new$at" ] || mkdir -p "$new$at"
  mount -t tmpfs -o mode=755 empty "$new$at"
done <"$work/empty"
while IFS='	' read -r here there links; do
  [ -d "$work/fs/staged$there" ] || mkdir -p "$work/fs/staged$there"
  cp -r "-$links" "$here/." "$work/fs/staged$there/" || [ "$links" = L ] # a dangling link is not ours to mend
done <"$work/copy"
[ ! -s "$work/copy" ] || chmod -R u+rwX,go+rX,go-w "$work/fs/staged" # who may read a checkout says nothing about the node
if [ $view = copy ]; then # the files under test in front of this machine's
  for at in usr opt; do
    mkdir -p "$work/fs/staged/$at" "$new/$at"
    mv "$work/fs/staged/$at" "$work/fs/$at"
    mount -t overlay -o "lowerdir=$work/fs/$at:${root%/}/$at" overlay "$new/$at"
  done
fi
[ ! -s "$work/copy" ] || cp -a "$work/fs/staged/." "$new/"
[ ! -L "$new/etc/hosts" ] || rm "$new/etc/hosts"
printf '%s\n' "$(<"$work/hosts")" >"$new/etc/hosts"

PATH=$PATH:/usr/sbin:/sbin
if command -v ip >/dev/null; then ip=ip; else ip="chroot $new ip"; fi
mapfile -t addresses <"$work/addresses"
{
  echo link set lo up
  for at in "${addresses[@]}"; do echo "address add $at dev lo"; done
} | $ip -batch -
# Slurm 22.05 sends a message in two parts, and the second one waits 40 ms for a delayed acknowledgement of the first.
for at in 127.0.0.0/8 127.0.0.1/32 "${addresses[@]}"; do
  source=${at%/*}
  echo "route change table local local ${at%/32} dev lo proto kernel scope host src ${source/%.0/.1} quickack 1"
done | $ip -force -batch - 2>/dev/null || true
read -r name <"$work/hostname"
hostname "$name" 2>/dev/null || chroot "$new" hostname "$name" 2>/dev/null || whole=
[ $whole ] || grep -qx optional "$work/hostname" || {
  echo "no host name or /proc of its own; if this is a container, start it with --cap-add sys_admin" >&2
  exit 1
}

: >"$work/entered" # from here on it is the program that speaks
exec chroot "$new" "$@"
