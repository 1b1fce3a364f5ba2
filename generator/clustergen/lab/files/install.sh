# shellcheck shell=sh
# install.sh PACKAGE…: installs packages that the image has downloaded, as `clustergen lab apply` does on a node, and
# leaves their services neither running nor enabled, so that each node starts those of its roles.
set -eu
links() { find /etc/systemd/system -type l ! -lname /dev/null | sort; }
policy=/usr/sbin/policy-rc.d
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 0755 "$policy"
links >/tmp/before
count=$#
for package; do # one that the distribution lacks is reported by apply
  apt-cache show "$package" >/dev/null 2>&1 || continue
  set -- "$@" "$package"
done
shift "$count"
DEBIAN_FRONTEND=noninteractive timeout -k 5 840 apt-get install -qq --no-install-recommends --no-download "$@" >/dev/null
links | comm -13 /tmp/before - | while read -r link; do rm "$link"; done
# munge's key is made on each node when its package is installed; the cluster's own takes its place.
rm -f "$policy" /tmp/before /etc/munge/munge.key
