# shellcheck shell=bash
# sandbox.sh WORK ROOT PROGRAM…: runs a program in a copy-on-write view of ROOT; called inside fresh namespaces.
# WORK/empty lists directories whose own content is hidden; WORK/copy lists "directory here<TAB>directory there<TAB>L or P" (links
# are followed or kept); WORK/devices names device files; WORK/hosts becomes /etc/hosts; WORK/addresses are this
# machine's, beside loopback; WORK/out is /run/clustergen inside.
set -eu
work=$1 root=$2
shift 2

# The limits of this shell are not the node's: the program gets those of a service, as far as the hard limits allow.
for limit in c d f i l q t u v x; do ulimit -S -$limit hard; done
ulimit -S -n 65536 2>/dev/null || ulimit -S -n hard
ulimit -S -s 8192 2>/dev/null || ulimit -S -s hard
for limit in n s; do
  value=$(ulimit -$limit)
  if [ "$value" != unlimited ] && [ "$value" -lt 1024 ]; then
    echo "the hard limit of this shell is too low for programs: ulimit -H -$limit shows $value, and 1024 is required" >&2
    exit 1
  fi
done

mount -t tmpfs -o mode=755 sandbox "$work/fs"
new=$work/fs/root staged=$work/fs/staged
layer=${staged//:/\\:} # a colon ends a layer
mkdir -m 755 "$work/fs/upper" "$work/fs/scratch" "$new" "$staged" "$staged/etc"

# What lies in front of the root: the machine's few settings, and the files under test before those.
: >"$staged/etc/resolv.conf"
printf 'passwd: files\ngroup: files\nshadow: files\nhosts: files\n' >"$staged/etc/nsswitch.conf"
while IFS='	' read -r here there links; do
  [ -d "$staged$there" ] || mkdir -p "$staged$there"
  cp -r "-$links" "$here/." "$staged$there/" || [ "$links" = L ] # a dangling link is not ours to mend
done <"$work/copy"
[ ! -L "$staged/etc/hosts" ] || rm "$staged/etc/hosts"
printf '%s\n' "$(<"$work/hosts")" >"$staged/etc/hosts"
for at in "$staged"/*; do # /lib and the like are links in most roots, which a directory would hide
  link=${root%/}/${at##*/}
  if [ -L "$link" ] && [ ! -L "$at" ]; then
    target=$staged/$(readlink "$link")
    mkdir -p "$target"
    cp -a "$at/." "$target/"
    rm -r "$at"
  fi
done
chmod -R u+rwX,go+rX,go-w "$staged" # who may read a checkout says nothing about the node

# An ordinary user may change nothing in a copy-on-write view of another user's files, such as this machine's.
if ! [ -O "$root/etc" ] && ! [ -w "$root/etc" ]; then
  view=copy
  for at in "${root%/}"/*; do [ ! -L "$at" ] || cp -P "$at" "$new/"; done
  mkdir -p "$new/etc" "$new/var/lib" "$new/var/log" "$new/root" "$new/home"
  cp -r --preserve=mode "${root%/}/etc/." "$new/etc/" 2>/dev/null || true # but for what only root may read
  rm -f "$new/etc/resolv.conf" "$new/etc/hosts" "$new/etc/nsswitch.conf"
else
  view=overlay
  layers=lowerdir=$layer:${root//:/\\:},upperdir=$work/fs/upper,workdir=$work/fs/scratch
  mount -t overlay -o "userxattr,$layers" overlay "$new" 2>/dev/null || mount -t overlay -o "$layers" overlay "$new"
fi
# The root file system alone is in that view; programs may live on others.
if [ "$root" = / ] && [ $view = overlay ]; then
  findmnt -rno TARGET | grep -E '^/(usr|opt)(/|$)' | while read -r at; do
    if [ -d "$staged$at" ]; then
      mount -t overlay -o "lowerdir=$layer$at:${at//:/\\:}" overlay "$new$at"
    else
      mount --bind "$at" "$new$at"
    fi
  done
fi

# A table of mounts starts one program for all of them. A blank in a path is written as fstab has it.
at_new=${new// /\\040}
line() { printf '%s %s %s %s 0 0\n' "$1" "$at_new${2// /\\040}" "$3" "$4"; }

mkdir -p "$new/dev" "$new/run" "$new/tmp" "$new/proc" "$new/sys"
{
  line dev /dev tmpfs mode=755
  line run /run tmpfs mode=755
  line tmp /tmp tmpfs mode=1777
} >"$work/fs/table"
mount -a -T "$work/fs/table"
whole=yes
mount -t proc proc "$new/proc" 2>/dev/null || { mount --rbind /proc "$new/proc" && whole=; }
{
  line /sys /sys none rbind
  line "${work// /\\040}/out" /run/clustergen none bind,X-mount.mkdir
  for at in null zero full random urandom; do
    : >"$new/dev/$at"
    line /dev/$at /dev/$at none bind
  done
  while read -r at; do # a device of the node that this machine lacks: any device will do, it is only looked at
    [ -d "$new${at%/*}" ] || mkdir -p "$new${at%/*}"
    [ -e "$new$at" ] || : >"$new$at"
    line /dev/null "$at" none bind
  done <"$work/devices"
} >"$work/fs/table"
mount -a -T "$work/fs/table"
ln -s /proc/self/fd "$new/dev/fd"

while read -r at; do
  [ -d "$new$at" ] || mkdir -p "$new$at"
  mount -t tmpfs -o mode=755 empty "$new$at"
  [ ! -d "$staged$at" ] || cp -a "$staged$at/." "$new$at/"
done <"$work/empty"
for at in /run /tmp; do # of the sandbox alone, and in front of the files
  [ ! -d "$staged$at" ] || cp -a "$staged$at/." "$new$at/"
done
if [ $view = copy ]; then # the files under test in front of this machine's
  for at in usr opt; do
    mkdir -p "$staged/$at" "$new/$at"
    mv "$staged/$at" "$work/fs/$at"
    mount -t overlay -o "lowerdir=${work//:/\\:}/fs/$at:${root%/}/$at" overlay "$new/$at"
  done
  cp -a "$staged/." "$new/"
fi

PATH=$PATH:/usr/sbin:/sbin
if command -v ip >/dev/null; then ip=ip; else ip="chroot $new ip"; fi
mapfile -t addresses <"$work/addresses"
{
  echo link set lo up
  for at in "${addresses[@]}"; do echo "address add $at dev lo"; done
} >"$work/fs/batch"
$ip -batch - <"$work/fs/batch"
# Slurm 22.05 sends a message in two parts, and the second one waits 40 ms for a delayed acknowledgement of the first.
for at in 127.0.0.0/8 127.0.0.1/32 "${addresses[@]}"; do
  source=${at%/*}
  echo "route change table local local ${at%/32} dev lo proto kernel scope host src ${source/%.0/.1} quickack 1"
done >"$work/fs/batch"
$ip -force -batch - <"$work/fs/batch" 2>/dev/null || true
read -r name <"$work/hostname"
hostname "$name" 2>/dev/null || chroot "$new" hostname "$name" 2>/dev/null || whole=
[ $whole ] || grep -qx optional "$work/hostname" || {
  echo "no host name or /proc of its own; if this is a container, start it with --cap-add sys_admin" >&2
  exit 1
}

: >"$work/entered" # from here on it is the program that speaks
exec chroot "$new" "$@"
