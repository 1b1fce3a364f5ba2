# shellcheck shell=bash
# database.sh: inside the sandbox, functions that start MariaDB and slurmdbd and wait until they serve. The others source it
# after surroundings.sh, with DATABASE, DB_PORT and DBD_HOST in the environment.

# What a daemon says when it only goes on trying: nothing better comes, and it may take minutes.
hopeless="retrying in 1sec|Retrying in 10 seconds|Still don't know my ClusterID|Unable to resolve|Waiting for gres.conf file"

wait_for() { # wait_for TEXT LOG PID: until the log says it (0), or the daemon is gone or has no hope (1)
  while :; do
    if grep -qE "$1" "$2"; then return 0; fi
    if ! kill -0 "$3" 2>/dev/null; then grep -qE "$1" "$2"; return; fi
    if grep -qE "$hopeless" "$2"; then return 1; fi
    sleep 0.02
  done
}

sockets() { # sockets PID STATE: its TCP sockets; 0A are those that listen, 01 and 08 those with somebody at the other end
  local open
  open=$(ls -l "/proc/$1/fd" 2>/dev/null)
  sed -nE "s/^ *[0-9]+: \S+ \S+ ($2) \S+ \S+ \S+ +[0-9]+ +[0-9]+ ([0-9]+) .*/\2/p" /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    while read -r inode; do case $open in *"socket:[$inode]"*) echo "$inode" ;; esac; done
}

serves() { # serves PID: waits until it listens; who asks earlier complains, or sleeps for whole seconds
  while kill -0 "$1" 2>/dev/null; do
    if [ -n "$(sockets "$1" 0A)" ]; then return 0; fi
    sleep 0.02
  done
  return 1
}

mariadb_starts() {
  cp -r /var/lib/clustergen/mariadb /run/db
  mkdir -p /run/mysqld "/run/db/$DATABASE" /run/db/slurm_acct_db # a directory is a database
  mariadbd --no-defaults --user=root --datadir=/run/db --socket=/run/mysqld/mysqld.sock --skip-grant-tables \
    --bind-address='*' --port="$DB_PORT" --innodb-data-file-path=ibdata1:10M:autoextend --innodb-log-file-size=4M \
    --innodb-undo-tablespaces=0 --innodb-temp-data-file-path=ibtmp1:1M:autoextend --innodb-buffer-pool-size=16M \
    --innodb-flush-log-at-trx-commit=0 --innodb-fast-shutdown=2 --loose-innodb-snapshot-isolation=OFF \
    --skip-name-resolve --skip-ssl --performance-schema=OFF >"${out:?}/mariadbd.log" 2>&1 &
  wait_for 'ready for connections' "$out/mariadbd.log" $!
}

slurmdbd_starts() { # slurmdbd_starts LOG: leaves its process in $slurmdbd
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --uts sh -c 'hostname "$1"; exec slurmdbd -D -v' sh "$DBD_HOST" >"$1" 2>&1 &
  slurmdbd=$!
  wait_for 'slurmdbd version .* started' "$1" $slurmdbd && serves $slurmdbd
}
