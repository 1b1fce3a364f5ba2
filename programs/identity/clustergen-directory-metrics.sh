#!/bin/bash
# Whether SSSD reaches a server of the directory, for Prometheus. While it does not, it answers from its cache.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/directory-metrics.sh
: "${domain:?}" "${metrics_file:?}"

status=$(timeout -k 1 20 sssctl domain-status "$domain" --online 2>&1 || true)
case $status in
  *'Online status: Online'*) online=1 ;;
  *) online=0 ;;
esac
printf '# TYPE clustergen_directory_online gauge\nclustergen_directory_online %d\n' "$online" \
  | /usr/local/sbin/clustergen-write "$metrics_file"
