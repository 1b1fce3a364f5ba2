# shellcheck shell=bash
# read_slurm.sh: inside the sandbox, starts what stands around slurmctld, then slurmctld, then slurmd -G per node.
# Reads its orders from /run/clustergen (surroundings, qos, accounts, nodes) and leaves one log per daemon there.
set -u
out=/run/clustergen
export SLURM_CONF=/etc/slurm/slurm.conf
exec </dev/null

while read -r what path owner; do
  case $what in
    account) id "$path" >/dev/null 2>&1 || echo "$path:x:${owner}:${owner}::/nonexistent:/bin/false" >>/etc/passwd ;;
    folder) [ -d "$path" ] || { mkdir -p "$path" && chown "$owner" "$path"; } ;;
    state) mkdir -p "$path" && chown -R "$owner" "$path" ;;
    program) [ -e "$path" ] || { mkdir -p "${path%/*}" && printf '#!/bin/sh\n' >"$path" && chmod 755 "$path"; } ;;
    secret) [ -e "$path" ] || { mkdir -p "${path%/*}" && head -c 1024 /dev/urandom >"$path"; }
      chown "$owner" "$path" && chmod 600 "$path" ;;
    private) [ ! -e "$path" ] || { chown "$owner" "$path" && chmod 600 "$path"; } ;;
    plugins) [ -e "$path" ] || { mkdir -p "${path%/*}" && ln -s "$(dirname "$(find /usr /opt -name select_linear.so | head -1)")" "$path"; } ;;
  esac
done <"$out/surroundings"

# What a daemon says when it only goes on trying: nothing better comes, and it may take minutes.
hopeless="retrying in 1sec|Still don't know my ClusterID|Unable to resolve"

wait_for() { # wait_for TEXT LOG PID: until the log says it (0), or the daemon is gone or has no hope (1)
  while :; do
    if grep -qE "$1" "$2"; then return 0; fi
    if ! kill -0 "$3" 2>/dev/null; then grep -qE "$1" "$2"; return; fi
    if grep -qE "$hopeless" "$2"; then return 1; fi
    sleep 0.02
  done
}

mkdir -p /run/munge /var/log/munge /var/lib/munge /etc/munge
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge
chmod 755 /run/munge
chmod 400 /etc/munge/munge.key
chown -R munge /run/munge /var/log/munge /var/lib/munge /etc/munge
setpriv --reuid "$(id -u munge)" --clear-groups munged >"$out/munged.log" 2>&1

if [ "$ACCOUNTING" = yes ]; then
  cp -r /var/lib/clustergen/mariadb /run/db
  mkdir -p /run/mysqld "/run/db/$DATABASE" /run/db/slurm_acct_db # a folder is a database
  mariadbd --no-defaults --user=root --datadir=/run/db --socket=/run/mysqld/mysqld.sock --skip-grant-tables \
    --bind-address=0.0.0.0 --port="$DB_PORT" --innodb-data-file-path=ibdata1:10M:autoextend --innodb-log-file-size=4M \
    --innodb-undo-tablespaces=0 --innodb-temp-data-file-path=ibtmp1:1M:autoextend --innodb-buffer-pool-size=16M \
    --innodb-flush-log-at-trx-commit=0 --innodb-fast-shutdown=2 --loose-innodb-snapshot-isolation=OFF \
    --skip-name-resolve --skip-ssl --performance-schema=OFF >"$out/mariadbd.log" 2>&1 &
  wait_for 'ready for connections' "$out/mariadbd.log" $!
  slurmdbd_starts() {
    # shellcheck disable=SC2016  # expanded by the inner shell
    unshare --uts sh -c 'hostname "$1"; exec slurmdbd -D -v' sh "$DBD_HOST" >"$1" 2>&1 &
    wait_for 'slurmdbd version .* started' "$1" $!
  }
  # Where slurmdbd.conf is missing or wrong, slurmctld is asked all the same, beside a slurmdbd that works.
  if [ ! -e /etc/slurm/slurmdbd.conf ] || ! slurmdbd_starts "$out/slurmdbd.log"; then
    install -m 600 -o "$DBD_USER" "$out/spare-slurmdbd.conf" /etc/slurm/slurmdbd.conf
    slurmdbd_starts /run/spare-slurmdbd.log
  fi
  # slurmctld complains of accounts and QOS that the database does not have; the tree's own script makes them first.
  accounts=/usr/local/sbin/clustergen-accounts
  if [ -x "$accounts" ]; then
    timeout -k 1 60 "$accounts" names >"$out/accounts.txt" 2>&1 || sed 's/^/error: /' "$out/accounts.txt" >"$out/accounts.log"
  elif [ -s "$out/qos" ]; then
    timeout -k 1 20 sacctmgr -i add qos "$(paste -sd, "$out/qos")" >/dev/null 2>&1
  fi
fi

if [ "$ACCOUNTING" = "left out" ]; then
  find /etc/slurm -type f -name '*.conf' -exec sed -i -E '/^\s*(AccountingSto|JobAcctGather)\w+\s*=/Id' {} +
fi
slurmctld -D -v >"$out/slurmctld.log" 2>&1 &
controller=$!
if wait_for 'Running as primary controller' "$out/slurmctld.log" $controller; then
  # An answer to a request shows that it serves, and gives it the time to say more.
  # Until its port is open scontrol would sleep for whole seconds.
  for _ in {1..100}; do
    if grep -qE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$CONTROLLER_PORT") [0-9A-F:]+ 0A" /proc/net/tcp; then break; fi
    sleep 0.02
  done
  timeout -k 1 20 scontrol -o show node >"$out/nodes.txt" 2>"$out/scontrol.log" && echo yes >"$out/started"
fi

[ -e "$out/started" ] || exit 0

# All of the tree's accounts, now that slurmdbd knows what this cluster counts; a second run has nothing left to do.
if [ "$ACCOUNTING" = yes ] && [ -x "$accounts" ]; then
  for run in first second; do
    if ! timeout -k 1 60 "$accounts" >"$out/accounts.txt" 2>&1; then
      sed 's/^/error: /' "$out/accounts.txt" >>"$out/accounts.log"
    elif [ $run = second ] && [ "$(tail -1 "$out/accounts.txt")" != unchanged ]; then
      sed 's/^/error: a second run changes: /' "$out/accounts.txt" >>"$out/accounts.log"
    fi
  done
fi

# slurmd asks this machine for cgroups, memory and GPU drivers, which is not what the files are about; those few values
# change, now that slurmctld has read them as they are.
cd /etc/slurm || exit
find . -type f -name '*.conf' -exec sed -i -E \
  -e 's#^(\s*ProctrackType\s*=\s*)"?proctrack/cgroup"?#\1proctrack/linuxproc#I' \
  -e 's#^(\s*JobAcctGatherType\s*=\s*)"?jobacct_gather/cgroup"?#\1jobacct_gather/linux#I' \
  -e '/^\s*TaskPlugin\s*=/I{s#task/cgroup,?##I;s#,\s*$##;s#=\s*$#=task/affinity#}' \
  -e '/^\s*PrologFlags\s*=/Id' -e 's#\bAutoDetect\s*=\s*\w+#AutoDetect=off#I' {} +
if [ -e cgroup.conf ]; then sed -i '/^\s*CgroupPlugin\s*=/Id' cgroup.conf; fi
echo "CgroupPlugin=$CGROUP" >>cgroup.conf
while read -r spank; do
  find . -type f -name '*.conf' -path '*plugstack*' -exec sed -i "\\#^\\s*[a-z]*\\s*$spank\\b#d" {} +
done <"$out/absent-spank"

while read -r node; do
  hardware=$(sed -nE "s/^NodeName=$node .*/&/p" "$out/nodes.txt")
  value() { echo "$hardware" | sed -E "s/.* $1=([0-9]+) .*/\1/"; }
  if [ -z "$hardware" ]; then
    echo "fatal: slurmctld knows no node $node" >"$out/slurmd.$node.log"
    continue
  fi
  # slurmd asks hwloc for sockets and cores, and hwloc can be told.
  HWLOC_SYNTHETIC="pack:$(value Sockets) numa:1 core:$(value CoresPerSocket) pu:$(value ThreadsPerCore)"
  export HWLOC_SYNTHETIC
  timeout -k 1 5 slurmd -G -N "$node" -L "$out/slurmd.$node.file" >"$out/slurmd.$node.gres" 2>&1
  slurmd -D -v -N "$node" >"$out/slurmd.$node.log" 2>&1 &
  if wait_for 'slurmd started on|Waiting for gres.conf file' "$out/slurmd.$node.log" $!; then
    for _ in {1..25}; do # its registration, or slurmctld's reason to refuse it
      timeout -k 1 20 scontrol -o show node "$node" >"$out/registered.$node" 2>&1
      if grep -qE 'State=IDLE |Reason=' "$out/registered.$node"; then break; fi
      sleep 0.04
    done
  fi
  kill -9 $!
done <"$out/nodes"
