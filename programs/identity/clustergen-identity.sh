#!/bin/bash
# Makes PAM and the name service ask SSSD, by the tools of the operating system, and writes the subordinate IDs of the
# directory's users. Changes only what differs, and fails where the system's files were edited by hand.
set -euo pipefail
shopt -s inherit_errexit
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
# shellcheck source=/dev/null
. /etc/clustergen/identity.sh
: "${family:?}" "${make_homes:?}" "${first_uid:?}" "${last_uid:?}" "${first_subordinate_id:?}" "${subordinate_ids:?}"

of_debian() {
  local profiles=(sss) database
  [ "$make_homes" = false ] || profiles+=(mkhomedir)
  # It leaves files alone that were edited by hand, and only says so.
  DEBIAN_FRONTEND=noninteractive pam-auth-update --enable "${profiles[@]}"
  [ "$make_homes" = true ] || ! grep -qs pam_mkhomedir /etc/pam.d/common-session \
    || DEBIAN_FRONTEND=noninteractive pam-auth-update --disable mkhomedir
  for database in auth account password; do
    grep -q '^[^#].*pam_sss\.so' "/etc/pam.d/common-$database" || {
      echo "/etc/pam.d/common-$database does not call pam_sss: it was edited by hand; run pam-auth-update --force" >&2
      exit 1
    }
  done
  for database in passwd group shadow; do
    grep -qE "^$database:.*\bsss\b" /etc/nsswitch.conf || sed -i -E "s/^($database:.*[^ ]) *$/\1 sss/" /etc/nsswitch.conf
    grep -qE "^$database:.*\bsss\b" /etc/nsswitch.conf || {
      echo "/etc/nsswitch.conf has no line $database: to which sss can be added" >&2
      exit 1
    }
  done
  # Sockets of SSSD's package start the same services as sssd.conf does, and fail.
  systemctl disable --now sssd-nss.socket sssd-pam.socket sssd-pam-priv.socket 2>/dev/null || true
}

of_rhel() {
  local current
  current=" $(authselect current --raw || true) "
  # Without --force it changes nothing where files were edited by hand.
  if [[ $current != " sssd "* ]]; then
    authselect select sssd
    current=" sssd "
  fi
  case $make_homes,$current in
    true,*' with-mkhomedir '*) ;;
    true,*) authselect enable-feature with-mkhomedir ;;
    false,*' with-mkhomedir '*) authselect disable-feature with-mkhomedir ;;
  esac
  authselect check
  [ "$make_homes" = false ] || systemctl enable --now oddjobd.service
}

# write_ids FILE: the lines of the directory's users, which begin with a number; those of local users stay.
write_ids() {
  local new
  new=$(mktemp "$1.XXXXXX")
  if [ -e "$1" ]; then sed -E '/^[0-9]+:/d' "$1" >"$new"; fi
  awk -v first="$first_uid" -v last="$last_uid" -v start="$first_subordinate_id" -v count="$subordinate_ids" \
    'BEGIN { for (id = first; id <= last; id++) printf "%d:%d:%d\n", id, start + (id - first) * count, count }' >>"$new"
  if cmp -s "$new" "$1"; then
    rm "$new"
  else
    chmod 644 "$new"
    mv "$new" "$1"
  fi
}

case $family in
  debian) of_debian ;;
  rhel) of_rhel ;;
  *) echo "no way is known to make PAM of $family ask SSSD" >&2; exit 1 ;;
esac
if [ "$first_uid" != 0 ]; then
  write_ids /etc/subuid
  write_ids /etc/subgid
fi
