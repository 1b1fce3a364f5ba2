#!/bin/bash
# Creates the directories that containers of a user need: in the prolog, those of the job's user, and as
# clustergen-user-directories UID those that a login without a job needs. Those above belong to root: no user can create another user's first. Never fails: a container that does not start is no
# reason to drain a node.
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
mounts=() places=()
if [[ $0 == */prolog.d/* ]]; then
  # shellcheck source=/dev/null
  . /etc/clustergen/job-directories.sh
  uid=${SLURM_JOB_UID:?}
else
  # shellcheck source=/dev/null
  . /etc/clustergen/login-directories.sh
  uid=${1:?}
fi
[[ $uid =~ ^[0-9]+$ ]] || exit 0
user=$(id -nu -- "$uid") && group=$(id -g -- "$uid") && [[ $user != */* && $user != .* ]] || exit 0

# create DIRECTORY NAME: DIRECTORY/NAME belongs to the user afterwards. What another user has there is renamed.
create() (
  umask 022
  cd / || exit
  IFS=/ read -ra parts <<<"${1#/}"
  for part in "${parts[@]}"; do # what belongs to root, in a directory of root, is replaced by nobody else
    mkdir -p -- "$part"
    owner=$(stat -c %u:%F -- "$part" 2>/dev/null)
    if [[ $owner != 0:directory && $owner != '0:symbolic link' ]] || ! cd -P -- "$part"; then
      echo "$PWD/$part is not a directory of root ($owner): user $uid gets none in $1"
      exit
    fi
  done
  chmod 0755 . # in older trees, all users wrote here
  while read -r _ _ _ _ at rest; do # root cannot look into a user's FUSE mount, nor rename it
    [[ $at != "$PWD/$2" || $rest != *' - fuse'* ]] || umount -l -- "$at"
  done </proc/self/mountinfo
  for _ in 1 2 3; do
    owner=$(stat -c %u:%F -- "$2" 2>/dev/null)
    if [ "$owner" = "$uid:directory" ]; then
      chmod 0700 -- "$2"
      exit
    elif [ "$owner" ]; then
      aside=$2.foreign-$(date +%s)-$$
      mv -nT -- "$2" "$aside" && echo "$1/$2 is not a directory of user $uid ($owner): renamed to $aside"
    else
      new=$(mktemp -d .new-XXXXXX) && chown -- "$uid:$group" "$new" && mv -nT -- "$new" "$2"
      rmdir -- "$new" 2>/dev/null # another job of the user was faster
    fi
  done
  echo "user $uid has no directory $1/$2"
)

# confine DIRECTORY OPTIONS: gives it a tmpfs of its own, so that users cannot fill /run, which daemons need. One in use is left
# until the next boot.
confine() {
  mkdir -p -- "$1"
  if ! mountpoint -q -- "$1" && [ -z "$(ls -A -- "$1")" ]; then
    mount -t tmpfs -o "mode=0755,nosuid,nodev,$2" tmpfs "$1" || echo "$1 has no tmpfs of its own"
  fi
}

[ -z "${mounts[*]}" ] || (
  umask 077
  exec 9>/run/clustergen-user-directories # two jobs may start at once
  umask 022
  flock -w 10 9 || exit
  for ((row = 0; row < ${#mounts[@]}; row += 2)); do confine "${mounts[@]:row:2}"; done
)
for ((row = 0; row < ${#places[@]}; row += 2)); do
  name=${places[row + 1]//UID/$uid}
  create "${places[row]}" "${name//USER/$user}"
done
exit 0
