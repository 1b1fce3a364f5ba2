"""Users of a real LDAP server log in by the rendered files: SSSD, PAM and pam_slurm_adopt decide."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clustergen.cluster.contributions import Secret
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.diffs import diff, write
from strategies.slurm_trees import CPU
from strategies.trees import (
    HEAD,
    calls,
    cluster_of,
    codes_of,
    diagnostics_of,
    lay_out,
    manifest,
    run_script,
    runnable,
    text_of,
    tree_of,
)

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
PASSWORD = "reader's {own} %password"
TREE = f"""dn: dc=cluster,dc=test
objectClass: dcObject
objectClass: organization
dc: cluster
o: cluster

dn: cn=reader,dc=cluster,dc=test
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: {PASSWORD}
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


CHANGES = """dn: cn=fresh,dc=cluster,dc=test
changetype: add
objectClass: posixGroup
cn: fresh
gidNumber: 6004
memberUid: alice

dn: cn=hpc,dc=cluster,dc=test
changetype: modify
add: memberUid
memberUid: bob
"""
FUNCTIONS = r"""
cd /tmp
export DEBIAN_FRONTEND=noninteractive LDAPTLS_CACERT=/etc/ssl/cluster-ca.pem
. /etc/clustergen/directory-metrics.sh
key() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" "${@:2}" 2>/dev/null; }
until_true() { for _ in {1..1500}; do "$@" >/dev/null 2>&1 && return; sleep 0.02; done; echo "$* stays false"; }
slapd_up() { rm -f slapd.pid; slapd -f /run/clustergen/slapd.conf -h "ldaps://$1"; until_true test -e slapd.pid; }
slapd_down() { kill "$(cat slapd.pid)"; until_true test ! -e slapd.pid; }
sssd_up() { # sssd_up [SED]: with a change of its configuration
  cp -p /etc/sssd/sssd.conf kept.conf
  sed -i "${1:-}" /etc/sssd/sssd.conf
  rm -rf /var/lib/sss/pipes/nss /var/lib/sss/pipes/pam /var/lib/sss/mc/*
  sssd --interactive >>/run/clustergen/sssd.log 2>&1 & sssd=$!
  until_true test -S /var/lib/sss/pipes/pam; until_true test -S /var/lib/sss/pipes/nss
}
sssd_down() { kill $sssd; wait $sssd; cp -p kept.conf /etc/sssd/sssd.conf; rm -f /var/lib/sss/db/*; }
login() { # login SERVICE USER PASSWORD
  local step
  for step in authenticate acct_mgmt; do
    printf '%s\n' "$3" | pamtester "$1" "$2" $step >>/run/clustergen/pam.log 2>&1 || { echo "$2: no, $step"; return; }
  done
  echo "$2: yes"
}
groups_of_alice() { id -Gn alice | tr ' ' '\n' | sort | xargs; }
online() { clustergen-directory-metrics; sed -n 's/^clustergen_directory_online /online /p' "$metrics_file"; }
as_alice() { (cd /tmp && setpriv --reuid alice --regid alice --init-groups "$@"); }
slurm_up() { # on a machine without cgroups, with the controller beside
  cd /etc/slurm
  sed -i -E 's#^ProctrackType=.*#ProctrackType=proctrack/linuxproc#; s#^TaskPlugin=.*#TaskPlugin=task/none#
    s#^JobAcctGatherType=.*##; s/^(TaskProlog|Prolog|Epilog|HealthCheckProgram)=.*//' slurm.conf
  echo SlurmdParameters=config_overrides >>slurm.conf
  echo CgroupPlugin=disabled >cgroup.conf
  mkdir -p /run/munge /var/log/slurm /var/lib/slurm/slurmctld /var/lib/slurm/slurmd /run/lock
  head -c 128 /dev/urandom >/etc/munge/munge.key; chmod 400 /etc/munge/munge.key; chmod 755 /run/munge
  chown -R munge /run/munge /etc/munge; chown -R slurm /var/log/slurm /var/lib/slurm
  setpriv --reuid munge --clear-groups munged
  unshare --uts sh -c 'hostname head; exec slurmctld -D' >/run/clustergen/slurmctld.log 2>&1 &
  slurmd -D >/run/clustergen/slurmd.log 2>&1 &
  cd /tmp; until_true sh -c 'sinfo -h -o %T | grep -x idle'
}
"""
# Debian's package adds SSSD everywhere: a system without it is what the program has to change.
SCENE = r"""
mkdir -p "${metrics_file%/*}" /run/sssd /run/dbus ldap
dbus-daemon --system --fork
pam-auth-update --package --remove sss
sed -i 's/ *sss$//' /etc/nsswitch.conf
echo local:165536:65536 >/etc/subuid
clustergen-identity >/run/clustergen/identity.log 2>&1 || echo "clustergen-identity: status $?"
grep -hE '^(passwd|group)' /etc/nsswitch.conf; grep -c pam_sss /etc/pam.d/common-auth
ls /etc/systemd/system/sssd.service.wants | grep -cE 'nss|pam'
head -2 /etc/subuid; tail -1 /etc/subgid
cp /run/clustergen/password /etc/sssd/conf.d/60-clustergen-bind.conf
chmod 600 /etc/sssd/sssd.conf /etc/sssd/conf.d/*
printf '@include common-auth\n@include common-account\n' >/etc/pam.d/entry
key authority -x509 -subj /CN=authority -out authority.pem; cp authority.pem /etc/ssl/cluster-ca.pem
key other -x509 -subj /CN=other -out other.pem
key ldap -subj /CN=ldap1 -out ldap.csr; echo subjectAltName=DNS:ldap1,DNS:ldap2 >names
openssl x509 -req -in ldap.csr -CA authority.pem -CAkey authority.key -extfile names -out ldap.pem 2>/dev/null
slapadd -f /run/clustergen/slapd.conf -l /run/clustergen/ldif

echo "== both servers"
slapd_up ldap1; sssd_up; getent passwd alice; groups_of_alice; getsubids alice
login entry alice pw-alice; login entry alice wrong; login entry bob pw-bob; login entry olga pw-olga
getent passwd mallory || echo mallory is unknown; online

echo "== a new group, a new member"
ldapmodify -x -H ldaps://ldap1 -D cn=manager,dc=cluster,dc=test -w manager -f /run/clustergen/changes >/dev/null
sss_cache -E; groups_of_alice; login entry bob pw-bob

echo "== compute node"
echo local:x:1001:1001::/tmp:/bin/bash >>/etc/passwd
pamtester sshd local acct_mgmt >/dev/null 2>&1 || echo local: no
login sshd alice pw-alice; login sshd olga pw-olga
slurm_up; as_alice sbatch -Q -o /dev/null --wrap 'sleep 60'; until_true sh -c 'squeue -h -o %T | grep RUNNING'
until_true pamtester sshd alice acct_mgmt; login sshd alice pw-alice; login sshd bob pw-bob

echo "== no server"
slapd_down; sss_cache -E; getent passwd alice; login entry alice pw-alice; login entry alice wrong
getent passwd eve || echo eve is unknown; online
echo "== no server after a restart"
kill $sssd; wait $sssd; sssd_up; login entry alice pw-alice; login entry eve pw-eve

echo "== the second server"
slapd_up ldap2; kill -USR2 $sssd; until_true sh -c 'sssctl domain-status directory --online | grep Online$'
login entry olga pw-olga; online; slapd_down; sssd_down

echo "== service node"
slapd_up ldap1; cp -p /etc/sssd/sssd.conf users.conf; cat /run/clustergen/services.conf >/etc/sssd/sssd.conf
sssd_up; login entry alice pw-alice; login entry olga pw-olga; sssd_down; cp -p users.conf /etc/sssd/sssd.conf

mistake() { # mistake NAME [SED]: nobody is known, and SSSD's log has the reason, if any
  echo "== $1"; cp /dev/null /run/clustergen/sssd.log
  sssd_up "${2:-}"; getent passwd alice || echo alice is unknown; online
  sssd_down; grep -oE 'certificate verify failed|does not match name|going offline' /run/clustergen/sssd.log | sort -u
}
mistake "wrong authority" 's#/etc/ssl/cluster-ca.pem#/tmp/other.pem#'
mistake "name not in the certificate" 's/ldap1, .*/127.0.0.11/'
sed -i s/reader/rider/ /etc/sssd/conf.d/*; mistake "wrong password"
"""
RESULT = """passwd: files sss
group: files sss
1
0
local:165536:65536
5000:1073741824:65536
5999:1139212288:65536
== both servers
alice:*:5001:5001:alice:/home/alice:/bin/bash
alice hpc
0: alice 1073807360 65536
alice: yes
alice: no, authenticate
bob: no, acct_mgmt
olga: yes
mallory is unknown
online 1
== a new group, a new member
alice fresh hpc
bob: yes
== compute node
local: no
alice: no, acct_mgmt
olga: yes
alice: yes
bob: no, acct_mgmt
== no server
alice:*:5001:5001:alice:/home/alice:/bin/bash
alice: yes
alice: no, authenticate
eve is unknown
online 0
== no server after a restart
alice: yes
eve: no, authenticate
== the second server
olga: yes
online 1
== service node
alice: no, acct_mgmt
olga: yes
== wrong authority
alice is unknown
online 0
certificate verify failed
going offline
== name not in the certificate
alice is unknown
online 0
does not match name
going offline
== wrong password
alice is unknown
online 0
going offline
"""


@pytest.mark.real
@pytest.mark.slow
def test_users_of_a_directory_log_in_as_the_manifest_says(tmp_path: Path) -> None:
    root = root_with("sssctl")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    data = manifest(
        networks={"management": {"cidr": "10.0.0.0/24"}},
        node_types={"cpu": CPU},
        nodes=[
            {**HEAD, "roles": ["slurm-controller", "monitoring"]},
            {"name": "c1", "type": "cpu", "address": "10.0.0.11"},
        ],
        identity=IDENTITY,
        host={"admin_group": "admins"},
        monitoring={},
    )
    tree = tree_of(data, tmp_path)
    secret = next(each for each in cluster_of(data, tmp_path).needs(Secret) if each.name == "ldap")
    node = sandbox.Sandbox(
        root,
        files=((lay_out(tree, "c1", tmp_path / "node"), "/"),),
        hosts="127.0.0.11 ldap1\n127.0.0.12 ldap2\n10.0.0.1 head\n10.0.0.11 c1\n",
        hostname="c1",
        addresses=("10.0.0.1", "10.0.0.11"),
    )
    notes = {
        "slapd.conf": SLAPD,
        "ldif": ldif(),
        "changes": CHANGES,
        "password": secret.form.format(PASSWORD),
        "services.conf": text_of(tree, "head", "/etc/sssd/sssd.conf"),
        "scene": FUNCTIONS + SCENE,
    }
    outcome = sandbox.run(node, ["/bin/bash", "/run/clustergen/scene"], timeout=200, notes=notes)
    assert outcome.stdout == RESULT, outcome.stderr + outcome.files.get("sssd.log", "")[-3000:]


# --- what is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "admins", "users", "services"),
    [
        ([], None, "access_provider = permit\n", "access_provider = deny\n"),
        ([], "ops", "access_provider = permit\n", "simple_allow_groups = ops\n"),
        (["hpc", "ml"], None, "simple_allow_groups = hpc, ml\n", "access_provider = deny\n"),
        (["hpc"], "ops", "simple_allow_groups = hpc, ops\n", "simple_allow_groups = ops\n"),
    ],
)
def test_users_log_in_to_nodes_of_their_roles_and_administrators_to_all(
    groups: list[str], admins: str | None, users: str, services: str, tmp_path: Path
) -> None:
    tree = tree_of(manifest(identity={**IDENTITY, "groups": groups}, host={"admin_group": admins}), tmp_path)
    assert users in text_of(tree, "c1", "/etc/sssd/sssd.conf")
    assert services in text_of(tree, "head", "/etc/sssd/sssd.conf")


@pytest.mark.parametrize(
    ("uids", "hint"),
    [
        ("8999-5000", "write 5000-8999"),
        ("500-8999", "write 1000-8999"),
        ("1073741000-1073741824", "write 1073725440-1073741823"),
        ("1000-17384", "write 1000-17383, 16384 UIDs at most"),
        ("1000-17383", None),
    ],
)
def test_each_uid_has_subordinate_ids_of_its_own(uids: str, hint: str | None, tmp_path: Path) -> None:
    diagnostics = diagnostics_of(manifest(identity={**IDENTITY, "uids": uids}), tmp_path)
    assert [(each.code, each.hint) for each in diagnostics] == ([("value-out-of-range", hint)] if hint else [])


def test_a_password_among_the_options_is_refused(tmp_path: Path) -> None:
    options = {"ldap_default_authtok": "hunter2"}
    assert codes_of(manifest(identity={**IDENTITY, "options": options}), tmp_path) == ["secret-in-manifest"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ("sssd with-faillock with-mkhomedir", ["check"]),
        ("sssd with-faillock", ["enable-feature with-mkhomedir", "check"]),
        ("minimal", ["select sssd", "enable-feature with-mkhomedir", "check"]),
    ],
)
def test_authselect_changes_what_is_missing(current: str, expected: list[str], tmp_path: Path) -> None:
    """No root has authselect: a substitute records how it is called."""
    identity = {**IDENTITY, "uids": None, "make_homes": True}
    tree = tree_of(manifest(os="rocky-9", identity=identity, host={"ssh_adopt": False}), tmp_path)
    program = runnable(tree, "c1", "/usr/local/sbin/clustergen-identity", tmp_path)
    stand_ins = {"authselect": f'[ "$1" != current ] || echo "{current}"', "systemctl": ""}
    done = run_script(program.read_text(encoding="utf-8"), stand_ins, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [f"authselect {line}" for line in ("current --raw", *expected)]
    assert calls(tmp_path) == [*lines, "systemctl enable --now oddjobd.service"]


# --- changes ----------------------------------------------------------------------------------------------------------

SECTION = f"identity: {json.dumps(IDENTITY)}\nslurm:"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edits", "steps"),
    [
        ([("slurm:", SECTION.replace("ldap2", "ldap3"))], ["install the changed files", "restart sssd.service"]),
        (
            [],
            [
                "install the changed files",
                "systemctl daemon-reload",
                "stop and disable sssd.service",
                "give the nodes another source of the directory's users",
                "reboot when it suits",
            ],
        ),
    ],
    ids=["another server", "no directory"],
)
def test_a_change_of_the_directory_leaves_jobs_alone(
    edits: list[tuple[str, str]], steps: list[str], tmp_path: Path
) -> None:
    sides = write(tmp_path / "a", ("slurm:", SECTION)), write(tmp_path / "b", *edits)
    (cluster,) = json.loads(diff("--format", "json", *sides).stdout)["clusters"]
    assert [re.split("[:;,]", step["text"])[0] for step in cluster["steps"]] == steps
    assert {"restart-slurmd", "drain", "reboot"}.isdisjoint(
        effect["kind"] for change in cluster["changes"] for effect in change["effects"]
    )
