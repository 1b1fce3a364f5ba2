"""Users of a real LDAP server log in by the rendered files: SSSD, PAM and pam_slurm_adopt decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import HEAD, lay_out, manifest, text_of, tree_of

IDENTITY: dict[str, Any] = {
    "servers": ["ldap1", "ldap2"],
    "base": "dc=cluster,dc=test",
    "bind": "cn=reader,dc=cluster,dc=test",
    "ca": "/etc/ssl/cluster-ca.pem",
    "groups": ["hpc"],
    "uids": "5000-5999",
}
SLAPD = """include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile /tmp/ldap.pem
TLSCertificateKeyFile /tmp/ldap.key
pidfile /tmp/slapd.pid
security simple_bind=128
database mdb
suffix dc=cluster,dc=test
rootdn cn=manager,dc=cluster,dc=test
rootpw manager
directory /tmp/ldap
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact=cn=reader,dc=cluster,dc=test read by anonymous auth by * none
"""
TREE = """dn: dc=cluster,dc=test
objectClass: dcObject
objectClass: organization
dc: cluster
o: cluster

dn: cn=reader,dc=cluster,dc=test
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: reader's own {pass}word
"""
USERS = {"alice": (5001, "hpc"), "bob": (5002, "guests"), "olga": (5003, "admins"), "mallory": (500, "hpc")}
GROUPS = {"hpc": 6001, "guests": 6002, "admins": 6003}


def ldif() -> str:
    """The directory: each user has a primary group of the same number."""
    people = "".join(
        f"\ndn: uid={name},dc=cluster,dc=test\nobjectClass: inetOrgPerson\nobjectClass: posixAccount\nuid: {name}\n"
        f"cn: {name}\nsn: {name}\nuidNumber: {number}\ngidNumber: {number}\nhomeDirectory: /home/{name}\n"
        f"userPassword: pw-{name}\n"
        f"\ndn: cn={name},dc=cluster,dc=test\nobjectClass: posixGroup\ncn: {name}\ngidNumber: {number}\n"
        for name, (number, _) in USERS.items()
    )
    return TREE + people + "".join(group(name, number) for name, number in GROUPS.items())


def group(name: str, number: int) -> str:
    members = "".join(f"memberUid: {user}\n" for user, (_, of) in USERS.items() if of == name)
    return f"\ndn: cn={name},dc=cluster,dc=test\nobjectClass: posixGroup\ncn: {name}\ngidNumber: {number}\n{members}"


# The system before the tree is applied: Debian's package adds sss everywhere, so it is taken away again.
SCENE = r"""
cd /tmp
export DEBIAN_FRONTEND=noninteractive
ca() { # ca NAME: an authority, and with it a certificate of ldap1 and ldap2
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.pem"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ldap1 -keyout ldap.key -out ldap.csr
  openssl x509 -req -in ldap.csr -CA "$1.pem" -CAkey "$1.key" -extfile <(echo subjectAltName=DNS:ldap1,DNS:ldap2) -out ldap.pem
}
until_true() { for _ in {1..400}; do "$@" >/dev/null 2>&1 && return; sleep 0.02; done; echo "$* stays false"; }
slapd_up() { rm -f slapd.pid; slapd -f /run/clustergen/slapd.conf -h "ldaps://$1"; until_true test -e slapd.pid; }
slapd_down() { kill "$(cat slapd.pid)"; until_true test ! -e slapd.pid; }
sssd_up() { # sssd_up [SED]: with a change of its configuration
  cp /etc/sssd/sssd.conf sssd.kept
  [ -z "${1:-}" ] || sed -i "$1" /etc/sssd/sssd.conf
  rm -rf /var/lib/sss/pipes/nss /var/lib/sss/pipes/pam /var/lib/sss/mc/*
  sssd --interactive >>/run/clustergen/sssd.log 2>&1 & sssd=$!
  until_true test -S /var/lib/sss/pipes/pam; until_true test -S /var/lib/sss/pipes/nss
}
sssd_down() { kill $sssd; wait $sssd; cp sssd.kept /etc/sssd/sssd.conf; }
forget() { rm -f /var/lib/sss/db/*; }
login() { # login SERVICE USER PASSWORD
  local step
  for step in authenticate acct_mgmt; do
    printf '%s\n' "$3" | pamtester "$1" "$2" $step >>/run/clustergen/pam.log 2>&1 || { echo "$2: no, $step"; return; }
  done
  echo "$2: yes"
}
online() { clustergen-directory-metrics; sed -n 's/^clustergen_directory_online /online /p' "$metrics_file"; }
. /etc/clustergen/directory-metrics.sh
mkdir -p "${metrics_file%/*}" /run/sssd /run/dbus ldap
dbus-daemon --system --fork

pam-auth-update --package --remove sss
echo local:165536:65536 >/etc/subuid
clustergen-identity >/run/clustergen/identity.log 2>&1 || echo "identity $?"
grep -hE '^(passwd|group)' /etc/nsswitch.conf | tr -s ' '; grep -c pam_sss /etc/pam.d/common-auth
ls /etc/systemd/system/sssd.service.wants | grep -cE 'nss|pam'
head -2 /etc/subuid; tail -1 /etc/subgid
printf '[domain/directory]\nldap_default_authtok = %s\n' 'reader'"'"'s own {pass}word' >/etc/sssd/conf.d/60-clustergen-bind.conf
chmod 600 /etc/sssd/sssd.conf /etc/sssd/conf.d/*; chown -R root: /etc/sssd
printf '@include common-auth\n@include common-account\n' >/etc/pam.d/entry
ca authority >openssl.log 2>&1; cp authority.pem /etc/ssl/cluster-ca.pem
slapadd -f /run/clustergen/slapd.conf -l /run/clustergen/ldif

echo "== both servers"
slapd_up ldap1; sssd_up; getent passwd alice; id -Gn alice | tr ' ' '\n' | sort | xargs
login entry alice pw-alice; login entry alice wrong; sssctl domain-status directory; login entry bob pw-bob; login entry olga pw-olga
getent passwd mallory || echo mallory: below 1000; online
"""
STEPS = r"""
echo "== a new group"
ldapmodify -xQ -H ldaps://ldap1 2>&1 || true
"""


@pytest.mark.real
@pytest.mark.slow
def test_users_of_a_directory_log_in_as_the_manifest_says(tmp_path: Path) -> None:
    root = root_with("sssctl")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    data = manifest(
        nodes=[{**HEAD, "roles": ["slurm-controller", "monitoring"]}, {"name": "c1", "type": "gpu", "address": "10.0.0.11"}],
        identity=IDENTITY,
        host={"admin_group": "admins"},
        monitoring={},
    )
    tree = tree_of(data, tmp_path)
    node = sandbox.Sandbox(
        root,
        files=((lay_out(tree, "c1", tmp_path / "node"), "/"),),
        hosts="127.0.0.11 ldap1\n127.0.0.12 ldap2\n10.0.0.1 head\n10.0.0.11 c1\n",
        hostname="c1",
        addresses=("10.0.0.1", "10.0.0.11"),
    )
    notes = {"slapd.conf": SLAPD, "ldif": ldif(), "scene": SCENE}
    outcome = sandbox.run(node, ["/bin/bash", "/run/clustergen/scene"], timeout=100, notes=notes)
    print(outcome.stdout, outcome.stderr[-3000:], {k: v[-3000:] for k, v in outcome.files.items() if k.endswith("log")})
    assert 0
