#!/bin/bash
# Copies the member list of this node's NVLink domain to the place where nvidia-imex reads it.
# The one that names this node is used. exit 1: no list names it, or several do
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin

directory=/etc/nvidia-imex/clustergen
target=/etc/nvidia-imex/nodes_config.cfg

mapfile -t own < <(grep -lxFf <({ hostname; hostname -s; hostname -I | tr ' ' '\n'; } | sed '/^$/d') "$directory"/*.cfg)
if [[ ${#own[@]} != 1 ]]; then
  logger -s -t clustergen-imex-nodes -- "this node is in ${#own[@]} of the domains in $directory; it must be in exactly one"
  exit 1
fi
grep -v '^#' "${own[0]}" >"$target.new"
mv "$target.new" "$target"
