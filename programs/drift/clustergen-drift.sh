#!/bin/bash
# Records the facts of all nodes and compares them with the manifest. The report is in the journal and in report.txt.
# Differences are no failure of this program: it fails if nothing could be compared.
set -uo pipefail
# shellcheck source=/dev/null
. /etc/clustergen/drift.sh || exit 3
: "${programs:?}" "${directory:?}" "${metrics_file?}"
export PATH=$programs:/usr/sbin:/usr/bin:/sbin:/bin
state=/var/lib/clustergen-drift

cd "$directory/rendered" || exit 3
secrets=()
if [ -r "$directory/secrets.yml" ]; then
  secrets=(-e "@$directory/secrets.yml")
fi
if ! timeout -k 30 3000 ansible-playbook clustergen.cluster.drift -e facts="$state/facts" "${secrets[@]}" >"$state/record.log" 2>&1; then
  tail -n 20 "$state/record.log" >&2
  exit 3
fi
metrics=()
[ -z "$metrics_file" ] || metrics=(--metrics "$state/metrics")
timeout -k 30 900 clustergen drift "$directory/manifest.yaml" --facts "$state/facts" --color never \
  "${metrics[@]}" >"$state/report.new"
code=$?
cat "$state/report.new"
if [ "$code" -gt 1 ]; then
  exit 3
fi
mv -f "$state/report.new" "$state/report.txt"
[ -z "$metrics_file" ] || /usr/local/sbin/clustergen-write "$metrics_file" <"$state/metrics"
