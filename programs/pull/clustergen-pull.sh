#!/bin/bash
# Brings this node to the tree in git, by ansible-pull, and changes no other machine.
# A change that would disturb jobs is left to site.yml: the other changes are applied, then the run fails with the reason.
set -euo pipefail
umask 077
# shellcheck source=/dev/null
. /etc/clustergen/pull.sh
: "${url:?}" "${branch:?}" "${directory:?}" "${library:?}" "${programs:?}" "${signed:?}" "${max_age_seconds:?}"
: "${metrics_file?}"
export PATH=$programs:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 GIT_TERMINAL_PROMPT=0 GIT_NO_REPLACE_OBJECTS=1
state=/var/lib/clustergen-pull
secrets=/etc/clustergen/secrets.yml
mirror=$state/repository.git
candidate=$state/candidate.git
checkout=$state/checkout
limit=2097152 # KiB that one fetch may add
memory=4194304 # KiB of memory for it: a few bytes can unpack to many

refuse() {
  echo "refused: $*" >&2
  exit 1
}

chosen=
if [[ $signed == false ]]; then
  : # each commit of the branch is accepted
elif [[ $# == 2 && $1 == --accept ]]; then
  chosen=$2
elif (($# > 0)); then
  refuse "usage: clustergen-pull [--accept COMMIT]"
fi

# Without a work tree: no file of a commit is used before the commit is accepted.
# In a repository of its own, which sees the accepted objects: of a refused commit nothing is kept.
git() { command git --git-dir="$candidate" "$@"; }
fits() { (($(du -sk "$candidate" | cut -f1) <= limit)); }

cd /
mkdir -p "$state"
exec 9>"$state/lock"
flock --nonblock 9 || refuse "another run of clustergen-pull is active"

# An interrupted run leaves an incomplete repository, locks or parts of packs, of which this run is the only owner.
rm -rf "$candidate"
trap 'rm -rf "$candidate"' EXIT
command git init --quiet --bare "$mirror"
find "$mirror" "$checkout/.git" -type f \
  \( -name '*.lock' -o -path '*/objects/*' \( -name 'tmp_*' -o -name '.tmp-*' \) \) -delete 2>/dev/null || true
command git init --quiet --bare --template= "$candidate"
echo "$mirror/objects" >"$candidate/objects/info/alternates"
(
  trap '' XFSZ # git reports the file that is too large, and leaves no core
  ulimit -f "$limit" -v "$memory"
  exec timeout -k 10 600 git --git-dir="$candidate" -c fetch.unpackLimit=1 fetch --quiet --no-tags --no-auto-gc \
    "$url" "+refs/heads/$branch:refs/heads/candidate"
) &
fetch=$!
# A server of plain files can send many small ones.
while sleep 1 && kill -0 "$fetch"; do fits || kill "$fetch"; done >/dev/null 2>&1 9>&- &
trap 'kill "$fetch" 2>/dev/null || true; rm -rf "$candidate"' EXIT
{ wait "$fetch" && fits; } || refuse "the fetch failed. It may add at most $limit KiB and take 10 minutes"
trap 'rm -rf "$candidate"' EXIT
commit=$(git rev-parse --quiet --verify refs/heads/candidate^0) || refuse "the server has no complete history of the branch"
accepted=$(command git --git-dir="$mirror" rev-parse --quiet --verify refs/heads/accepted) || accepted=

# The signature does not cover headers whose names start with gpgsig: its own may be the only one, without other text.
headers_as_git_writes_them() {
  local LC_ALL=C n=$'\n' hash='[0-9a-f]{40}' headers
  (($(git cat-file -s "$commit") < 1048576)) || return
  headers=$(git cat-file commit "$commit" | tr '\0' '\1' | sed -n '1,/^$/p')
  local pattern="^tree $hash$n(parent $hash$n)*author [^$n]+${n}committer [^$n]+$n(encoding [^$n]+$n)?"
  pattern+="(mergetag object $hash$n( [^$n]*$n)+)*"
  pattern+="gpgsig -----BEGIN SSH SIGNATURE-----$n( [A-Za-z0-9+/]+={0,2}$n)+ -----END SSH SIGNATURE-----$"
  [[ $headers =~ $pattern ]]
}

# Without the key a signature can be changed to another one of the same content (ECDSA, Ed25519): the hash is another, too.
content() { git cat-file commit "$1" | sed '1,/^$/{/^gpgsig/,/^$/{/^$/!d}}' | sha256sum; }
follows() {
  local key each
  key=$(git show --no-patch --no-show-signature --format='%T %ct' "$accepted")
  while read -r each; do
    [[ $each != "$key "* || $(content "${each##* }") != "$(content "$accepted")" ]] || return 0
  done < <(git log --no-show-signature --format='%T %ct %H' "$commit" --not "$accepted^@")
  return 1
}

# check_signature: it covers the branch, and a time that leads on from what this node had.
check_signature() {
  local trailer date now newest
  # Other forms of signatures would be accepted from any key in root's keyring.
  git -c gpg.program=/bin/false -c gpg.x509.program=/bin/false -c gpg.ssh.allowedSignersFile=/etc/clustergen/pull-signers \
    verify-commit "$commit" || refuse "commit $commit has no accepted signature"
  headers_as_git_writes_them || refuse "commit $commit has headers that git commit -S does not write"
  # What is signed with the commit: a server can offer a commit of another branch, or an old one.
  trailer=$(git log -1 --format='%(trailers:key=clustergen-branch,valueonly)' "$commit")
  [[ $trailer == "$branch" ]] \
    || refuse "commit $commit is for branch ${trailer@Q}, not for $branch: sign one with git commit -S --trailer" \
      "'clustergen-branch: $branch'"
  date=$(git log -1 --format=%ct "$commit")
  now=$(date +%s)
  ((date <= now + 86400)) \
    || refuse "commit $commit is of $(date -d "@$date" +%F), which is yet to come: check the clocks of this node and of its signer"
  newest=$(cat "$state/newest" 2>/dev/null || echo 0)
  if [[ $chosen ]]; then
    [[ $chosen == "$commit" ]] || refuse "the branch is at $commit, not at $chosen"
  elif [[ $accepted ]]; then
    follows \
      || refuse "commit $commit does not follow $accepted, which this node has. If it is right: clustergen-pull --accept $commit"
  elif ((newest == 0)); then
    # No commit is known that it must follow: its age alone bounds how old a commit somebody can offer.
    ((date >= now - max_age_seconds)) \
      || refuse "commit $commit is of $(date -d "@$date" +%F), too old for the first on this node (ansible.pull.max_age)." \
        "Sign a new one, or if it is right: clustergen-pull --accept $commit"
  fi
  [[ $chosen ]] || ((date >= newest)) \
    || refuse "commit $commit is of $(date -d "@$date"), older than the newest that this node had. Sign it again, or if it" \
      "is right: clustergen-pull --accept $commit"
  echo "$date" >"$state/newest.new"
  mv "$state/newest.new" "$state/newest"
}
[[ $signed == false ]] || check_signature
[[ $commit == "$accepted" ]] || timeout -k 10 600 git --git-dir="$mirror" fetch --quiet --no-tags \
  "file://$candidate" +refs/heads/candidate:refs/heads/accepted
rm -rf "$candidate"

export ANSIBLE_CONFIG=$checkout/$directory/ansible.cfg PYTHONPATH=$checkout/$library
variables=(-e cluster_reboots=false)
[[ ! -e $secrets ]] || variables+=(-e "@$secrets")
node=$(hostname)
umask 022 # what packages and Ansible create is for all users
ansible-pull --url "file://$mirror" --checkout accepted --full --clean --directory "$checkout" \
  --limit "${node%%.*}" "${variables[@]}" "$directory/pull.yml"

echo "$commit" >"$state/commit"
[[ -n $metrics_file ]] || exit 0
{
  echo "# TYPE clustergen_pull_timestamp_seconds gauge"
  echo "clustergen_pull_timestamp_seconds $(date +%s)"
  echo "# TYPE clustergen_pull_info gauge"
  echo "clustergen_pull_info{commit=\"$commit\"} 1"
} | /usr/local/sbin/clustergen-write "$metrics_file"
