#!/bin/sh
# format-empty-disk.sh DEVICE xfs|ext4 yes|no: makes a file system on a disk that holds nothing at all.
# Says `there`, `made`, or on stderr why not. It never forces: mkfs itself looks for signatures once more.
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
device=$1
kind=$2
may=$3

refuse() {
  echo "$*" >&2
  exit 1
}

case $device in
  LABEL=*) path=/dev/disk/by-label/${device#LABEL=} ;;
  UUID=*) path=/dev/disk/by-uuid/${device#UUID=} ;;
  *) path=$device ;;
esac
if [ "$path" != "$device" ]; then
  [ -e "$path" ] || refuse "no disk of this host has $device: name the device by its path, or format it with that label yourself"
fi
[ -b "$path" ] || refuse "$device is not a block device of this host"
found=$(blkid -p -o value -s TYPE "$path" 2>/dev/null || true)
if [ "$found" = "$kind" ]; then
  echo there
  exit 0
fi
traces=$(wipefs --no-act --noheadings "$path") || refuse "$device cannot be read"
[ -z "$traces" ] || refuse "$device is not empty and not $kind: $(echo "$traces" | tr -s ' \n' ' '); it was not changed"
[ "$(lsblk --noheadings --raw --output NAME "$path" | wc -l)" -eq 1 ] || refuse "$device has partitions or is in use; it was not changed"
[ -z "$(lsblk --noheadings --raw --output MOUNTPOINT "$path" | tr -d '[:space:]')" ] || refuse "$device is in use"
[ "$path" = "$device" ] || refuse "$device is not empty and not $kind"
[ "$may" = yes ] || refuse "$device is empty; local_disk_format is off"
case $kind in
  xfs) mkfs.xfs -q "$path" </dev/null >&2 ;;
  ext4) mkfs.ext4 -q "$path" </dev/null >&2 ;;
  *) refuse "$kind is not a supported file system" ;;
esac
echo made
