#!/bin/bash
# Keeps the logs of the cluster within their time and size: deletes the oldest days of all hosts. Logs of today are emptied
# only if they alone exceed the size, the largest first. Finished days are compressed.
set -euo pipefail
shopt -s nullglob inherit_errexit
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/log-retention.sh
: "${days?}" "${limit_kib:?}" "${metrics_file?}"
store=/var/log/clustergen
[ -d $store ] || exit 0 # rsyslog makes it with the first message
if [ "${1:-}" != --clean ]; then
  cd -P $store
  # Where other accounts can write to the parent, as rsyslog's on Ubuntu, they can put a link in the place of the store.
  if [ "$PWD" != $store ] && [ -n "$(find ${store%/*}/ -maxdepth 0 -perm /022)" ]; then
    echo "refused: $store leads to $PWD: mount the file system there instead" >&2
    exit 1
  fi
  # The owner of the store can exchange what is in it: with its rights, nothing else can be reached.
  owner=$(stat --format=%u .) group=$(stat --format=%g .)
  as=()
  [ "$owner" = "$EUID" ] || as=(setpriv --reuid="$owner" --regid="$group" --clear-groups)
  "${as[@]}" "$0" --clean
fi
today=$(date +%F)
yesterday=$(date -d yesterday +%F)

used() { du -sk . | cut -f1; }
all_days() { # every day with logs, the oldest first
  find . -mindepth 2 -maxdepth 2 -type d -name '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' -printf '%f\n' | sort -u
}
delete() { # DAY: of all hosts
  find . -mindepth 2 -maxdepth 2 -type d -name "$1" -exec rm -rf -- {} +
}

compress() { # FILE: behind what an earlier run has compressed of that day, if the clock was wrong in between
  { { [ ! -e "$1.gz" ] || cat -- "$1.gz"; } && gzip -qc -- "$1"; } >"$1.gz.new" && mv -f -- "$1.gz.new" "$1.gz" && rm -f -- "$1"
}

if [ "${1:-}" = --clean ]; then
  # With a clock that is ahead, all days would be too old.
  if [ -z "$days" ]; then
    : # no limit
  elif [ "$(timedatectl show --property NTPSynchronized --value)" = yes ]; then
    oldest=$(date -d "$days days ago" +%F)
    for day in $(all_days); do
      [[ $day > $oldest || $day = "$oldest" ]] || delete "$day"
    done
  else
    logger -t clustergen-logs -p daemon.warning -- "the clock is not synchronised: no logs were deleted for their age"
  fi
  for day in $(all_days); do
    if [ "$(used)" -le "$limit_kib" ] || [[ $day = "$today" ]]; then break; fi
    delete "$day"
    logger -t clustergen-logs -p daemon.warning -- "deleted the logs of $day: together they exceeded $limit_kib KiB"
  done
  while [ "$(used)" -gt "$limit_kib" ]; do
    IFS=' ' read -r -d '' blocks file < <(find . -mindepth 3 -maxdepth 3 -type f -printf '%k %p\0' | sort -znr) || break
    [ "$blocks" -gt 4 ] || break # what is left are directories
    truncate -s 0 -- "$file" # rsyslog appends, so that it goes on at the start
    logger -t clustergen-logs -p daemon.warning -- "emptied ${file#./}: the logs of today exceed $limit_kib KiB"
  done
  # After the deletions: compression needs space. Days after yesterday may still be written.
  while IFS= read -r -d '' file; do
    day=${file%/*}
    [[ ${day##*/} < $yesterday ]] || continue
    compress "$file" || { rm -f -- "$file.gz.new"; logger -t clustergen-logs -p daemon.warning -- "cannot compress ${file#./}"; }
  done < <(find . -mindepth 3 -maxdepth 3 -type f -name '*.log' -print0)
  find . -mindepth 1 -maxdepth 1 -type d -empty -delete
  exit
fi
[ -n "$metrics_file" ] || exit 0

set -- */"$today"/
metrics=$(
  printf '# TYPE clustergen_logs_bytes gauge\nclustergen_logs_bytes %s\n' $(($(used) * 1024))
  printf '# TYPE clustergen_logs_limit_bytes gauge\nclustergen_logs_limit_bytes %s\n' $((limit_kib * 1024))
  printf '# TYPE clustergen_logs_days gauge\nclustergen_logs_days %s\n' "$(all_days | wc -l)"
  [ $# = 0 ] || printf '# TYPE clustergen_logs_today_bytes gauge\n'
  [ $# = 0 ] || du -sk -- "$@" | sort -rn | # the hosts that log most, so that the series stay few
    awk -F'\t' 'NR <= 20 { sub("/.*", "", $2); gsub(/[\\"]/, "", $2); printf "clustergen_logs_today_bytes{host=\"%s\"} %.0f\n", $2, $1 * 1024 }'
  printf '# TYPE clustergen_logs_hosts gauge\nclustergen_logs_hosts %s\n' $#
)
printf '%s\n' "$metrics" | /usr/local/sbin/clustergen-write "$metrics_file"
