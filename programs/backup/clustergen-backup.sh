#!/bin/bash
# clustergen-backup-database, clustergen-backup-state [--check FILE | --restore FILE | --metrics]
#   database  dumps the accounting database while slurmdbd runs, in one transaction
#   state     copies StateSaveLocation while slurmctld runs
# A backup has its final name only when it is complete and on disk. Runs as the user of Slurm.
# --check reads a backup to its end. --restore loads one; it removes nothing, and needs an empty database or directory
# and a stopped daemon.
set -euo pipefail
umask 077
PATH=/usr/sbin:/usr/bin:/sbin:/bin
kind=${0##*-} # this file has both names
# shellcheck source=/dev/null
. "/etc/clustergen/backup-$kind.sh"
: "${user:?}" "${cluster:?}" "${directory:?}" "${keep_days:?}" "${metrics_file?}"
name=$cluster-$kind

refuse() {
  echo "refused: $*" >&2
  exit 1
}

if [[ $kind == database ]]; then
  daemon=slurmdbd suffix=sql
  : "${database:?}" "${database_user:?}" "${database_host?}" "${database_port?}" "${secret_file?}"
  connection=("--user=$database_user" ${database_host:+"--host=$database_host"} ${database_port:+"--port=$database_port"})

  # client PROGRAM ARGUMENT…: runs a client of MariaDB as the user of slurmdbd.
  client() {
    local program=$1 password
    shift
    [[ $secret_file ]] || { "$program" "${connection[@]}" "$@"; return; }
    # In a pipe: a command line would show the password to all users.
    password=$(sed -n 's/^StoragePass=//p' "$secret_file")
    [[ -n $password ]] || refuse "$secret_file has no StoragePass"
    password=${password//\\/\\\\}
    "$program" --defaults-extra-file=<(printf '[client]\npassword="%s"\n' "${password//\"/\\\"}") "${connection[@]}" "$@"
  }

  # complete FILE: it can be read to its end, and has all that a backup has.
  complete() {
    local last
    last=$(gzip --decompress --stdout -- "$1" | tail -n 1) || return 1
    [[ $last == '-- Dump completed'* ]]
  }

  copy() {
    client mariadb-dump --single-transaction --quick --hex-blob "$database" | gzip >"$1" && complete "$1"
  }

  restore() {
    local tables
    tables=$(client mariadb --batch --skip-column-names --execute \
      "select count(*) from information_schema.tables where table_schema = '$database'")
    [[ $tables == 0 ]] || refuse "database $database has ${tables:-an unknown number of} tables: drop it and create it first"
    gzip --decompress --stdout -- "$1" | client mariadb "$database"
  }
else
  daemon=slurmctld suffix=tar
  : "${state:?}"
  part=.clustergen-restore # in it, so that a restore that was cut leaves no part of a state behind

  complete() {
    local member members
    members=$(tar --list --gzip --file="$1") || return 1
    grep -qx './clustername' <<<"$members" || return 1
    # slurmctld replaces each file in two steps, between which only its .old is there.
    while read -r member; do
      [[ $member != ./*.old ]] || grep -qxF -- "${member%.old}" <<<"$members" || return 1
    done <<<"$members"
  }

  # The files of slurmctld first, then the scripts of the jobs that they list: a job without its script could not start.
  copy() {
    local attempt status names problem
    for attempt in 1 2 3 4 5; do
      mapfile -t names < <(cd "$state" && find . -mindepth 1 -maxdepth 1 -type f ! -name '*.new' | sort \
        && find . -mindepth 1 -maxdepth 1 -type d ! -name "$part" | sort)
      status=0
      problem=$(tar --create --gzip --file="$1" --directory="$state" -- "${names[@]}" 2>&1) || status=$?
      # 1: a job ended meanwhile, and its directory is gone.
      if ((status <= 1)); then
        ! complete "$1" || return 0
        problem="files were replaced meanwhile"
      fi
      echo "attempt $attempt: $problem" >&2
      sleep 1
    done
    return 1
  }

  restore() {
    local present
    [[ -d $state ]] || refuse "$state does not exist"
    present=$(find "$state" -mindepth 1 -maxdepth 1 ! -name "$part" -printf '%f ')
    [[ -z $present ]] || refuse "$state is not empty, move its files away first: $present"
    rm --recursive --force -- "${state:?}/$part"
    mkdir --mode=0700 -- "$state/$part"
    tar --extract --gzip --same-permissions --file="$1" --directory="$state/$part"
    sync --file-system "$state"
    find "$state/$part" -mindepth 1 -maxdepth 1 -exec mv --target-directory="$state" -- {} +
    rmdir -- "$state/$part"
    sync --file-system "$state"
  }
fi

stamps='[0-9]{8}T[0-9]{6}Z'
backups=(find "$directory" -maxdepth 1 -type f -regextype posix-extended -regex ".*/$name-$stamps\.(sql|tar)\.gz")

stopped() {
  local answer
  answer=$(systemctl is-active "$daemon.service") || true
  [[ $answer == inactive || $answer == failed ]] || refuse "$daemon is ${answer:-in an unknown state}: stop it first"
}

case ${1:-} in
  --check | --restore) file=$(realpath -- "${2:?$1 needs a file}") ;;
esac
cd / # find has to return to where it began, and root's home is closed to the user of Slurm

case ${1:-} in
  --check)
    complete "$file" || refuse "$file is not a complete backup"
    echo "$file is complete"
    exit
    ;;
  --restore)
    stopped
    complete "$file" || refuse "$file is not a complete backup"
    restore "$file"
    echo "$file is restored"
    exit
    ;;
  --metrics)
    [[ $metrics_file ]] || refuse "no node_exporter reads metrics here"
    # Read as the directory's owner: an NFS server may map root to nobody.
    owner=$(stat --format=%u -- "$directory")
    reader=()
    [[ $owner == "$EUID" ]] || reader=(setpriv --reuid="$owner" --clear-groups)
    # A backup of a time to come, made while the clock was wrong, must not hide that there is none of today.
    last=$("${reader[@]}" "${backups[@]}" -printf '%f %T@ %s\n' | sort |
      awk -v now="$name-$(date --utc +%Y%m%dT%H%M%SZ)~" '$1 < now' | tail -n 1)
    [[ -n $last ]] || refuse "$directory has no backup that was made before now"
    read -r _ time size <<<"$last"
    {
      echo "# TYPE clustergen_backup_timestamp_seconds gauge"
      echo "clustergen_backup_timestamp_seconds{backup=\"$kind\"} ${time%.*}"
      echo "# TYPE clustergen_backup_size_bytes gauge"
      echo "clustergen_backup_size_bytes{backup=\"$kind\"} $size"
    } | /usr/local/sbin/clustergen-write "$metrics_file"
    exit
    ;;
  "") ;;
  *)
    echo "usage: clustergen-backup-$kind [--check FILE | --restore FILE | --metrics]" >&2
    exit 2
    ;;
esac

[[ -d $directory ]] || refuse "$directory does not exist: mount its file system, or create it for $user, mode 0700"
access=$(stat --format='%u %a' -- "$directory")
[[ $access == "$EUID 700" ]] || refuse "$directory has owner and mode $access, not $EUID 700"
find "$directory" -maxdepth 1 -type f -regextype posix-extended -regex ".*/\.$name-$stamps\.[0-9]+" \
  -mmin +1440 -delete # of a run that was cut

stamp=$(date --utc +%Y%m%dT%H%M%SZ)
new=$directory/.$name-$stamp.$$
trap 'rm -f -- "$new"' EXIT
copy "$new" || refuse "the backup is not complete; the older ones stay"
sync "$new"
mv -- "$new" "$directory/$name-$stamp.$suffix.gz"
sync "$directory"

mapfile -t older < <("${backups[@]}" -printf '%f\n' | sort | head -n -3)
for file in "${older[@]}"; do
  find "$directory/$file" -maxdepth 0 -type f -mtime "+$((keep_days - 1))" -delete
done
echo "$directory/$name-$stamp.$suffix.gz"
