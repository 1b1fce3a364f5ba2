# shellcheck shell=bash
# surroundings.sh: inside the sandbox, makes what Slurm's files expect of the machine, as /run/clustergen/surroundings lists
# it, and starts munged. The others source it.
out=/run/clustergen
export SLURM_CONF=/etc/slurm/slurm.conf
exec </dev/null

while read -r what path owner; do
  case $what in
    account) id "$path" >/dev/null 2>&1 || echo "$path:x:${owner}:${owner}::/nonexistent:/bin/false" >>/etc/passwd ;;
    directory) [ -d "$path" ] || { mkdir -p "$path" && chown "$owner" "$path"; } ;;
    state) mkdir -p "$path" && chown -R "$owner" "$path" ;;
    program) [ -e "$path" ] || { mkdir -p "${path%/*}" && printf '#!/bin/sh\n' >"$path" && chmod 755 "$path"; } ;;
    hollow) [ ! -e "$path" ] || printf '#!/bin/sh\n' >"$path" ;;
    secret) [ -e "$path" ] || { mkdir -p "${path%/*}" && head -c 1024 /dev/urandom >"$path"; }
      chown "$owner" "$path" && chmod 600 "$path" ;;
    private) [ ! -e "$path" ] || { chown "$owner" "$path" && chmod 600 "$path"; } ;;
    plugins) [ -e "$path" ] || { mkdir -p "${path%/*}" && ln -s "$(dirname "$(find /usr /opt -name select_linear.so | head -1)")" "$path"; } ;;
  esac
done <"$out/surroundings"

mkdir -p /run/munge /var/log/munge /var/lib/munge /etc/munge
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge
chmod 755 /run/munge
chmod 400 /etc/munge/munge.key
chown -R munge /run/munge /var/log/munge /var/lib/munge /etc/munge
setpriv --reuid "$(id -u munge)" --clear-groups munged >"$out/munged.log" 2>&1
