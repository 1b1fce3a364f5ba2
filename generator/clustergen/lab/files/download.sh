# shellcheck shell=sh
# download.sh PACKAGE…: downloads packages into an image with its own lists, and with new ones where those are too old.
set -eu
count=$#
for package; do # one that the distribution lacks is reported by apply
  apt-cache show "$package" >/dev/null 2>&1 || continue
  set -- "$@" "$package"
done
shift "$count"
[ $# -gt 0 ] || exit 0
apt-get install -qq --download-only "$@" >/dev/null 2>&1 && exit 0
apt-get update -qq && apt-get install -qq --download-only "$@" >/dev/null
