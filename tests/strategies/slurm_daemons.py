"""Shell that starts Slurm's daemons inside a sandbox, with a database and munge."""

# Database, munge and slurmdbd; slurmctld starts when it is asked to.
DAEMONS = """
export SLURM_CONF=/etc/slurm/slurm.conf
echo slurm:x:64030:64030::/nonexistent:/bin/false >>/etc/passwd
mkdir -p /run/munge /etc/munge /var/log/munge /var/lib/munge /var/log/slurm /var/lib/slurm/slurmctld /run/mysqld
mkdir -p /run/db/slurm_acct_db
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge; chmod 400 /etc/munge/munge.key; chmod 755 /run/munge
chown -R munge /run/munge /etc/munge /var/log/munge /var/lib/munge
chown -R slurm /var/log/slurm /var/lib/slurm /etc/slurm/slurmdbd.conf; chmod 600 /etc/slurm/slurmdbd.conf
setpriv --reuid "$(id -u munge)" --clear-groups munged
cp -r /var/lib/clustergen/mariadb/. /run/db
mariadbd --no-defaults --user=root --datadir=/run/db --socket=/run/mysqld/mysqld.sock --skip-grant-tables \\
  --skip-networking --loose-innodb-snapshot-isolation=OFF \\
  --innodb-data-file-path=ibdata1:10M:autoextend --innodb-log-file-size=4M --innodb-undo-tablespaces=0 \\
  --innodb-temp-data-file-path=ibtmp1:1M:autoextend --innodb-flush-log-at-trx-commit=0 \\
  --innodb-buffer-pool-size=16M --skip-name-resolve --skip-ssl \\
  >/run/clustergen/mariadbd.log 2>&1 &
until_log() { for _ in {1..6000}; do grep -qE "$1" "$2" 2>/dev/null && return; sleep 0.02; done; cat "$2" >&2; exit 9; }
until_log 'ready for connections' /run/clustergen/mariadbd.log
slurmdbd -D >/run/clustergen/slurmdbd.log 2>&1 &
until_log 'slurmdbd version .* started' /run/clustergen/slurmdbd.log
for _ in {1..6000}; do sacctmgr -n show cluster >/dev/null 2>&1 && break; sleep 0.02; done # it listens a moment later
controller() {
  slurmctld -D >/run/clustergen/slurmctld.log 2>&1 &
  until_log 'Running as primary controller|fatal' /run/clustergen/slurmctld.log
}
accounts_of() { # accounts_of FILE [names]: clustergen-accounts with the values of a file
  sed "s#/etc/clustergen/accounts.json#$1#" /usr/local/sbin/clustergen-accounts | python3 -I - "${@:2}"
}
step() { echo "== $1"; shift; "$@" 2>&1; echo "status $?"; }
"""
