#!/bin/bash
# TaskProlog: runs as the user before each task; Slurm applies the lines `export NAME=VALUE` that it prints.
# NCCL and UCX read their files on the node themselves, but not inside a container that has other files. Variables that the
# user has set, in the environment or in a file of their own, are left alone.
set -u
# shellcheck source=/dev/null
. /etc/clustergen/task-prolog.sh
: "${tmpdir?}" "${variables[*]-}"

offer() { # offer FILE PATTERN OWN_FILE
  local line name own=''
  [ -r "$1" ] || return 0
  [ -r "$3" ] && own=$(<"$3")
  while IFS= read -r line || [ -n "$line" ]; do
    [[ $line != \[* ]] || break # sections of ucx.conf are for some machines only
    name=${line%%=*}
    [[ $line == *=* && $name =~ $2 && -z ${!name+set} && $'\n'$own != *$'\n'"$name="* ]] || continue
    printf 'export %s\n' "$line"
  done <"$1"
}

offer /etc/nccl.conf '^NCCL_[A-Z0-9_]+$' "${NCCL_CONF_FILE:-${HOME:-/}/.nccl.conf}"
offer /etc/ucx/ucx.conf '^UCX_[A-Z0-9_]+$' "${HOME:-/}/ucx.conf"

for variable in "${variables[@]}"; do
  name=${variable%%=*}
  [ -n "${!name-}" ] || echo "export ${variable//UID/$UID}"
done
scratch=$tmpdir/${SLURM_JOB_ID:-none}
[ -n "$tmpdir" ] && [ -d "$scratch" ] && [ -O "$scratch" ] && [ "${TMPDIR:-/tmp}" = /tmp ] && echo "export TMPDIR=$scratch"
exit 0
