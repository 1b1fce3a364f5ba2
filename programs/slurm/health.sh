#!/bin/bash
# HealthCheckProgram: runs the scripts of health.d in numerical order; each prints a reason if it fails. The node is drained
# with all reasons, so that running jobs finish, and is resumed when all checks pass and the drain was set by this script.
# A drain by an operator is left alone. Add a site's own checks as 60-NAME. By hand: `health show` prints the verdict and the
# seconds of each check and changes nothing of the node; a script of health.d does the same for one.
set -u
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
unset CUDA_VISIBLE_DEVICES
limit=48 # seconds for all; slurmd kills this after 60
ours='clustergen: '
node=${SLURMD_NODENAME:-$(hostname -s)}
seen=/run/clustergen-health # exists while the node is known not to be drained by us
shopt -s nullglob extglob

# While a GPU is reset, it does not respond; the next check looks again.
resets=/run/clustergen-gpu-resets/lock
[ ! -e $resets ] || flock -sn $resets true || exit 0

reasons=
for script in /etc/slurm/health.d/[0-9][0-9]-+([A-Za-z0-9_-]); do
  [ -x "$script" ] || continue
  left=$((limit - SECONDS))
  # Checks that are only late, as on a node that users have overloaded, drain it no more than checks that pass.
  if [ $left -lt 1 ]; then
    logger -t slurm-health -p daemon.warning -- "no time left for ${script##*/} and later checks"
    break
  fi
  began=$EPOCHREALTIME
  said=$(timeout -k 2 $left "$script" 2>&1 </dev/null)
  status=$?
  [ $status != 137 ] || status=124 # it survived SIGTERM
  if [ "${1:-}" = show ]; then
    verdict=ok
    [ $status = 0 ] || verdict=${said:-failed with $status}
    [ $status != 124 ] || verdict="no end within $left seconds"
    spent=$((${EPOCHREALTIME//[!0-9]/} - ${began//[!0-9]/}))
    printf '%-20s %2d.%d s  %s\n' "${script##*/}" $((spent / 1000000)) $((spent / 100000 % 10)) "${verdict%; }"
    [ $status = 0 ] || reasons=failed
    continue
  fi
  if [ $status = 124 ] && [ $((left * 4)) -lt $((limit * 3)) ]; then
    logger -t slurm-health -p daemon.warning -- "${script##*/} has not ended within the $left seconds that were left"
    break
  fi
  # Users slow this one down, which is no fault of the node.
  if [[ $status = 124 && ${script##*/} = 05-killed ]]; then
    logger -t slurm-health -p daemon.warning -- "${script##*/} has not ended within $left seconds"
    continue
  fi
  [ $status = 124 ] && said="no end within $left seconds"
  said=${said%; }
  [ $status = 0 ] || reasons+="${said:-failed with $status} (${script##*/}); "
done
[ "${1:-}" != show ] || exit "$([ -z "$reasons" ]; echo $?)"
reasons=$(tr -c '[:alnum:] .,:;()/_%+-' ' ' <<<"${reasons%; }" | tr -s ' ')
reasons=${reasons:0:400} reasons=${reasons% }

[ -n "$reasons" ] || [ ! -e $seen ] || exit 0
shown=$(timeout -k 1 5 scontrol -o show node "$node") || exit 1
[[ $shown =~ \ State=([^ ]+) ]] && state=${BASH_REMATCH[1]} || exit 1
[[ $shown =~ \ Reason=(.*)\ \[[^]@]*@[^]]*\] ]] && reason=${BASH_REMATCH[1]} || reason=

if [ -n "$reasons" ]; then
  rm -f $seen
  logger -t slurm-health -p daemon.err -- "$reasons"
  [[ $state == *DRAIN* && $reason != "$ours"* ]] && exit 0
  [ "$reason" = "$ours$reasons" ] && [[ $state == *DRAIN* ]] && exit 0
  timeout -k 1 5 scontrol update "NodeName=$node" State=DRAIN "Reason=$ours$reasons"
elif [[ $state == *DRAIN* && $reason == "$ours"* ]]; then
  logger -t slurm-health -p daemon.notice -- "all checks pass: resumed after '$reason'"
  timeout -k 1 5 scontrol update "NodeName=$node" State=RESUME && touch $seen
else
  touch $seen
fi
exit 0
